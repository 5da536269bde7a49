import { Alarm } from './alarm.ts';
import { Backoff } from './backoff.ts';
import {
  ReadyEvent,
  SignalEvent,
  SignalingErrorEvent,
  type SignalingEventMap,
  StateChangeEvent,
} from './events.ts';
import { checkOptions, isFunction, isText, type Rules } from './option-check.ts';
import {
  byteLength,
  CLOSE,
  DATA_BYTES_MAX,
  type IceServer,
  isRoomId,
  META_BYTES_MAX,
  NON_RETRYABLE,
  type PeerInfo,
  PING,
  PONG,
  parseServerMessage,
  type ReadServerMessage,
  SUBPROTOCOL,
  TOKEN_LENGTH_MAX,
} from './protocol.ts';
import type { WebSocketConstructor, WebSocketLike } from './socket.ts';
import { View } from './view.ts';

// An attempt that neither succeeds nor fails is given up: proxies and captive portals do that.
const CONNECT_TIMEOUT_MS = 10_000;
// Longer than the longest delay that a server puts before a refusal (25 s), so that it is heard.
const READY_TIMEOUT_MS = 30_000;
// No byte for so long after a ping: the socket is dead, whatever it says.
const PONG_TIMEOUT_MS = 10_000;
// Only a connection that lasts proves that the server can carry it.
const UPTIME_RESET_MS = 10_000;
const HEARTBEAT_MIN_MS = 1_000;
const HEARTBEAT_MAX_MS = 60_000;
// The server takes 64 KiB a second; more than this waiting means that the network is stuck.
const BUFFERED_BYTES_MAX = 1024 * 1024;

/** `readyState` of a socket that can send. */
const OPEN = 1;
const SPREAD_MAX_MS = 60_000;

/** How to reach a room. */
export interface SignalingOptions {
  /** Base address such as `wss://host/v1`; `/rooms/{room}` is appended. */
  readonly url: string;
  /** Room id: 22 to 64 characters of base64url, for instance from `roomIdOf`. */
  readonly room: string;
  /** Opaque text for the other peers of the room, at most 1 KiB. */
  readonly meta?: string;
  /** Asked for a fresh token before every connection. */
  readonly token?: () => Promise<string> | string;
  /** @defaultValue globalThis.WebSocket */
  readonly WebSocket?: WebSocketConstructor;
  /** Uniform in [0, 1). @defaultValue Math.random */
  readonly random?: () => number;
  /** Its abort closes the client. */
  readonly signal?: AbortSignal;
}

/**
 * `connecting`, `ready` (in the room), `waiting` (for the next attempt), `closed` (by this side),
 * `failed` (refused for good: see `code`).
 */
export type SignalingState = 'connecting' | 'ready' | 'waiting' | 'closed' | 'failed';

type TimerName = 'attempt' | 'retry' | 'heartbeat' | 'pong' | 'uptime';

/** A place in one room of a signaling server, kept across losses of the socket. */
export class SignalingClient extends EventTarget {
  readonly #options: SignalingOptions;
  readonly #WebSocket: WebSocketConstructor;
  readonly #url: string;
  readonly #backoff: Backoff;
  readonly #view = new View();
  readonly #timers = new Map<TimerName, Alarm>();
  #state: SignalingState = 'connecting';
  #code: number | undefined;
  #reason = '';
  #peer: string | undefined;
  #resume: string | undefined;
  #iceServers: readonly IceServer[] | undefined;
  #socket: WebSocketLike | undefined;
  #attempt = 0;
  #token: string | undefined;
  #heartbeatMs = 0;
  #messageBytesMax = 0;
  #spreadMs: number | undefined;
  readonly #onAbort = (): void => this.close();

