import type { Member } from './member.ts';

/** What the host must do for the machine, in order, after each input. */
export type Effect = SendEffect | EventEffect | StoreEffect | LockEffect;

export interface SendEffect {
  readonly type: 'send';
  /** Key of the link, as the transport reported it. */
  readonly peer: string;
  readonly lane: 'control' | 'data';
  readonly bytes: Uint8Array;
}

/** To be stored durably, in place of what was stored before; `stored(ticket)` tells that it is. */
export interface StoreEffect {
  readonly type: 'store';
  readonly ticket: number;
  readonly bytes: Uint8Array;
}

/** What is to be done with the lock of an election under one; `LockAnswer` tells what came of it. */
export interface LockEffect {
  readonly type: 'lock';
  readonly act: LockAct;
  /** Names the request that this is about. */
  readonly ticket: number;
  /** Of `count`. */
  readonly above: number;
}

/**
 * `request`: queue up. `steal`: take it from whoever holds it. `count`: count the holder, to a number
 * above `above` and above all before. `release`: give it back, or leave its queue.
 */
export type LockAct = 'request' | 'steal' | 'count' | 'release';

export interface EventEffect {
  readonly type: 'event';
  readonly event: MachineEvent;
}

export type NodeState = 'joining' | 'joined' | 'isolated' | 'left' | 'failed';

/** Why a member is no longer in the roster. */
export type LeaveReason = 'leave' | 'evicted' | 'replaced' | 'gone';

/** Why `current` changed. */
export type ChangeReason =
  | 'elected'
  | 'preempted'
  | 'merged'
  | 'leave'
  | 'evicted'
  | 'replaced'
  | 'gone'
  | 'silent'
  | 'vacated'
  | 'resigned'
  | 'transferred';

/** Why a term ended: the `code` of `term.signal.reason`. */
export type TermEndReason =
  | 'higher-epoch'
  | 'quorum-lost'
  | 'lease-expired'
  | 'stalled'
  | 'frozen'
  | 'resigned'
  | 'transferred'
  | 'fenced'
  | 'removed'
  | 'storage-failed'
  | 'left';

/** Which rule forbids a change of the voters (Q9). */
export type VotersRefusal =
  /** Only the leader changes who votes. */
  | 'not-leader'
  /** Most voters have not stored the config in force yet, or most of the new ones do not answer. */
  | 'config-quorum'
  /** Old and new voters may differ by one. */
  | 'one-at-a-time'
  /** The leader is a voter: it hands over first. */
  | 'leader-stays'
  | 'never-empty';

/** Why the voters were not changed. */
export type ChangeRefusal =
  | VotersRefusal
  /** Nobody of this id is in the roster and heard. */
  | 'not-a-member'
  /** It did not say with which storage it would vote: it has none. */
  | 'no-storage'
  /** It did not keep up with the leader's beats. */
  | 'not-following'
  /** The leader is handing over. */
  | 'transfer-pending'
  /** Other changes are waiting already. */
  | 'too-many'
  /** The term ended: whether the change came about shows in the config. */
  | 'lost';

/** Why a node failed: the `code` of its error. */
export type FailureCode = 'duplicate-id' | 'election-mismatch';

export type MachineEvent =
  | { readonly type: 'memberjoin'; readonly member: Member }
  | { readonly type: 'membersuspect'; readonly member: Member }
  | { readonly type: 'memberalive'; readonly member: Member }
  | { readonly type: 'memberupdate'; readonly member: Member }
  | { readonly type: 'linkchange'; readonly member: Member }
  | { readonly type: 'memberleave'; readonly member: Member; readonly reason: LeaveReason }
  /** `failure` only with `state: 'failed'`. */
  | {
      readonly type: 'statechange';
      readonly state: NodeState;
      readonly previous: NodeState;
      readonly failure?: { readonly code: FailureCode; readonly message: string };
    }
  /** The node has met somebody, or knows that it is alone. Once. */
  | { readonly type: 'ready' }
  | {
      readonly type: 'change';
      readonly leader: Member | null;
      readonly epoch: number;
      readonly previous: Member | null;
      readonly reason: ChangeReason;
    }
  /** This node leads from here on. Drained before the `change` that tells of it. */
  | { readonly type: 'termstart'; readonly epoch: number }
  /** This node's term is over. Drained before every event that it causes. */
  | { readonly type: 'termend'; readonly epoch: number; readonly reason: TermEndReason }
  /** A leave has been acknowledged by all, or has timed out: links may be closed now. */
  | { readonly type: 'leavedone' }
  | { readonly type: 'confirmed'; readonly ticket: number; readonly ok: boolean }
  /** `transfer()` came to its end: did the target take over? */
  | { readonly type: 'transferdone'; readonly ok: boolean }
  | {
      readonly type: 'message';
      readonly channel: string;
      readonly from: Member;
      readonly data: Uint8Array;
      /** Epoch of the sender's term; 0 when the message was not stamped. */
      readonly epoch: number;
    }
  /** `missed` messages of a member on a channel were lost. */
  | {
      readonly type: 'gap';
      readonly channel: string;
      readonly from: Member;
      readonly missed: number;
    }
  /** A stamped message older than the epoch known here was dropped. */
  | {
      readonly type: 'stale';
      readonly channel: string;
      readonly from: Member;
      readonly epoch: number;
    }
  /** This node leads, and should hand over to the member `to`, which can be seen. */
  | { readonly type: 'yield'; readonly to: string }
  /** Who votes, or this node's part in it, is another: read the machine. */
  | { readonly type: 'voterschange' }
  /** A change of the voters came to its end. */
  | {
      readonly type: 'voterschanged';
      readonly ticket: number;
      readonly refusal: ChangeRefusal | null;
    }
  /** Something around the node does not work. */
  | { readonly type: 'fault'; readonly code: string; readonly message: string }
  /** Remote input broke a rule; the state is unchanged. `peer` is the link it came over. */
  | {
      readonly type: 'violation';
      readonly peer: string;
      readonly rule: string;
      readonly detail: string;
    };
