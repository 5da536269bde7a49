/**
 * Knows this node's own pauses: a gap between two inputs of any kind, longer than the timers' grid
 * allows, is ours and not the others' silence (M9).
 */
export class Stall {
  readonly #limitMs: number;
  #lastInputAt: number;
  /** The longest gap since the last timer. */
  #widestMs = 0;
  /** When the last gap ended that would be a stall but for the grid: what came in it is queued. */
  gapAt = Number.NEGATIVE_INFINITY;
  /** Between the last timers; 0 for one that came in time. */
  #spacingsMs: number[] = [];
  /** The spacing that the last timers all kept to: one late timer alone is no grid. */
  #gridMs = 0;

  constructor(heartbeatIntervalMs: number, now: number) {
    this.#limitMs = Math.max(2 * heartbeatIntervalMs, LIMIT_MIN_MS);
    this.#lastInputAt = now;
  }

  /** Whether a read at `now` comes after a gap that no input has told of yet. */
  isOverdue(now: number): boolean {
    return now - this.#lastInputAt > this.limitMs;
  }

  /** The longest gap that is not a stall. */
  get limitMs(): number {
    return Math.max(this.#limitMs, GRID_SLACK * this.#gridMs);
  }

  /** The spacing that the last timers all kept to; 0 when they came in time. */
  get gridMs(): number {
    return this.#gridMs;
  }

  /** Notes an input; gives the length of the gap before it when that was a stall, else 0. */
  input(now: number): number {
    const gap = now - this.#lastInputAt;
    const stalled = gap > this.limitMs;
    this.#widestMs = Math.max(this.#widestMs, gap);
    if (gap > this.#limitMs) this.gapAt = now;
    this.#lastInputAt = now;
    return stalled ? gap : 0;
  }

  /**
   * Notes a timer, before its input, `lateMs` after it was due: hidden tabs get theirs on a coarse
   * grid. What counts is how long nothing at all came between two timers: messages of others come
   * on no grid, and without them for so long it is a stall again.
   */
  timer(now: number, lateMs: number): void {
    const widestMs = Math.max(this.#widestMs, now - this.#lastInputAt);
    this.#widestMs = 0;
    this.#spacingsMs.push(lateMs > LATE_MS ? widestMs : 0);
    if (this.#spacingsMs.length > GRID_SAMPLES) this.#spacingsMs.shift();
    const isGrid = this.#spacingsMs.length === GRID_SAMPLES;
    this.#gridMs = isGrid ? Math.min(...this.#spacingsMs) : 0;
  }
}

/** Shorter gaps are ordinary scheduling (M9). */
const LIMIT_MIN_MS = 1000;
/** Timers later than this are throttled, not merely busy. */
const LATE_MS = 250;
const GRID_SAMPLES = 3;
/** Chained timers on a grid may skip one slot by alignment; half a slot more is measured slack. */
const GRID_SLACK = 1.5;