  /** @internal Made by {@link connectSignaling}. */
  constructor(options: SignalingOptions) {
    super();
    checkOptions(RULES, options, ['url', 'room']);
    this.#options = options;
    this.#WebSocket = resolveWebSocket(options);
    this.#url = resolveUrl(options);
    this.#backoff = new Backoff(options.random ?? Math.random);
    if (options.signal?.aborted) {
      this.#state = 'closed';
      return;
    }
    options.signal?.addEventListener('abort', this.#onAbort);
    void this.#connect();
  }

  override addEventListener<K extends keyof SignalingEventMap>(
    type: K,
    listener: ((event: SignalingEventMap[K]) => void) | null,
    options?: AddEventListenerOptions | boolean,
  ): void;
  override addEventListener(
    type: string,
    listener: EventListenerOrEventListenerObject | null,
    options?: AddEventListenerOptions | boolean,
  ): void {
    super.addEventListener(type, listener, options);
  }

  override removeEventListener<K extends keyof SignalingEventMap>(
    type: K,
    listener: ((event: SignalingEventMap[K]) => void) | null,
    options?: EventListenerOptions | boolean,
  ): void;
  override removeEventListener(
    type: string,
    listener: EventListenerOrEventListenerObject | null,
    options?: EventListenerOptions | boolean,
  ): void {
    super.removeEventListener(type, listener, options);
  }

  /** Id that the server issued, while `ready`. It changes when a lost place could not be resumed. */
  get peer(): string | undefined {
    return this.#peer;
  }

  get state(): SignalingState {
    return this.#state;
  }

  /** Close code that made the state `failed`. */
  get code(): number | undefined {
    return this.#code;
  }

  /** What the server said of that code, such as `origin not allowed`; else ''. */
  get reason(): string {
    return this.#reason;
  }

  /** The others in the room as last told. A hint: never proof that a peer lives or died. */
  get peers(): ReadonlyMap<string, PeerInfo> {
    return this.#view.peers;
  }

  /** What the server offers for STUN and TURN, from its last `ready`. */
  get iceServers(): readonly IceServer[] | undefined {
    return this.#iceServers;
  }

  /**
   * Sends to one peer of the room; nothing is queued. A later refusal is an `error` event with
   * `ref`. Gives false, having sent nothing, when not ready, when the socket is stuck, or with an
   * `error` event `too_large` when `data` exceeds 12 KiB or its frame what the server takes.
   */
  send(to: string, data: string, ref?: string): boolean {
    if (this.#state !== 'ready' || this.#socket?.readyState !== OPEN) return false;
    if (this.#socket.bufferedAmount > BUFFERED_BYTES_MAX) return false;
    const text = JSON.stringify({ type: 'signal', to, data, ref });
    // Quoting lengthens it: what fits as data may not fit as a frame, which would cost the socket.
    if (byteLength(data) > DATA_BYTES_MAX || byteLength(text) > this.#messageBytesMax) {
      this.dispatchEvent(new SignalingErrorEvent('too_large', ref === undefined ? {} : { ref }));
      return false;
    }
    this.#socket.send(text);
    return true;
  }

  /** Skips the wait before the next attempt; in a room it checks that the socket is alive. */
  reconnectNow(): void {
    if (this.#state === 'waiting') void this.#connect();
    else if (this.#state === 'ready') this.#ping();
  }

  /** Leaves the room for good. Idempotent. */
  close(): void {
    if (this.#state === 'closed' || this.#state === 'failed') return;
    const socket = this.#socket;
    if (this.#state === 'ready') this.#write('{"type":"bye"}');
    this.#disconnect();
    socket?.close(CLOSE.bye);
    this.#resume = undefined;
    this.#setState('closed');
  }

  async #connect(): Promise<void> {
    this.#disconnect();
    const attempt = this.#attempt;
    this.#spreadMs = undefined;
    this.#timer('attempt', CONNECT_TIMEOUT_MS, () => this.#drop());
    this.#setState('connecting');
    try {
      // Not at once: nobody can listen to the events of a client that is still being made.
      const token = await Promise.resolve().then(() => this.#options.token?.());
      if (attempt !== this.#attempt) return;
      if (token !== undefined && !(byteLength(token) <= TOKEN_LENGTH_MAX))
        throw new RangeError(`token must be at most ${TOKEN_LENGTH_MAX} bytes of text`);
      this.#open(token);
    } catch (cause) {
      if (attempt !== this.#attempt) return;
      this.#retry();
      this.dispatchEvent(new SignalingErrorEvent('token_failed', { cause }));
    }
  }

  #open(token: string | undefined): void {
    this.#token = token;
    try {
      const socket = new this.#WebSocket(this.#url, SUBPROTOCOL);
      this.#socket = socket;
      socket.addEventListener('message', ({ data }) => {
        if (this.#socket === socket && typeof data === 'string') this.#receive(data);
      });
      socket.addEventListener('close', ({ code, reason }) => {
        if (this.#socket === socket) this.#closed(code ?? CLOSE.goingAway, reason);
      });
      // Always followed by `close`, which says more; `ws` throws when nobody listens.
      socket.addEventListener('error', () => undefined);
    } catch (cause) {
      // The address was checked: what is left is a page's policy, such as mixed content.
      this.#fail();
      this.dispatchEvent(new SignalingErrorEvent('socket_blocked', { cause }));
    }
  }

  #receive(text: string): void {
    this.#clear('pong');
    const message = parseServerMessage(text);
    if (message !== undefined) this.#handle(message);
  }

  #handle(message: ReadServerMessage): void {
    switch (message.type) {
      case 'welcome':
        this.#hello(message);
        return;
      case 'ready':
        this.#ready(message);
        return;
      case 'peers':
        for (const event of this.#view.replace(message.peers)) this.dispatchEvent(event);
        return;
      case 'joined':
      case 'away':
      case 'back':
      case 'left': {
        const event = this.#view.apply(message);
        if (event !== undefined) this.dispatchEvent(event);
        return;
      }
      case 'signal':
        this.dispatchEvent(new SignalEvent(message.from, message.data));
        return;
      case 'error':
        this.dispatchEvent(new SignalingErrorEvent(message.code, message));
        return;
      case 'draining':
        this.#spreadMs = Math.min(message.spreadMs, SPREAD_MAX_MS);
        return;
      case 'ping':
        this.#write(PONG);
        return;
      case 'pong':
        return;
    }
  }

  #hello({ heartbeatMs, limits }: Extract<ReadServerMessage, { type: 'welcome' }>): void {
    if (this.#state !== 'connecting') return;
    this.#messageBytesMax = limits.messageBytesMax;
    this.#heartbeatMs = Math.min(Math.max(heartbeatMs, HEARTBEAT_MIN_MS), HEARTBEAT_MAX_MS);
    this.#timer('attempt', READY_TIMEOUT_MS, () => this.#drop());
    const { meta } = this.#options;
    const hello = { type: 'hello', token: this.#token, resume: this.#resume, meta };
    this.#write(JSON.stringify(hello));
  }

  #ready(message: Extract<ReadServerMessage, { type: 'ready' }>): void {
    if (this.#state !== 'connecting') return;
    this.#clear('attempt');
    this.#peer = message.peer;
    this.#resume = message.resume;
    this.#iceServers = message.iceServers;
    this.#view.replace(message.peers);
    this.#timer('uptime', UPTIME_RESET_MS, () => this.#backoff.reset());
    this.#timer('heartbeat', this.#heartbeatMs, () => this.#beat());
    this.#setState('ready');
    // A listener may have closed the client meanwhile.
    if (this.state === 'ready') this.dispatchEvent(new ReadyEvent());
  }

  #beat(): void {
    this.#ping();
    this.#timer('heartbeat', this.#heartbeatMs, () => this.#beat());
  }

  /** A page that goes closes its sockets before it says so; writing then is a warning at best. */
  #write(text: string): void {
    if (this.#socket?.readyState === OPEN) this.#socket.send(text);
  }

  #ping(): void {
    this.#write(PING);
    if (!this.#timers.has('pong')) this.#timer('pong', PONG_TIMEOUT_MS, () => this.#drop());
  }

  /** Gives up a socket that hangs. */
  #drop(): void {
    const socket = this.#socket;
    this.#retry();
    socket?.close();
  }

  #closed(code: number, reason: string | undefined): void {
    if (NON_RETRYABLE.has(code)) this.#fail(code, reason);
    else this.#retry();
  }

  #fail(code?: number, reason = ''): void {
    this.#disconnect();
    this.#code = code;
    this.#reason = reason;
    this.#setState('failed');
  }

  #retry(): void {
    const spreadMs = this.#spreadMs;
    this.#disconnect();
    const delayMs = spreadMs === undefined ? this.#backoff.next() : this.#backoff.spread(spreadMs);
    this.#timer('retry', delayMs, () => void this.#connect());
    this.#setState('waiting');
  }

  /** Forgets the socket and everything that belongs to it; late events of it find no listener. */
  #disconnect(): void {
    this.#attempt += 1;
    this.#socket = undefined;
    this.#peer = undefined;
    for (const name of [...this.#timers.keys()]) this.#clear(name);
  }

  #timer(name: TimerName, delayMs: number, callback: () => void): void {
    this.#clear(name);
    const alarm = new Alarm(() => {
      this.#timers.delete(name);
      callback();
    }, delayMs);
    this.#timers.set(name, alarm);
    // A socket keeps a Node process alive by itself; only the wait for the next one has none.
    if (name !== 'retry') alarm.unref();
  }

  #clear(name: TimerName): void {
    this.#timers.get(name)?.cancel();
    this.#timers.delete(name);
  }

  #setState(state: SignalingState): void {
    if (state === this.#state) return;
    this.#state = state;
    if (state === 'closed' || state === 'failed')
      this.#options.signal?.removeEventListener('abort', this.#onAbort);
    this.dispatchEvent(new StateChangeEvent());
  }
}

const RULES: Rules<SignalingOptions> = {
  url: [
    'string',
    'a ws: or wss: address',
    (url) => isText(url) && URL.canParse(url) && /^wss?:/i.test(url),
  ],
  room: ['string', '22 to 64 characters of base64url', (room) => isText(room) && isRoomId(room)],
  meta: ['string', 'a string', isText],
  token: ['function', 'a function', isFunction],
  WebSocket: ['function', 'a WebSocket class', isFunction],
  random: ['function', 'a function', isFunction],
  signal: [
    'AbortSignal',
    'an AbortSignal',
    (signal) => isFunction(Object(signal).addEventListener),
  ],
};

/**
 * Enters a room and stays in it. Returns at once; an unreachable server is retried until `close()`.
 *
 * @throws TypeError that names an option that is unknown or wrong, or when there is no WebSocket;
 * RangeError when `meta` is longer than 1 KiB.
 */
export function connectSignaling(options: SignalingOptions): SignalingClient {
  return new SignalingClient(options);
}

function resolveWebSocket({ WebSocket }: SignalingOptions): WebSocketConstructor {
  const found = WebSocket ?? (globalThis.WebSocket as WebSocketConstructor | undefined);
  if (typeof found === 'function') return found;
  throw new TypeError('WebSocket must be given: this platform has none of its own');
}

function resolveUrl({ url, room, meta }: SignalingOptions): string {
  if (meta !== undefined && byteLength(meta) > META_BYTES_MAX)
    throw new RangeError(`meta must be at most ${META_BYTES_MAX} bytes, got ${byteLength(meta)}`);
  const base = new URL(url);
  base.pathname = `${base.pathname.replace(/\/+$/, '')}/rooms/${room}`;
  base.hash = '';
  return base.href;
}
