import type { Token } from '../runtime/term.ts';

/** `admitted`, or why not (X1). */
export type FenceVerdict = 'admitted' | 'stale' | 'conflict' | 'foreign';

/** One use of a simulated fence. */
export interface FenceEntry {
  /** Virtual milliseconds. */
  readonly at: number;
  readonly token: Token;
  readonly verdict: FenceVerdict;
}

/** A simulated resource that lets only the newest leader act on it. */
export class SimFence {
  readonly #cluster: string;
  readonly #record: (entry: Omit<FenceEntry, 'at'>) => FenceEntry;
  readonly #log: FenceEntry[] = [];
  #high: Token | null = null;

  constructor(cluster: string, record: (entry: Omit<FenceEntry, 'at'>) => FenceEntry) {
    this.#cluster = cluster;
    this.#record = record;
  }

  /** Everything that was asked of the fence, oldest first. */
  get log(): readonly FenceEntry[] {
    return this.#log;
  }

  /** The highest epoch admitted; 0 before the first. */
  high(): number {
    return this.#high?.epoch ?? 0;
  }

  /** Judges a token; an admitted one raises the mark in the same step. */
  admit(token: Token): FenceVerdict {
    const verdict = this.#judge(token);
    if (verdict === 'admitted') this.#high = token;
    this.#log.push(this.#record({ token, verdict }));
    return verdict;
  }

  #judge(token: Token): FenceVerdict {
    if (token.cluster !== this.#cluster) return 'foreign';
    if (this.#high === null || token.epoch > this.#high.epoch) return 'admitted';
    if (token.epoch < this.#high.epoch) return 'stale';
    return token.holder === this.#high.holder ? 'admitted' : 'conflict';
  }
}
