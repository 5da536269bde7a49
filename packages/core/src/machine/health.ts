/**
 * How far this node may trust its own ears: 0 is well. Whatever hints at a fault of its own makes
 * it more patient with others (Lifeguard's local health multiplier, Dadgar et al. 2018, §IV-A).
 */
export class Health {
  #score = 0;
  #lastFaultAt = Number.NEGATIVE_INFINITY;
  #lastStepAt = Number.NEGATIVE_INFINITY;

  get score(): number {
    return this.#score;
  }

  /** What time-outs and the shortest suspicion are multiplied by. */
  get factor(): number {
    return this.#score + 1;
  }

  fault(weight: number, now: number): void {
    this.#score = Math.min(SCORE_MAX, this.#score + weight);
    this.#lastFaultAt = now;
    this.#lastStepAt = now;
  }

  /** A timer came `lateMs` after it was due. */
  timer(lateMs: number, now: number): void {
    if (lateMs > VERY_LATE_MS) this.fault(2, now);
    else if (lateMs > LATE_MS) this.fault(1, now);
  }

  /** One point better for each interval without a fault. */
  recover(now: number, intervalMs: number): void {
    if (this.#score === 0 || now < this.#lastStepAt + intervalMs) return;
    this.#lastStepAt = now;
    if (now >= this.#lastFaultAt + intervalMs) this.#score--;
  }
}

/** Eight times as patient at the most, as in Lifeguard. */
const SCORE_MAX = 7;
/** Later than scheduling explains. */
const LATE_MS = 250;
const VERY_LATE_MS = 1000;
