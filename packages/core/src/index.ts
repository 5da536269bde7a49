/**
 * Leader election for browser tabs and devices.
 *
 * @packageDocumentation
 */
export type {
  ChangeReason,
  ChangeRefusal,
  FailureCode,
  LeaveReason,
  NodeState,
  TermEndReason,
} from './machine/effect.ts';
export type { VoterRole } from './machine/election.ts';
export type { LockRule } from './machine/lock/lock.ts';
export type { Detection, Tiebreak } from './machine/machine.ts';
export type { Member } from './machine/member.ts';
export type { Voter, VoterConfig } from './machine/quorum/config.ts';
export { type Quorum, type QuorumOptions, quorum } from './machine/quorum/quorum.ts';
export { type Candidate, highestId, oldestNode, type Strategy } from './machine/strategy.ts';
export type { Channel, ChannelEventMap, ChannelSender } from './runtime/channel.ts';
export { DoyenError, type DoyenErrorCode } from './runtime/error.ts';
export {
  ChannelMessageEvent,
  DroppedEvent,
  FaultEvent,
  GapEvent,
  LeaderChangeEvent,
  type Listener,
  MemberEvent,
  MemberLeaveEvent,
  OverrunEvent,
  StaleEvent,
  StateChangeEvent,
  type TypedEventTarget,
  ViolationEvent,
} from './runtime/event.ts';
export { join } from './runtime/join.ts';
export type { LeadFence, LeadOptions, Work } from './runtime/lead.ts';
export type { Leadership, LeadershipEventMap } from './runtime/leadership.ts';
export type { DoyenNode, NodeEventMap } from './runtime/node.ts';
export { DEFAULTS, type JoinOptions } from './runtime/options.ts';
export type { Term, Token } from './runtime/term.ts';
export { Voters, type VotersEventMap, VotersRefusedError } from './runtime/voters.ts';
export { combine } from './transport/combine.ts';
export { MemoryNetwork, type MemoryOptions, memory } from './transport/memory.ts';
export type {
  Hint,
  Lane,
  Lifecycle,
  LinkDownReason,
  LinkInfo,
  SendResult,
  Transport,
  TransportHandler,
  TransportStartOptions,
} from './transport/transport.ts';
