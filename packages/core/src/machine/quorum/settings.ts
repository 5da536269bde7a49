import type { EvidenceOptions } from './evidence.ts';
import type { RollOptions } from './roll.ts';
import type { QuorumTiming } from './timing.ts';

/** Options of `quorum()`, checked, with every default filled in. */
export interface QuorumSettings {
  /** Ids of the first voters, sorted. */
  readonly founders: readonly string[];
  readonly timing: QuorumTiming;
  readonly preVote: boolean;
  readonly evidence: EvidenceOptions;
  readonly roll: RollOptions;
  /** Makes the uid of a founding. */
  readonly groupOf: (random: () => number) => string;
}
