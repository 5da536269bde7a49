const BASE_MS = 1_000;
const CAP_MS = 30_000;

/**
 * Delays before reconnecting: doubling from 1 s to 30 s, with the jitter over the whole delay and
 * applied after the cap. Jitter before the cap would bring all clients of a dead server back
 * together once they have reached it.
 */
export class Backoff {
  readonly #random: () => number;
  #failures = 0;

  constructor(random: () => number) {
    this.#random = random;
  }

  /** The next delay in ms. */
  next(): number {
    const ceiling = Math.min(CAP_MS, BASE_MS * 2 ** this.#failures);
    this.#failures = Math.min(this.#failures + 1, 16);
    return this.#random() * ceiling;
  }

  /** A delay in ms spread evenly, as a server that drains asks for. */
  spread(spreadMs: number): number {
    return this.#random() * spreadMs;
  }

  /** The connection has lasted: start over. */
  reset(): void {
    this.#failures = 0;
  }
}
