import type { Voter, VoterConfig } from './config.ts';

/** Who stood in an election: one start of a voter. */
export interface Stander extends Voter {
  readonly instance: string;
}

/** All that a voter must never forget, stored as one (Q1). */
export interface VoterRecord {
  /** Random uid of the founding of these voters; '' before it. */
  readonly group: string;
  readonly storageId: string;
  /** The highest epoch that this voter has taken part in. */
  readonly epoch: number;
  /** For whom it has voted in that epoch. */
  readonly votedFor: Stander | null;
  readonly config: VoterConfig | null;
}

/** What a voter knows that has never stored anything. */
export function blankRecord(storageId: string): VoterRecord {
  return { group: '', storageId, epoch: 0, votedFor: null, config: null };
}
