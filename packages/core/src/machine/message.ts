import type { Claim, Probe } from './claim.ts';
import type { MemberRecord } from './record.ts';

/** What travels between two nodes; `codec.ts` gives each its bytes, docs/PROTOCOL.md its meaning. */
export type Message =
  | HelloMessage
  | PingMessage
  | RecordsMessage
  | ClaimMessage
  | SuspectMessage
  | QuietMessage
  | LeaveMessage
  | LeaveAckMessage
  | TransferMessage
  | FencedMessage
  | BallotMessage
  | RefuseMessage
  | RelayMessage
  | ChannelMessage;

/** The first message on a link, repeated until the other end says that it knows it. */
export interface HelloMessage {
  readonly type: 'hello';
  readonly fingerprint: string;
  /** Whether the sender has had the receiver's hello on this link. */
  readonly known: boolean;
  readonly self: MemberRecord;
  readonly records: readonly MemberRecord[];
  readonly claim: Claim | null;
}

/** A claim and a roster in a few bytes; who differs sends the whole of it. */
export interface Summary {
  readonly epoch: number;
  /** Instance of the leader, '' when no claim is known. */
  readonly leader: string;
  readonly vacated: boolean;
  readonly led: boolean;
  /** The sender itself has given the leader up as silent. */
  readonly lapsed: boolean;
  readonly digest: number;
}

/** A ping wants a pong with the same number. */
export interface PingMessage {
  readonly type: 'ping' | 'pong';
  readonly sequence: number;
  readonly summary: Summary;
}

export interface RecordsMessage {
  readonly type: 'records';
  readonly records: readonly MemberRecord[];
}

/** `leader`: the claimant's record, so that nobody has to wait for it. */
export interface ClaimMessage {
  readonly type: 'claim';
  readonly claim: Claim;
  readonly leader: MemberRecord | null;
  /** Only between two leaders of one epoch: the sender's frozen reading. */
  readonly probe: Probe | null;
}

/** The sender suspects `instance`; told to the suspect first, so that it can refute. */
export interface SuspectMessage {
  readonly type: 'suspect';
  readonly instance: string;
  readonly incarnation: number;
}

/** Answer to a probe that the sender cannot pass on: it has a link to `instance` and hears nothing. */
export interface QuietMessage {
  readonly type: 'quiet';
  readonly instance: string;
  /** The sender saw the link closed cleanly. */
  readonly closed: boolean;
}

export interface LeaveMessage {
  readonly type: 'leave';
  readonly record: MemberRecord;
}

export interface LeaveAckMessage {
  readonly type: 'leave-ack';
}

/** The leader of `epoch` asks the receiver to take over. */
export interface TransferMessage {
  readonly type: 'transfer';
  readonly epoch: number;
  readonly defends: { readonly id: string; readonly startedAt: number };
}

/** A fence that has seen `epoch` refused the sender, which led: its side stands back (X2). */
export interface FencedMessage {
  readonly type: 'fenced';
  readonly epoch: number;
  readonly backoffMs: number;
}

/** What voters say to each other; the election that uses it reads it. */
export interface BallotMessage {
  readonly type: 'ballot';
  readonly payload: Uint8Array;
}

export interface RefuseMessage {
  readonly type: 'refuse';
  readonly code: 'duplicate-id' | 'election-mismatch';
}

/** A message to a member without a direct link; instances name both ends. */
export interface RelayMessage {
  readonly type: 'relay';
  readonly origin: string;
  readonly target: string;
  readonly sequence: number;
  /** How many more nodes may pass it on. */
  readonly hops: number;
  readonly payload: Uint8Array;
}

export interface ChannelMessage {
  readonly type: 'channel';
  readonly channel: string;
  readonly sequence: number;
  /** Epoch of the sender's term; 0 = not stamped. */
  readonly epoch: number;
  readonly data: Uint8Array;
}
