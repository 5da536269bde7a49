import { BALLOT_RULES, type BallotRules } from '../../src/machine/quorum/ballot.ts';
import { majorityOf } from '../../src/machine/quorum/config.ts';
import type { WorldOptions } from './bounds.ts';

/** A rule that is taken away. */
export interface BrokenRule {
  /** The member of the rules that it takes. */
  readonly name: keyof BallotRules;
  /** When two lead in one epoch then. */
  readonly when: string;
  /** The smallest world in which that is found. */
  readonly world: WorldOptions;
}

export const BROKEN_RULES: readonly BrokenRule[] = [
  broken('votesByConfig', 'a candidate with an older config gets votes', { votesByConfig: false }),
  broken('needsHolders', 'a change does not wait until the config before it is held', {
    needsHolders: false,
  }),
  broken('countsOwnEpoch', 'it counts as held by voters that are in another epoch', {
    countsOwnEpoch: false,
  }),
  broken('differenceMax', 'the voters change by more than one at a time', {
    differenceMax: Number.POSITIVE_INFINITY,
  }),
  broken('clearsHolders', 'who holds a config counts for the next one too', {
    clearsHolders: false,
  }),
  broken('votesOnce', 'a voter votes twice in one epoch', { votesOnce: false }),
  broken(
    'hasVoter',
    'a voter that has lost its storage votes on under its id',
    { hasVoter: (config, { id }) => config?.voters.some((voter) => voter.id === id) ?? false },
    { hasLoss: true },
  ),
  broken(
    'majorityOf',
    'a majority is one of the two voters that are in view, of four',
    { majorityOf: () => majorityOf(2) },
    { voters: 4 },
  ),
  broken(
    'compareConfigs',
    'the order of configs is that of their versions alone',
    { compareConfigs: (a, b) => a.version - b.version, rewritesConfig: false },
    { epochs: 3, isCalm: true },
  ),
  broken(
    'entersConfigEpoch',
    'who takes a config stands in the epoch in which it was written',
    { entersConfigEpoch: false },
    { epochs: 1, hasLoss: true },
  ),
];

function broken(
  name: keyof BallotRules,
  when: string,
  rules: Partial<BallotRules>,
  bounds: WorldOptions = {},
): BrokenRule {
  const world = { epochs: 2, ...bounds, rules: { ...BALLOT_RULES, ...rules } };
  return { name, when, world };
}
