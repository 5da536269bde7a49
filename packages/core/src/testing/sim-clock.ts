import type { Scheduler } from './scheduler.ts';

/**
 * The two clocks of one simulated node: a monotonic one, which does not begin at zero, and a wall
 * clock, which can jump. Both run at `rate`. Before `startAt` both stand still.
 */
export class SimClock {
  readonly #scheduler: Scheduler;
  #rate = 1;
  /** How far the wall clock is ahead of the monotonic one. */
  #wallOffsetMs: number;
  /** Where the monotonic clock stood when its rate was last set. */
  #anchor: { readonly at: number; readonly local: number };

  constructor(scheduler: Scheduler, startAt: number, offsetMs: number) {
    this.#scheduler = scheduler;
    this.#anchor = { at: startAt, local: offsetMs };
    this.#wallOffsetMs = WALL_EPOCH_MS + startAt - offsetMs;
  }

  now(): number {
    return this.localAt(this.#scheduler.now);
  }

  wallNow(): number {
    return Math.round(this.#wallOffsetMs + this.now());
  }

  get rate(): number {
    return this.#rate;
  }

  set rate(rate: number) {
    this.#anchor = {
      at: Math.max(this.#scheduler.now, this.#anchor.at),
      local: this.now(),
    };
    this.#rate = rate;
  }

  jump(byMs: number): void {
    this.#wallOffsetMs += byMs;
  }

  localAt(at: number): number {
    return this.#anchor.local + Math.max(0, at - this.#anchor.at) * this.#rate;
  }

  /** The virtual instant at which the monotonic clock shows `local`. */
  virtualAt(local: number): number {
    return this.#anchor.at + (local - this.#anchor.local) / this.#rate;
  }
}

/** When simulations begin: any date that is plausible and easy to recognise, here 2027-01-15. */
const WALL_EPOCH_MS = 1_800_000_000_000;
