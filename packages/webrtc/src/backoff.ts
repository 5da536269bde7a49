/** Full-jitter back-off: uniform in [0, base · 2ⁿ], so that a crowd does not come back as one. */
export class Backoff {
  #failures = 0;

  /** Milliseconds to wait before the next try. */
  nextDelayMs(): number {
    const ceilingMs = Math.min(CEILING_MS, BASE_MS * 2 ** this.#failures);
    this.#failures += 1;
    return Math.random() * ceilingMs;
  }

  reset(): void {
    this.#failures = 0;
  }
}

/** About one connection set-up on a good network. */
const BASE_MS = 250;
/** A healed network is found within this time. */
const CEILING_MS = 10_000;
