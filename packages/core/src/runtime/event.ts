import type { ChangeReason, LeaveReason, MachineEvent, NodeState } from '../machine/effect.ts';
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

/** Has the given fields as its own: subclasses only declare them. */
class FieldEvent<Fields extends object> extends Event {
  constructor({ type, ...fields }: { readonly type: string } & Fields) {
    super(type);
    Object.assign(this, fields);
  }
}

type MachineEventOf<Type extends MachineEvent['type']> = MachineEvent & { readonly type: Type };

/** `memberjoin`, `membersuspect`, `memberalive`, `memberupdate` and `linkchange` of a node. */
export class MemberEvent extends FieldEvent<{ readonly member: Member }> {
  /** The member after the change. */
  declare readonly member: Member;
}

/** `memberleave` of a node: once for each `memberjoin`, and before the `change` that it causes. */
export class MemberLeaveEvent extends MemberEvent {
  /**
   * `leave`: it said so. `evicted`: silent for the whole suspicion window. `replaced`: another
   * instance took its id. `gone`: proof of its death.
   */
  declare readonly reason: LeaveReason;
}

/** `statechange` of a node. */
export class StateChangeEvent extends FieldEvent<{
  readonly state: NodeState;
  readonly previous: NodeState;
  readonly error: DoyenError | undefined;
}> {
  declare readonly state: NodeState;
  declare readonly previous: NodeState;
  /** Why the node failed; only when `state` is `failed`. */
  declare readonly error: DoyenError | undefined;
}

/** `violation` of a node: input broke a rule and was ignored; the state is unchanged. */
export class ViolationEvent extends FieldEvent<MachineEventOf<'violation'>> {
  /** Link that it came over; empty when the application's own code broke the rule. */
  declare readonly peer: string;
  /** Id of the rule in the specification. */
  declare readonly rule: string;
  declare readonly detail: string;
}

/** `fault` of a node: something around it does not work; the node goes on. */
export class FaultEvent extends FieldEvent<{ readonly code: string; readonly message: string }> {
  /**
   * `floor-failed`: the epoch to start above is unknown, so this node cannot lead.
   * `frozen-overflow`: input was lost while frozen. `close-failed`: the transport did not close in
   * order. Transports add their own codes.
   */
  declare readonly code: string;
  declare readonly message: string;
}

/** `change` of a node's leadership. */
export class LeaderChangeEvent extends FieldEvent<MachineEventOf<'change'>> {
  /** Who leads now; `null` while nobody does. */
  declare readonly leader: Member | null;
  /** Epoch of the latest leadership known. */
  declare readonly epoch: number;
  declare readonly previous: Member | null;
  declare readonly reason: ChangeReason;
}

/** `overrun` of a node's leadership: work still runs `drainMs` after its term ended. */
export class OverrunEvent extends FieldEvent<{ readonly epoch: number }> {
  /** Epoch of the term that the work belongs to. */
  declare readonly epoch: number;
}

/** `message` of a channel. */
export class ChannelMessageEvent extends FieldEvent<MachineEventOf<'message'>> {
  declare readonly from: Member;
  declare readonly data: Uint8Array;
  /** Epoch of the sender's term; 0 when the message was not sent through `term.channel()`. */
  declare readonly epoch: number;
}

/** `gap` of a channel: messages of a member were lost. */
export class GapEvent extends FieldEvent<MachineEventOf<'gap'>> {
  declare readonly from: Member;
  /** How many messages were lost. */
  declare readonly missed: number;
}

/** `stale` of a channel: a message of an older term was dropped, and its sender was told. */
export class StaleEvent extends FieldEvent<MachineEventOf<'stale'>> {
  declare readonly from: Member;
  /** Epoch that the message was stamped with. */
  declare readonly epoch: number;
}

/**
 * `dropped` of a channel and of its node: a message came before anybody listened to the channel's
 * `message` event, and the buffer for such messages was full.
 */
export class DroppedEvent extends FieldEvent<{
  readonly channel: string;
  readonly from: Member;
  readonly sizeBytes: number;
}> {
  /** Name of the channel. */
  declare readonly channel: string;
  declare readonly from: Member;
  /** Size of the lost message. */
  declare readonly sizeBytes: number;
}
