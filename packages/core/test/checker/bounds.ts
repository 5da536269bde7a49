import type { BallotRules } from '../../src/machine/quorum/ballot.ts';

/** How large a world is, and what can happen in it. */
export interface Bounds {
  readonly voters: number;
  readonly epochs: number;
  /** Versions of the config, that of the founding being the first. */
  readonly versions: number;
  /** Whether the last voter may lose its storage, once; it comes back with a new one. */
  readonly hasLoss: boolean;
  /** Whether there is a fence at which whoever leads may act at any time. */
  readonly hasFence: boolean;
  /** Whether others may act while a voter writes; if not, the end of the write comes at once. */
  readonly hasOpenWrites: boolean;
  /** Whether nobody crashes, ends a candidacy, or hears what was not said to it: far fewer states. */
  readonly isCalm: boolean;
  /** Whether states that differ only in the names of voters are one. */
  readonly hasSymmetry: boolean;
}

/** All that the rules are checked for in the long run. */
export const BOUNDS: Bounds = {
  voters: 3,
  epochs: 3,
  versions: 3,
  hasLoss: false,
  hasFence: false,
  hasOpenWrites: false,
  isCalm: false,
  hasSymmetry: true,
};

/** What is watched: that no epoch is won twice, what a fence admits, what a disk holds. */
export type Watch = 'wins' | 'fence' | 'disk';

export const WATCHED: readonly Watch[] = ['wins', 'fence', 'disk'];

export interface WorldOptions extends Partial<Bounds> {
  /** @defaultValue those that are shipped */
  readonly rules?: BallotRules;
  /** @defaultValue all */
  readonly watched?: readonly Watch[];
}
