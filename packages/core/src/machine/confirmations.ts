import type { Kernel } from './kernel.ts';

interface Confirmation {
  readonly ticket: number;
  readonly since: number;
}

/**
 * Rounds that the application asked for: do those on whom the term rests still answer this leader
 * (Q7)?
 */
export class Confirmations {
  readonly #kernel: Kernel;
  #open: Confirmation[] = [];

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
  }

  start(ticket: number): void {
    const { outbox, election, now } = this.#kernel;
    if (this.#open.length >= CONFIRMATIONS_OPEN_MAX) {
      return outbox.emit({ type: 'confirmed', ticket, ok: false });
    }
    this.#open.push({ ticket, since: now });
    election.ask();
  }

  /** An answer came: a round may be over. */
  answered(): void {
    if (this.#open.length > 0) this.#kernel.wake(this.#kernel.now);
  }

  /** Ends the rounds that are over, for a node that `leads` or not; gives the time of the next. */
  poll(now: number, leads: boolean): number {
    if (this.#open.length === 0) return Number.POSITIVE_INFINITY;
    this.#open = this.#open.filter(({ ticket, since }) => {
      const { election, outbox } = this.#kernel;
      const ok = leads && election.isConfirmed(since);
      // A term that is in doubt, or between two leases, may still be confirmed.
      if (!ok && election.isInTerm && now < since + CONFIRM_MS) return true;
      outbox.emit({ type: 'confirmed', ticket, ok });
      return false;
    });
    return Math.min(...this.#open.map(({ since }) => since + CONFIRM_MS));
  }
}

/** Two lost bursts: after it a round has failed. */
const CONFIRM_MS = 3000;
const CONFIRMATIONS_OPEN_MAX = 64;
