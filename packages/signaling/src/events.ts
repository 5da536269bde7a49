import type { ErrorCode, LeftReason } from './protocol.ts';

/** The client's `state` changed. */
export class StateChangeEvent extends Event {
  constructor() {
    super('statechange');
  }
}

/** The room was entered, again after each loss of the socket; the client's `peers` is the view. */
export class ReadyEvent extends Event {
  constructor() {
    super('ready');
  }
}

/** A peer came into the room (`joined`), lost its socket (`away`) or came back on a new one (`back`). */
export class PeerEvent extends Event {
  readonly peer: string;
  readonly meta: string | undefined;
  constructor(type: 'joined' | 'away' | 'back', peer: string, meta?: string) {
    super(type);
    this.peer = peer;
    this.meta = meta;
  }
}

/** A peer left the room; fires only for a peer that was in the view. A hint, never proof of death. */
export class LeftEvent extends Event {
  readonly peer: string;
  readonly reason: LeftReason;
  constructor(peer: string, reason: LeftReason) {
    super('left');
    this.peer = peer;
    this.reason = reason;
  }
}

/** A peer of the room sent `data`; `from` was stamped by the server. */
export class SignalEvent extends Event {
  readonly from: string;
  readonly data: string;
  constructor(from: string, data: string) {
    super('signal');
    this.from = from;
    this.data = data;
  }
}

/** What the client itself may report: its `token` failed, or the platform forbids the socket. */
export type ClientErrorCode = ErrorCode | 'token_failed' | 'socket_blocked';

/** Something was refused. The connection goes on unless `state` says otherwise. */
export class SignalingErrorEvent extends Event {
  readonly code: ClientErrorCode;
  /** The `ref` of the `send` that was refused. */
  readonly ref: string | undefined;
  /** Earliest time in ms at which a retry can succeed. */
  readonly retryMs: number | undefined;
  readonly cause: unknown;
  constructor(
    code: ClientErrorCode,
    { ref, retryMs, cause }: { ref?: string; retryMs?: number; cause?: unknown } = {},
  ) {
    super('error');
    this.code = code;
    this.ref = ref;
    this.retryMs = retryMs;
    this.cause = cause;
  }
}

/** Events of a {@link SignalingClient} by name. */
export interface SignalingEventMap {
  statechange: StateChangeEvent;
  ready: ReadyEvent;
  joined: PeerEvent;
  away: PeerEvent;
  back: PeerEvent;
  left: LeftEvent;
  signal: SignalEvent;
  error: SignalingErrorEvent;
}
