import type { ChangeReason, LeaveReason, NodeState } from '../machine/effect.ts';
import type { Member } from '../machine/member.ts';
import type { DoyenError } from './error.ts';

/** A callback for one type of event, or an object with `handleEvent`. */
export type Listener<E extends Event> = ((event: E) => void) | { handleEvent(event: E): void };

/** An `EventTarget` that knows its events: `Events` maps their names to their classes. */
export interface TypedEventTarget<Events> extends Omit<EventTarget, EventTargetMethod> {
  addEventListener<Type extends keyof Events & string>(
    type: Type,
    listener: Listener<Events[Type] & Event> | null,
    options?: AddEventListenerOptions | boolean,
  ): void;
  removeEventListener<Type extends keyof Events & string>(
    type: Type,
    listener: Listener<Events[Type] & Event> | null,
    options?: EventListenerOptions | boolean,
  ): void;
  dispatchEvent(event: Event): boolean;
}

type EventTargetMethod = 'addEventListener' | 'removeEventListener' | 'dispatchEvent';

/** The platform's `EventTarget`, typed. Errors of listeners are reported by the platform. */
export const TypedEventTarget = EventTarget as new <Events>() => TypedEventTarget<Events>;

/** `memberjoin`, `membersuspect`, `memberalive`, `memberupdate` and `linkchange` of a node. */
export class MemberEvent extends Event {
  /** The member after the change. */
  readonly member: Member;

  constructor(type: string, member: Member) {
    super(type);
    this.member = member;
  }
}

/** `memberleave` of a node: once for each `memberjoin`, and before the `change` that it causes. */
export class MemberLeaveEvent extends MemberEvent {
  /**
   * `leave`: it said so. `evicted`: silent for the whole suspicion window. `replaced`: another
   * instance took its id. `gone`: proof of its death.
   */
  readonly reason: LeaveReason;

  constructor(member: Member, reason: LeaveReason) {
    super('memberleave', member);
    this.reason = reason;
  }
}

/** `statechange` of a node. */
export class StateChangeEvent extends Event {
  readonly state: NodeState;
  readonly previous: NodeState;
  /** Why the node failed; only when `state` is `failed`. */
  readonly error: DoyenError | undefined;

  constructor(state: NodeState, previous: NodeState, error?: DoyenError) {
    super('statechange');
    this.state = state;
    this.previous = previous;
    this.error = error;
  }
}

/** `violation` of a node: input broke a rule and was ignored; the state is unchanged. */
export class ViolationEvent extends Event {
  /** Link that it came over; empty when the application's own code broke the rule. */
  readonly peer: string;
  /** Id of the rule in the specification. */
  readonly rule: string;
  readonly detail: string;

  constructor(peer: string, rule: string, detail: string) {
    super('violation');
    this.peer = peer;
    this.rule = rule;
    this.detail = detail;
  }
}

/** `fault` of a node: something around it does not work; the node goes on. */
export class FaultEvent extends Event {
  /**
   * `floor-failed`: the epoch to start above is unknown, so this node cannot lead.
   * `frozen-overflow`: input was lost while frozen. `close-failed`: the transport did not close in
   * order. Transports add their own codes.
   */
  readonly code: string;
  readonly message: string;

  constructor(code: string, message: string) {
    super('fault');
    this.code = code;
    this.message = message;
  }
}

/** `change` of a node's leadership. */
export class LeaderChangeEvent extends Event {
  /** Who leads now; `null` while nobody does. */
  readonly leader: Member | null;
  /** Epoch of the latest leadership known. */
  readonly epoch: number;
  readonly previous: Member | null;
  readonly reason: ChangeReason;

  constructor(
    leader: Member | null,
    details: {
      readonly epoch: number;
      readonly previous: Member | null;
      readonly reason: ChangeReason;
    },
  ) {
    super('change');
    this.leader = leader;
    this.epoch = details.epoch;
    this.previous = details.previous;
    this.reason = details.reason;
  }
}

/** `overrun` of a node's leadership: work still runs `drainMs` after its term ended. */
export class OverrunEvent extends Event {
  /** Epoch of the term that the work belongs to. */
  readonly epoch: number;

  constructor(epoch: number) {
    super('overrun');
    this.epoch = epoch;
  }
}

/** `message` of a channel. */
export class ChannelMessageEvent extends Event {
  readonly from: Member;
  readonly data: Uint8Array;
  /** Epoch of the sender's term; 0 when the message was not sent through `term.channel()`. */
  readonly epoch: number;

  constructor(from: Member, data: Uint8Array, epoch: number) {
    super('message');
    this.from = from;
    this.data = data;
    this.epoch = epoch;
  }
}

/** `gap` of a channel: messages of a member were lost. */
export class GapEvent extends Event {
  readonly from: Member;
  /** How many messages were lost. */
  readonly missed: number;

  constructor(from: Member, missed: number) {
    super('gap');
    this.from = from;
    this.missed = missed;
  }
}

/** `stale` of a channel: a message of an older term was dropped, and its sender was told. */
export class StaleEvent extends Event {
  readonly from: Member;
  /** Epoch that the message was stamped with. */
  readonly epoch: number;

  constructor(from: Member, epoch: number) {
    super('stale');
    this.from = from;
    this.epoch = epoch;
  }
}

/**
 * `dropped` of a channel and of its node: a message came before anybody listened to the channel's
 * `message` event, and the buffer for such messages was full.
 */
export class DroppedEvent extends Event {
  /** Name of the channel. */
  readonly channel: string;
  readonly from: Member;
  /** Size of the lost message. */
  readonly sizeBytes: number;

  constructor(channel: string, from: Member, sizeBytes: number) {
    super('dropped');
    this.channel = channel;
    this.from = from;
    this.sizeBytes = sizeBytes;
  }
}
