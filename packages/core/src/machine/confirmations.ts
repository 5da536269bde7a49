import type { Kernel } from './kernel.ts';

interface Confirmation {
  readonly ticket: number;
  readonly since: number;
}

/**
 * Rounds that the application asked for: does most of the roster, suspects included, still answer
 * this leader (Q7)? Most, so that a leader cut off from the others is not told that it leads them.
 */
export class Confirmations {
  readonly #kernel: Kernel;
  #open: Confirmation[] = [];

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
  }

  start(ticket: number): void {
    const { outbox, detector, now } = this.#kernel;
    if (this.#open.length >= CONFIRMATIONS_OPEN_MAX) {
      return outbox.emit({ type: 'confirmed', ticket, ok: false });
    }
    this.#open.push({ ticket, since: now });
    detector.hurry();
  }

  /** An answer came: a round may be over. */
  answered(): void {
    if (this.#open.length > 0) this.#kernel.wake(this.#kernel.now);
  }

  /** Ends the rounds that are over, for a node that `leads` or not; gives the time of the next. */
  poll(now: number, leads: boolean): number {
    if (this.#open.length === 0) return Number.POSITIVE_INFINITY;
    this.#open = this.#open.filter(({ ticket, since }) => {
      const isConfirmed = this.#isConfirmed(since);
      if (leads && !isConfirmed && now < since + CONFIRM_MS) return true;
      this.#kernel.outbox.emit({ type: 'confirmed', ticket, ok: leads && isConfirmed });
      return false;
    });
    return Math.min(...this.#open.map(({ since }) => since + CONFIRM_MS));
  }

  #isConfirmed(since: number): boolean {
    const { detector, roster } = this.#kernel;
    const answered = [...roster.others()].filter((entry) => detector.hasAnswered(entry, since));
    return 2 * (answered.length + 1) > roster.size;
  }
}

/** Two lost bursts: after it a round has failed. */
const CONFIRM_MS = 3000;
const CONFIRMATIONS_OPEN_MAX = 64;
