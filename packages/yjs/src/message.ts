import * as decoding from 'lib0/decoding';
import * as encoding from 'lib0/encoding';

/** What the members that have a room open tell each other on its channel. */
export type RoomMessage =
  /** Where the sender stands; whoever finds a digest that differs from its own may ask. */
  | {
      readonly type: 'summary';
      /** The sender is new here, or unsure: answer with your own. */
      readonly wantsAnswer: boolean;
      /** Not all of the sender's changes are confirmed to it. */
      readonly isWaiting: boolean;
      readonly server: ServerState;
      /** How many have the room open, as far as the sender knows, itself included. */
      readonly participants: number;
      /** How many changes of its own the sender has made so far. */
      readonly changes: number;
      readonly digest: number;
    }
  /** "Send me what I lack"; mutual: "and ask me in turn". */
  | { readonly type: 'ask'; readonly isMutual: boolean; readonly stateVector: Uint8Array }
  /** The answer; whoever reaches the state vector with it has all of the sender's changes so far. */
  | {
      readonly type: 'state';
      readonly changes: number;
      readonly stateVector: Uint8Array;
      readonly update: Uint8Array;
    }
  /** News; `count` of the sender's own changes, the last of which is number `changes`. */
  | {
      readonly type: 'update';
      readonly changes: number;
      readonly count: number;
      readonly update: Uint8Array;
    }
  /** The awareness state of the sender itself: an update of exactly one client. */
  | { readonly type: 'presence'; readonly update: Uint8Array }
  /** Awareness states that the sender has from the server. */
  | { readonly type: 'presences'; readonly update: Uint8Array }
  /** "Renew your awareness state, and send it to me." */
  | { readonly type: 'renew' }
  /** "The server holds the changes of your session `of` up to this number." */
  | { readonly type: 'confirmed'; readonly of: number; readonly changes: number }
  /** The sender has closed the room. */
  | { readonly type: 'bye' };

/** Of the sender's own connection to the server; it has one only while it leads. */
export interface ServerState {
  readonly status: Status;
  readonly isSynced: boolean;
}

/** As y-websocket tells it. */
export type Status = (typeof STATUSES)[number];

/** `session`: a number of the sender's own for each time that it opens the room. */
export function encodeMessage(message: RoomMessage, session: number): Uint8Array {
  return encoding.encode((encoder) => {
    encoding.writeUint8(encoder, TYPES.indexOf(message.type));
    encoding.writeUint32(encoder, session);
    switch (message.type) {
      case 'summary': {
        const { wantsAnswer, isWaiting, server } = message;
        const flags = [wantsAnswer, isWaiting, server.isSynced];
        const bits = flags.reduce((sum, flag, at) => sum | (Number(flag) << at), 0);
        encoding.writeUint8(encoder, bits | (STATUSES.indexOf(server.status) << flags.length));
        encoding.writeVarUint(encoder, message.participants);
        encoding.writeVarUint(encoder, message.changes);
        encoding.writeUint32(encoder, message.digest);
        break;
      }
      case 'ask':
        encoding.writeUint8(encoder, message.isMutual ? 1 : 0);
        encoding.writeUint8Array(encoder, message.stateVector);
        break;
      case 'state':
        encoding.writeVarUint(encoder, message.changes);
        encoding.writeVarUint8Array(encoder, message.stateVector);
        encoding.writeUint8Array(encoder, message.update);
        break;
      case 'update':
        encoding.writeVarUint(encoder, message.changes);
        encoding.writeVarUint(encoder, message.count);
        encoding.writeUint8Array(encoder, message.update);
        break;
      case 'presence':
      case 'presences':
        encoding.writeUint8Array(encoder, message.update);
        break;
      case 'confirmed':
        encoding.writeUint32(encoder, message.of);
        encoding.writeVarUint(encoder, message.changes);
        break;
    }
  });
}

/** @throws Error when the bytes are no message. */
export function decodeMessage(bytes: Uint8Array): {
  readonly session: number;
  readonly message: RoomMessage;
} {
  const decoder = decoding.createDecoder(bytes);
  const type = TYPES[decoding.readUint8(decoder)];
  if (type === undefined) throw new Error('no such type of message');
  const session = decoding.readUint32(decoder);
  const message = read(type, decoder);
  if (decoding.hasContent(decoder)) throw new Error(`${type}: bytes after its end`);
  return { session, message };
}

function read(type: RoomMessage['type'], decoder: decoding.Decoder): RoomMessage {
  switch (type) {
    case 'summary': {
      const head = decoding.readUint8(decoder);
      const status = STATUSES[head >> 3];
      if (status === undefined) throw new Error('summary: unknown flags');
      return {
        type,
        wantsAnswer: (head & 1) !== 0,
        isWaiting: (head & 2) !== 0,
        server: { status, isSynced: (head & 4) !== 0 },
        participants: decoding.readVarUint(decoder),
        changes: decoding.readVarUint(decoder),
        digest: decoding.readUint32(decoder),
      };
    }
    case 'ask': {
      const flags = decoding.readUint8(decoder);
      if (flags > 1) throw new Error('ask: unknown flags');
      return { type, isMutual: flags === 1, stateVector: rest(decoder) };
    }
    case 'state': {
      const changes = decoding.readVarUint(decoder);
      const stateVector = decoding.readVarUint8Array(decoder);
      return { type, changes, stateVector, update: rest(decoder) };
    }
    case 'update': {
      const changes = decoding.readVarUint(decoder);
      const count = decoding.readVarUint(decoder);
      if (count > changes) throw new Error('update: more changes than there are');
      return { type, changes, count, update: rest(decoder) };
    }
    case 'presence':
    case 'presences':
      return { type, update: rest(decoder) };
    case 'confirmed': {
      const of = decoding.readUint32(decoder);
      return { type, of, changes: decoding.readVarUint(decoder) };
    }
    case 'renew':
    case 'bye':
      return { type };
  }
}

function rest(decoder: decoding.Decoder): Uint8Array {
  return decoding.readTailAsUint8Array(decoder);
}

const STATUSES = ['disconnected', 'connecting', 'connected'] as const;

/** By number: a type's place never changes. */
const TYPES: readonly RoomMessage['type'][] = [
  'summary',
  'ask',
  'state',
  'update',
  'presence',
  'presences',
  'renew',
  'confirmed',
  'bye',
];
