import type { Token } from '../fence/token.ts';
import { type FenceVerdict, verdictOn } from '../fence/verdict.ts';

export type { FenceVerdict };

/** One use of a simulated fence. */
export interface FenceEntry {
  /** Virtual milliseconds. */
  readonly at: number;
  readonly token: Token;
  readonly verdict: FenceVerdict;
}

/** A simulated resource that lets only the newest leader act on it. */
export class SimFence {
  readonly #record: (entry: Omit<FenceEntry, 'at'>) => FenceEntry;
  readonly #log: FenceEntry[] = [];
  #mark: Token;

  constructor(cluster: string, record: (entry: Omit<FenceEntry, 'at'>) => FenceEntry) {
    this.#mark = { cluster, epoch: 0, holder: '' };
    this.#record = record;
  }

  /** Everything that was asked of the fence, oldest first. */
  get log(): readonly FenceEntry[] {
    return this.#log;
  }

  /** The highest epoch admitted; 0 before the first. */
  high(): number {
    return this.#mark.epoch;
  }

  /** Judges a token; an admitted one raises the mark in the same step. */
  admit(token: Token): FenceVerdict {
    const verdict = verdictOn(token, this.#mark);
    if (verdict === 'admitted') this.#mark = token;
    this.#log.push(this.#record({ token, verdict }));
    return verdict;
  }
}
