import type { Permit } from './ballot-message.ts';
import { hasVoter, majorityOf, type Voter, type VoterConfig } from './config.ts';

/** One round of questions: whether there would be votes (a trial), or for the votes themselves. */
export class Campaign {
  readonly isTrial: boolean;
  readonly epoch: number;
  readonly permit: Permit | null;
  readonly config: VoterConfig;
  readonly until: number;
  #askedAt = Number.NEGATIVE_INFINITY;
  /** Ids: each stands for one voter of the config. */
  readonly #granted = new Set<string>();
  readonly #denied = new Set<string>();
  /** Evidence of those who have granted (Q11). */
  readonly evidence: string[];

  constructor(parts: {
    readonly isTrial: boolean;
    readonly epoch: number;
    readonly permit: Permit | null;
    readonly config: VoterConfig;
    readonly self: Voter;
    readonly evidence: string;
    readonly now: number;
  }) {
    this.isTrial = parts.isTrial;
    this.epoch = parts.epoch;
    this.permit = parts.permit;
    this.config = parts.config;
    this.until = parts.now + CAMPAIGN_MS;
    this.#granted.add(parts.self.id);
    this.evidence = [parts.evidence];
  }

  count(voter: Voter, isGranted: boolean, evidence: string): void {
    if (!hasVoter(this.config, voter) || this.#granted.has(voter.id)) return;
    if (!isGranted) {
      this.#denied.add(voter.id);
      return;
    }
    this.#denied.delete(voter.id);
    this.#granted.add(voter.id);
    this.evidence.push(evidence);
  }

  get tally(): 'won' | 'lost' | 'open' {
    const count = this.config.voters.length;
    if (this.#granted.size >= majorityOf(count)) return 'won';
    return this.#denied.size > count - majorityOf(count) ? 'lost' : 'open';
  }

  /** Whom to ask now, if it is time: those who have not granted yet. */
  due(now: number): readonly Voter[] {
    if (now < this.#askedAt + AGAIN_MS) return [];
    this.#askedAt = now;
    return this.config.voters.filter(({ id }) => !this.#granted.has(id));
  }

  /** When there is something to do. */
  poll(): number {
    return Math.min(this.until, this.#askedAt + AGAIN_MS);
  }
}

/** Room for a question, a durable write and an answer, twice over; also on timers of a second. */
const CAMPAIGN_MS = 1500;
/** Questions get lost, and voters that were writing let them pass. */
const AGAIN_MS = 300;
