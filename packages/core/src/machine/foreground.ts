import type { Kernel } from './kernel.ts';
import type { Entry } from './roster.ts';

/**
 * Keeps the lead with a page that can be seen, where that is asked for: a leader that has been
 * hidden for so long names a member that has been visible for so long. Both times count, so that
 * nothing moves while somebody switches faster, and one switch moves the lead once.
 */
export class Foreground {
  readonly #kernel: Kernel;
  #askedAt = Number.NEGATIVE_INFINITY;

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
  }

  /** Proposes a handover when it is due, of a node that `leads` or not; gives the time of the next. */
  poll(now: number, leads: boolean): number {
    const afterMs = this.#kernel.options.handOverHiddenAfterMs;
    const { self } = this.#kernel.roster;
    if (afterMs === undefined || !leads || !self.record.hidden) return Number.POSITIVE_INFINITY;
    const target = this.#longestVisible();
    if (!target) return Number.POSITIVE_INFINITY;
    const switchedAt = Math.max(self.switchedAt, target.switchedAt);
    const dueAt = Math.max(switchedAt + afterMs, this.#askedAt + RETRY_MS);
    if (now < dueAt) return dueAt;
    this.#askedAt = now;
    this.#kernel.outbox.emit({ type: 'yield', to: target.record.id });
    return now + RETRY_MS;
  }

  #longestVisible(): Entry | null {
    let best: Entry | null = null;
    for (const entry of this.#kernel.roster.others()) {
      const { record, suspectedAt, switchedAt } = entry;
      if (!record.candidate || record.hidden || suspectedAt !== null) continue;
      if (!best || switchedAt < best.switchedAt) best = entry;
    }
    return best;
  }
}

/** A handover that has failed has ended by then, with the work of the leader interrupted: no sooner. */
const RETRY_MS = 30_000;
