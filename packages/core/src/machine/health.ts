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

  /** A timer came so late after it was due. A grid that timers keep to is no illness: hidden tabs. */
  timer(lateMs: number, gridMs: number, now: number): void {
    if (lateMs > Math.max(LATE_MS, GRID_SLACK * gridMs)) this.fault(1, now);
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
/** Later than throttling to once a second explains. */
const LATE_MS = 1000;
/** As for stalls: a timer on a grid may miss one slot by alignment. */
const GRID_SLACK = 1.5;
