import { type QuorumTiming, RANK_STEP_THROTTLED_MS } from './timing.ts';

/**
 * When this voter stands (Q5): once no leader was heard for long enough, the first in rank first, and
 * after each failure a little more at random.
 */
export class Schedule {
  readonly #timing: QuorumTiming;
  readonly #random: () => number;
  #baseAt = Number.POSITIVE_INFINITY;
  #draw: number;
  #failures = 0;

  constructor(timing: QuorumTiming, random: () => number) {
    this.#timing = timing;
    this.#random = random;
    this.#draw = random();
  }

  /** A leader was heard: nobody stands for an election timeout. */
  heard(now: number): void {
    if (this.#failures > 0) this.#draw = this.#random();
    this.#failures = 0;
    this.#baseAt = now + this.#timing.electionTimeoutMs[0];
  }

  /** Nobody leads, and nobody is to be waited for, but until `at`. */
  open(at: number): void {
    this.#baseAt = at;
    this.#draw = this.#random();
  }

  /** A candidacy came to nothing. */
  failed(now: number): void {
    this.#failures += 1;
    this.open(now);
  }

  /** When the voter of this rank stands; 0 is the first. */
  at(rank: number, isThrottled: boolean): number {
    const { electionTimeoutMs, rankStepMs, backoffFactor, backoffMaxMs } = this.#timing;
    const [low, high] = electionTimeoutMs;
    const stepMs = isThrottled ? Math.max(rankStepMs, RANK_STEP_THROTTLED_MS) : rankStepMs;
    const widestMs = (high - low) * backoffFactor ** this.#failures;
    return this.#baseAt + rank * stepMs + this.#draw * Math.min(widestMs, backoffMaxMs);
  }
}
