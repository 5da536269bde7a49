import { majorityOf, type Voter } from './config.ts';

/**
 * Until when no other voter can be elected: counted from when the leader *sent* the beat that the
 * last voter of a quorum has acknowledged (Q6). Acknowledgements count for one config only.
 */
export class Lease {
  readonly #leaseMs: number;
  /** When each round was sent, oldest first. */
  readonly #sentAt = new Map<number, number>();
  /** Send time of the latest round that each other voter has acknowledged, by its id. */
  readonly #acked = new Map<string, number>();
  #round = 0;
  /** Voters of the config in force, this one included. */
  #voterCount = 0;
  /** The latest end that any config of this term has given. */
  #heldUntil = Number.NEGATIVE_INFINITY;
  #quorumSentAt = Number.NEGATIVE_INFINITY;

  constructor(leaseMs: number) {
    this.#leaseMs = leaseMs;
  }

  /** A config is in force: what was acknowledged under another counts no more. */
  begin(voterCount: number): void {
    this.#voterCount = voterCount;
    this.#acked.clear();
    this.#sentAt.clear();
    this.#quorumSentAt = Number.NEGATIVE_INFINITY;
  }

  /** The term is over. */
  end(): void {
    this.begin(0);
    this.#heldUntil = Number.NEGATIVE_INFINITY;
  }

  /** A round goes out to all voters; gives its number. */
  send(now: number): number {
    this.#round += 1;
    this.#sentAt.set(this.#round, now);
    for (const round of this.#sentAt.keys()) {
      if (this.#sentAt.size <= ROUNDS_MAX) break;
      this.#sentAt.delete(round);
    }
    this.#count(now);
    return this.#round;
  }

  /** Another voter of the config has acknowledged a round. */
  acknowledge(voter: Voter, round: number, now: number): void {
    const sentAt = this.#sentAt.get(round);
    if (sentAt === undefined) return;
    const before = this.#acked.get(voter.id) ?? Number.NEGATIVE_INFINITY;
    this.#acked.set(voter.id, Math.max(before, sentAt));
    this.#count(now);
  }

  /** Send time of the latest round that a quorum has acknowledged. */
  get quorumSentAt(): number {
    return this.#quorumSentAt;
  }

  /** End of the lease under the config in force; `-Infinity` before its first round. */
  get until(): number {
    return this.#quorumSentAt + this.#leaseMs;
  }

  /** When a term ends unless a quorum answers (Q4). */
  get heldUntil(): number {
    return this.#heldUntil;
  }

  #count(now: number): void {
    const others = majorityOf(this.#voterCount) - 1;
    const sent = [...this.#acked.values()].sort((a, b) => b - a);
    const at = others === 0 ? now : sent[others - 1];
    if (at === undefined) return;
    this.#quorumSentAt = Math.max(this.#quorumSentAt, at);
    this.#heldUntil = Math.max(this.#heldUntil, this.until);
  }
}

/** Rounds whose acknowledgements may still come: some leases long, at the shortest interval. */
const ROUNDS_MAX = 64;
