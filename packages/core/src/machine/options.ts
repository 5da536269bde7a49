import type { Elect } from './election.ts';
import type { Strategy } from './strategy.ts';

/** How failure is detected; all in milliseconds. */
export interface Detection {
  /** Between two pings of one link. */
  readonly heartbeatIntervalMs: number;
  /** From suspicion to eviction, and the longest that a silent leader keeps the lead. */
  readonly suspicionMs: number;
  /** From suspicion to loss of the lead when every expected watcher confirms. */
  readonly leaderSuspicionMinMs: number;
}

export interface MachineOptions {
  readonly cluster: string;
  readonly id: string;
  readonly instance: string;
  readonly startedAt: number;
  /** `false` when `startedAt` was given or is 0, or seniority is by wall clock: never restamped. */
  readonly restampable: boolean;
  readonly meta?: unknown;
  /** Who ranks before whom. */
  readonly strategy: Strategy;
  /** @defaultValue the bully election */
  readonly elect?: Elect;
  /** Name of mode, strategy and seniority; nodes that differ in it refuse each other (E12). */
  readonly fingerprint: string;
  readonly detection: Detection;
  readonly joinGraceMs: number;
  /** A leader that is hidden for so long hands over to a member that can be seen; never without. */
  readonly handOverHiddenAfterMs?: number;
  /** Ineligible until `setFloor` is called (E11). */
  readonly floorPending: boolean;
  /** Whether what is to be stored will be: the node is no voter until `restore` is called. */
  readonly hasStore?: boolean;
  readonly random: () => number;
  readonly now: number;
}
