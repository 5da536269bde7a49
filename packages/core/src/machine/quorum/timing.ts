/** When votes are asked for and refused; all in milliseconds. */
export interface QuorumTiming {
  /**
   * For so long after it has heard a leader, a voter elects no other; and a voter that has just
   * started says nothing for so long (Q4, Q6).
   */
  readonly stickyMs: number;
  /** Between two beats of the leader to its voters. */
  readonly beatMs: number;
  /** How long a term is valid after the quorum's last acknowledged beat; at most 0.8 × sticky. */
  readonly leaseMs: number;
  /** Shortest and longest silence of the leader before the first in rank stands. */
  readonly electionTimeoutMs: readonly [number, number];
  /** How much later each next in rank stands. */
  readonly rankStepMs: number;
  /** How much longer the random part is after each failed candidacy. */
  readonly backoffFactor: number;
  readonly backoffMaxMs: number;
}

/** Rank steps on timers that fire once a second only: the next in rank must not get the same one. */
export const RANK_STEP_THROTTLED_MS = 1200;
