/**
 * How long this node's side nominates nobody after a fence has refused it (X2): another side leads
 * and works there. Two sides that share a fence but not a network would otherwise take it from each
 * other in turns.
 */
export class Fencing {
  #high = 0;
  #until = Number.NEGATIVE_INFINITY;
  #refusals = 0;
  #refusedAt = Number.NEGATIVE_INFINITY;

  /** A fence that has seen `high` refused this leader; gives the time to stand back in ms. */
  refused(high: number, now: number, random: number): number {
    const isForgiven = now - this.#refusedAt > FORGIVE_MS;
    this.#refusals = isForgiven ? 1 : this.#refusals + 1;
    this.#refusedAt = now;
    const longestMs = Math.min(BACKOFF_MS * 2 ** (this.#refusals - 1), BACKOFF_MAX_MS);
    const backoffMs = Math.ceil(longestMs * (0.5 + random / 2));
    this.hold(high, backoffMs, now);
    return backoffMs;
  }

  /** The leader of this side was refused. */
  hold(high: number, backoffMs: number, now: number): void {
    this.#high = Math.max(this.#high, high);
    this.#until = Math.max(this.#until, now + Math.min(backoffMs, BACKOFF_MAX_MS));
  }

  /** A claim that the fence knows, or a newer one, has come: its leader is met. */
  heard(epoch: number): void {
    if (epoch >= this.#high) this.#until = Number.NEGATIVE_INFINITY;
  }

  isHeld(now: number): boolean {
    return now < this.#until;
  }

  /** When there is something to do; `Infinity` for nothing. */
  poll(now: number): number {
    return this.isHeld(now) ? this.#until : Number.POSITIVE_INFINITY;
  }
}

/** Half of it at least; doubled with each refusal (X2). */
const BACKOFF_MS = 10_000;
export const BACKOFF_MAX_MS = 160_000;
/** A side that was not refused for so long starts again at the shortest. */
const FORGIVE_MS = 10 * 60_000;
