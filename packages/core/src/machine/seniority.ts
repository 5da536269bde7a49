import type { Claim } from './claim.ts';
import { STARTED_AT_MAX } from './codec.ts';
import type { Kernel } from './kernel.ts';

/** How long this node has been in company, whatever its clock says (E2). */
export class Seniority {
  /** It has led another. */
  hasLed = false;
  /** It has followed another. */
  hasFollowed = false;
  /** A claim of another node has been seen. */
  #hasMet = false;
  readonly #kernel: Kernel;

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
  }

  get isInCompany(): boolean {
    return this.hasLed || this.hasFollowed;
  }

  /**
   * A newcomer does not jump the queue. Only the first claim of another counts, of whatever epoch:
   * later ones would cost those who have long followed their seniority.
   */
  meet(claim: Claim): void {
    const { options, roster } = this.#kernel;
    if (this.#hasMet || claim.instance === options.instance) return;
    this.#hasMet = true;
    if (!options.restampable || this.hasLed || !claim.led) return;
    let newest = claim.leader.startedAt;
    for (const { record } of roster.others()) newest = Math.max(newest, record.startedAt);
    const own = roster.self.record.startedAt;
    const startedAt = Math.max(own, Math.min(newest + 1, STARTED_AT_MAX));
    if (startedAt !== own) roster.changeSelf({ startedAt });
  }
}
