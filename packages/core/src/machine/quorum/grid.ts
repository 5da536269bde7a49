/**
 * Whether this node's timers fire when they are asked to. Those of hidden tabs fire once a second,
 * and heartbeats of a second are always in time there; so now and then an odd time is asked for.
 */
export class Grid {
  readonly #random: () => number;
  #probeAt = Number.POSITIVE_INFINITY;
  #nextAt = Number.NEGATIVE_INFINITY;
  #lates: boolean[] = [];

  constructor(random: () => number) {
    this.#random = random;
  }

  get isCoarse(): boolean {
    return this.#lates.some((isLate) => isLate);
  }

  /** There is time for a look. */
  probe(now: number): void {
    if (now < this.#nextAt) return;
    this.#probeAt = now + PROBE_MIN_MS + this.#random() * PROBE_SPREAD_MS;
    this.#nextAt = now + PROBE_INTERVAL_MS;
  }

  /** Takes the time when a look is due; gives when that is. */
  poll(now: number): number {
    if (now < this.#probeAt) return this.#probeAt;
    this.#lates.push(now - this.#probeAt > LATE_MS);
    if (this.#lates.length > PROBES_COUNT) this.#lates.shift();
    this.#probeAt = Number.POSITIVE_INFINITY;
    return this.#probeAt;
  }
}

/** Anywhere between two beats of a second. */
const PROBE_MIN_MS = 100;
const PROBE_SPREAD_MS = 700;
/** Seldom enough to cost nothing, often enough to know it before an election. */
const PROBE_INTERVAL_MS = 3000;
/** More than a busy moment. */
const LATE_MS = 150;
/** On a grid of a second most of them are late. */
const PROBES_COUNT = 4;
