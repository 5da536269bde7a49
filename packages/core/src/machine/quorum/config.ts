import { compareText } from '../record.ts';

/** Who may vote: a node under its id *with the storage it voted with*. Lost storage is another voter (Q2). */
export interface Voter {
  readonly id: string;
  readonly storageId: string;
}

/** The voters of a cluster, at one step of their history (Q9). */
export interface VoterConfig {
  /** Epoch of the leader that wrote it; 0 at the founding. */
  readonly epoch: number;
  readonly version: number;
  /** Sorted by id; never empty, no id twice. */
  readonly voters: readonly Voter[];
}

export function isSameVoter(a: Voter, b: Voter): boolean {
  return a.id === b.id && a.storageId === b.storageId;
}

export function hasVoter(config: VoterConfig | null, voter: Voter): boolean {
  return config?.voters.some((one) => isSameVoter(one, voter)) ?? false;
}

/** Which one is newer: by epoch first, never by version alone (Q9). */
export function compareConfigs(
  a: Pick<VoterConfig, 'epoch' | 'version'>,
  b: Pick<VoterConfig, 'epoch' | 'version'>,
): number {
  return a.epoch - b.epoch || a.version - b.version;
}

/** Votes that make a majority of so many voters. */
export function majorityOf(voterCount: number): number {
  return Math.floor(voterCount / 2) + 1;
}

/** How many voters are in one of both and not in the other: at most one may be (Q9). */
export function differenceOf(a: readonly Voter[], b: readonly Voter[]): number {
  const only = (some: readonly Voter[], others: readonly Voter[]) =>
    some.filter((voter) => !others.some((other) => isSameVoter(voter, other))).length;
  return only(a, b) + only(b, a);
}

/** In the order of a config. */
export function sortVoters(voters: readonly Voter[]): Voter[] {
  return [...voters].sort((a, b) => compareText(a.id, b.id));
}

/** Their votes would cost more than they add: quorums of larger sets are slow (Q0). */
export const VOTERS_MAX = 15;
