import * as v from 'valibot';

/** WebSocket subprotocol of this protocol version. */
export const SUBPROTOCOL = 'doyen.signal.v1';

/** The two liveness frames are byte-identical literals, so that a sleeping host can answer them. */
export const PING = '{"type":"ping"}';
/** Answer to {@link PING}. */
export const PONG = '{"type":"pong"}';

/** Bytes of UTF-8 that the `data` of one signal may have. */
export const DATA_BYTES_MAX = 12 * 1024;
/** Bytes of UTF-8 that `meta` may have. */
export const META_BYTES_MAX = 1024;
/** A token must fit a frame beside its envelope. */
export const TOKEN_LENGTH_MAX = 8 * 1024;
const ID_LENGTH_MAX = 64;
const REF_LENGTH_MAX = 64;
// Far above any room; keeps a hostile server from growing a client without bound.
export const VIEW_PEERS_MAX = 1024;
const ICE_SERVERS_MAX = 32;

/** Close codes of the protocol. */
export const CLOSE = Object.freeze({
  bye: 1000,
  goingAway: 1001,
  binary: 1003,
  policy: 1008,
  tooBig: 1009,
  restart: 1012,
  overloaded: 1013,
  malformed: 4400,
  unauthorized: 4401,
  helloTimeout: 4408,
  replaced: 4409,
  rateLimited: 4429,
  roomFull: 4503,
});

/** Codes after which connecting again cannot help. */
export const NON_RETRYABLE: ReadonlySet<number> = new Set([
  CLOSE.binary,
  CLOSE.policy,
  CLOSE.malformed,
  CLOSE.unauthorized,
  CLOSE.replaced,
]);

const ERROR_CODES = [
  'bad_message',
  'unsupported',
  'no_such_peer',
  'rate_limited',
  'too_large',
  'unauthorized',
  'room_full',
] as const;

/** Why the server refused one message. */
export type ErrorCode = (typeof ERROR_CODES)[number];

const LEFT_REASONS = ['bye', 'timeout', 'replaced'] as const;

/** Why a peer left its room. */
export type LeftReason = (typeof LEFT_REASONS)[number];

/** One STUN or TURN server, as RTCPeerConnection takes it. */
export interface IceServer {
  readonly urls: string | readonly string[];
  readonly username?: string;
  readonly credential?: string;
}

/** A peer as the room sees it. `away`: its socket was lost and it may still come back. */
export interface PeerInfo {
  readonly peer: string;
  readonly meta?: string;
  readonly away?: true;
}

/** Asks for a place in the room; exactly once, after `welcome`. */
export interface HelloMessage {
  readonly type: 'hello';
  readonly token?: string;
  readonly resume?: string;
  readonly meta?: string;
}

/** Everything that a client may send. */
export type ClientMessage =
  | HelloMessage
  | { readonly type: 'signal'; readonly to: string; readonly data: string; readonly ref?: string }
  | { readonly type: 'bye' }
  | { readonly type: 'ping' }
  | { readonly type: 'pong' };

/** Everything that a server may send. Clients ignore types and fields that they do not know. */
export type ServerMessage =
  | {
      readonly type: 'welcome';
      readonly features: readonly string[];
      readonly heartbeatMs: number;
      readonly limits: Readonly<Record<string, number>>;
    }
  | {
      readonly type: 'ready';
      readonly peer: string;
      readonly resume: string;
      readonly peers: readonly PeerInfo[];
      readonly seq: number;
      readonly iceServers?: readonly IceServer[];
    }
  | { readonly type: 'peers'; readonly peers: readonly PeerInfo[]; readonly seq: number }
  | { readonly type: 'joined'; readonly peer: string; readonly meta?: string; readonly seq: number }
  | { readonly type: 'away'; readonly peer: string; readonly seq: number }
  | { readonly type: 'back'; readonly peer: string; readonly seq: number }
  | {
      readonly type: 'left';
      readonly peer: string;
      readonly reason: LeftReason;
      readonly seq: number;
    }
  | { readonly type: 'signal'; readonly from: string; readonly data: string }
  | {
      readonly type: 'error';
      readonly code: ErrorCode;
      readonly ref?: string;
      readonly retryMs?: number;
    }
  | { readonly type: 'draining'; readonly spreadMs: number }
  | { readonly type: 'ping' }
  | { readonly type: 'pong' };

/** Length of a text in bytes of UTF-8, in which all sizes here are measured. */
export const byteLength = (text: string): number => new TextEncoder().encode(text).length;

/** Whether a text can name a room: 22 to 64 characters of base64url. */
export const isRoomId = (text: string): boolean => /^[A-Za-z0-9_-]{22,64}$/.test(text);

const id = v.pipe(v.string(), v.minLength(1), v.maxLength(ID_LENGTH_MAX));
const meta = v.exactOptional(v.pipe(v.string(), v.maxBytes(META_BYTES_MAX)));
const ref = v.exactOptional(v.pipe(v.string(), v.maxLength(REF_LENGTH_MAX)));

