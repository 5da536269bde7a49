import type { Hint, LinkDownReason, Lifecycle } from './input.ts';
import type { Effect, NodeState } from './effect.ts';
import type { Member } from './member.ts';
import type { Strategy } from './strategy.ts';

/** How failure is detected; all in milliseconds. */
export interface Detection {
  readonly heartbeatIntervalMs: number;
  readonly suspicionMs: number;
  readonly leaderSuspicionMinMs: number;
}

/** What the application knows of its own side, to decide between two leaders of one epoch. */
export interface Tiebreak {
  readonly nodeCount: number;
  readonly createdAt: number;
}

export interface MachineOptions {
  readonly id: string;
  readonly instance: string;
  readonly startedAt: number;
  /** `false` when `startedAt` was given or is 0, or seniority is by wall clock: never restamped. */
  readonly restampable: boolean;
  readonly meta?: unknown;
  readonly strategy: Strategy;
  /** Name of mode, strategy and seniority; nodes that differ in it refuse each other (E12). */
  readonly fingerprint: string;
  readonly detection: Detection;
  readonly joinGraceMs: number;
  /** Ineligible until `setFloor` is called (E11). */
  readonly floorPending: boolean;
  readonly random: () => number;
  readonly now: number;
}

/**
 * One node's membership and election, without clock, timers, randomness or I/O of its own. Each
 * input carries `now`; afterwards the host drains the effects and sets one timer for
 * `nextDeadline()`. Total: no remote input throws; it shows as a `violation` event.
 */
export declare class Machine {
  constructor(options: MachineOptions);

  // Inputs from the transport and the host.
  linkUp(peer: string, now: number): void;
  linkDown(peer: string, why: LinkDownReason, now: number): void;
  receive(peer: string, bytes: Uint8Array, now: number): void;
  hint(peer: string, kind: Hint, now: number): void;
  discovery(pending: number, now: number): void;
  lifecycle(kind: Lifecycle, now: number): void;
  advance(now: number): void;

  // Inputs from the application.
  leave(now: number): void;
  resign(now: number): void;
  /** False, and nothing happens, unless this node leads and `id` is a member that may lead. */
  transfer(id: string, now: number): boolean;
  setCandidacy(candidate: boolean, now: number): void;
  setMeta(meta: unknown, now: number): void;
  /** Read when two leaders of one epoch meet. Must not throw; `null` = unset. */
  setTiebreaker(read: (() => Tiebreak | null) | null): void;
  /** The epoch to start above; `null` when it could not be learnt: the node stays ineligible. */
  setFloor(epoch: number | null, now: number): void;
  /** `to`: a member's id, or `null` for everybody. `epoch` 0 = not stamped. False: no route. */
  channelSend(channel: string, to: string | null, data: Uint8Array, epoch: number, now: number): boolean;
  /** Starts a fresh round to all members; ends in one `confirmed` event with the same ticket. */
  confirm(ticket: number, now: number): void;

  // Outputs.
  /** When `advance` wants to be called; `Infinity` after the end. */
  nextDeadline(): number;
  drain(): Effect[];

  // Reads. `members` is sorted by id, frozen, and the same object until something changes.
  readonly state: NodeState;
  readonly members: readonly Member[];
  readonly leader: Member | null;
  readonly epoch: number;
  readonly candidate: boolean;
  /** Whether this node leads and may say so at `now`: false after a stall, before any event. */
  leads(now: number): boolean;
  /** Until when leadership is probable, were nothing more heard; 0 when not leading. */
  validUntil(now: number): number;
  /** Round trip to a member in ms, when measured. */
  rtt(id: string): number | undefined;
}
