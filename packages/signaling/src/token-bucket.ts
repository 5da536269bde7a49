/**
 * Allows `perSec` units a second in bursts of `burst`. What is refused is charged all the same: who
 * keeps sending runs up a debt; a debt of one burst, the largest there is, marks a flood.
 */
export class TokenBucket {
  readonly #burst: number;
  readonly #perMs: number;
  #tokens: number;
  #at: number;

  constructor({ perSec, burst, now }: { perSec: number; burst: number; now: number }) {
    this.#burst = burst;
    this.#perMs = perSec / 1000;
    this.#tokens = burst;
    this.#at = now;
  }

  /** Charges `cost`; gives the ms to wait until there is credit again, 0 when it was covered. */
  take(cost: number, now: number): number {
    this.#refill(now);
    this.#tokens = Math.max(this.#tokens - cost, -this.#burst);
    return this.#tokens >= 0 ? 0 : Math.ceil((1 - this.#tokens) / this.#perMs);
  }

  /** Whether the debt has reached one burst. */
  get isFlooded(): boolean {
    return this.#tokens <= -this.#burst;
  }

  /** Whether nothing is left to remember. */
  isFull(now: number): boolean {
    this.#refill(now);
    return this.#tokens >= this.#burst;
  }

  #refill(now: number): void {
    const elapsed = Math.max(0, now - this.#at);
    this.#at = Math.max(this.#at, now);
    this.#tokens = Math.min(this.#burst, this.#tokens + elapsed * this.#perMs);
  }
}