const CLIENT_SCHEMAS: ReadonlyMap<
  string,
  v.GenericSchema<unknown, ClientMessage>
> = /* @__PURE__ */ new Map<string, v.GenericSchema<unknown, ClientMessage>>([
  [
    'hello',
    v.object({
      type: v.literal('hello'),
      token: v.exactOptional(v.pipe(v.string(), v.maxLength(TOKEN_LENGTH_MAX))),
      resume: v.exactOptional(id),
      meta,
    }),
  ],
  [
    'signal',
    v.object({
      type: v.literal('signal'),
      to: id,
      data: v.pipe(v.string(), v.maxBytes(DATA_BYTES_MAX)),
      ref,
    }),
  ],
  ['bye', v.object({ type: v.literal('bye') })],
  ['ping', v.object({ type: v.literal('ping') })],
  ['pong', v.object({ type: v.literal('pong') })],
]);

const peers = v.pipe(
  v.array(v.object({ peer: id, meta, away: v.exactOptional(v.literal(true)) })),
  v.maxLength(VIEW_PEERS_MAX),
);

const iceServers = v.pipe(
  v.array(
    v.object({
      urls: v.union([v.string(), v.array(v.string())]),
      username: v.exactOptional(v.string()),
      credential: v.exactOptional(v.string()),
    }),
  ),
  v.maxLength(ICE_SERVERS_MAX),
);

// Only what a client reads, so that a page carries no more than it needs.
const SERVER_SCHEMAS = {
  welcome: v.object({
    type: v.literal('welcome'),
    heartbeatMs: v.number(),
    limits: v.object({ messageBytesMax: v.number() }),
  }),
  ready: v.object({
    type: v.literal('ready'),
    peer: id,
    resume: id,
    peers,
    iceServers: v.exactOptional(iceServers),
  }),
  peers: v.object({ type: v.literal('peers'), peers }),
  joined: v.object({ type: v.literal('joined'), peer: id, meta }),
  away: v.object({ type: v.literal('away'), peer: id }),
  back: v.object({ type: v.literal('back'), peer: id }),
  left: v.object({ type: v.literal('left'), peer: id, reason: v.picklist(LEFT_REASONS) }),
  signal: v.object({ type: v.literal('signal'), from: id, data: v.string() }),
  error: v.object({
    type: v.literal('error'),
    code: v.picklist(ERROR_CODES),
    ref,
    retryMs: v.exactOptional(v.number()),
  }),
  draining: v.object({ type: v.literal('draining'), spreadMs: v.number() }),
  ping: v.object({ type: v.literal('ping') }),
  pong: v.object({ type: v.literal('pong') }),
};

/** The part of a server's message that a client acts on. */
export type ReadServerMessage = {
  [Type in keyof typeof SERVER_SCHEMAS]: v.InferOutput<(typeof SERVER_SCHEMAS)[Type]>;
}[keyof typeof SERVER_SCHEMAS];

/** A client's message, or why it is none; `ref` where the sender can match it. */
export type ParsedClientMessage =
  | { readonly message: ClientMessage }
  | { readonly error: 'bad_message' | 'unsupported' | 'too_large'; readonly ref?: string };

/** Reads what a client sent. Never throws. */
export function parseClientMessage(text: string): ParsedClientMessage {
  const value = parseJson(text);
  if (typeof value !== 'object' || value === null) return { error: 'bad_message' };
  const { type, ref: given } = value as { type?: unknown; ref?: unknown };
  const echo = typeof given === 'string' && given.length <= REF_LENGTH_MAX ? { ref: given } : {};
  if (typeof type !== 'string') return { error: 'bad_message', ...echo };
  const schema = CLIENT_SCHEMAS.get(type);
  if (schema === undefined) return { error: 'unsupported', ...echo };
  const result = v.safeParse(schema, value);
  if (result.success) return { message: result.output };
  const isTooLarge = result.issues.every((issue) => issue.type === 'max_bytes');
  return { error: isTooLarge ? 'too_large' : 'bad_message', ...echo };
}

/** Reads what a server sent; `undefined` for what this version does not know. Never throws. */
export function parseServerMessage(text: string): ReadServerMessage | undefined {
  const value = parseJson(text) as { type?: unknown } | null | undefined;
  const type = value?.type;
  if (typeof type !== 'string' || !Object.hasOwn(SERVER_SCHEMAS, type)) return undefined;
  const result = v.safeParse(SERVER_SCHEMAS[type as keyof typeof SERVER_SCHEMAS], value);
  return result.success ? result.output : undefined;
}

/** Whether `value` is a list of STUN and TURN servers. */
export const isIceServers = (value: unknown): value is readonly IceServer[] =>
  v.is(iceServers, value);

/** @throws ValiError when what a hook gave is no list of STUN and TURN servers. */
export const parseIceServers = (value: unknown): readonly IceServer[] => v.parse(iceServers, value);

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
