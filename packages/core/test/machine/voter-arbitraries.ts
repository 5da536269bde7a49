import fc from 'fast-check';
import { EPOCH_MAX } from '../../src/machine/claim.ts';
import { EVIDENCE_BYTES_MAX } from '../../src/machine/quorum/ballot-codec.ts';
import type { BallotMessage, Denial } from '../../src/machine/quorum/ballot-message.ts';
import { sortVoters, VOTERS_MAX } from '../../src/machine/quorum/config.ts';
import { CONFIG_VERSION_MAX } from '../../src/machine/quorum/voter-codec.ts';
import type { VoterRecord } from '../../src/machine/quorum/voter-record.ts';
import { NAME_BYTES_MAX } from '../../src/machine/reading.ts';
import { compareText } from '../../src/machine/record.ts';

const byteLength = (text: string) => new TextEncoder().encode(text).length;

export const name = fc.oneof(
  fc
    .string({ minLength: 1, maxLength: 40, unit: 'grapheme' })
    .filter((text) => byteLength(text) <= NAME_BYTES_MAX),
  fc.constantFrom('é'.repeat(NAME_BYTES_MAX / 2), '\ufeffmarked', 'x'.repeat(NAME_BYTES_MAX)),
);
const group = fc.oneof(fc.constant(''), name);
export const epoch = fc.oneof(fc.nat(3), fc.integer({ min: 0, max: EPOCH_MAX }));
const version = fc.integer({ min: 0, max: CONFIG_VERSION_MAX });
const voter = fc.record({ id: name, storageId: name });
const stander = fc.record({ id: name, storageId: name, instance: name });
const config = fc.record({
  epoch,
  version,
  voters: fc
    .uniqueArray(voter, { minLength: 1, maxLength: VOTERS_MAX, selector: ({ id }) => id })
    .map(sortVoters),
});
const evidence = fc.oneof(
  fc.constant(''),
  fc.json({ maxDepth: 1 }).filter((text) => byteLength(text) <= EVIDENCE_BYTES_MAX),
);
/** All of them: the compiler refuses a denial too few. */
const denials: Record<Denial, true> = {
  epoch: true,
  voted: true,
  sticky: true,
  silent: true,
  evidence: true,
  config: true,
  'not-a-voter': true,
};
const denial = fc.constantFrom(...(Object.keys(denials) as Denial[]));
const of = <T extends BallotMessage['type']>(type: T) => fc.constant(type);

const byType: {
  [T in BallotMessage['type']]: fc.Arbitrary<Extract<BallotMessage, { type: T }>>;
} = {
  ask: fc.record({
    type: of('ask'),
    group,
    isTrial: fc.boolean(),
    epoch,
    candidate: stander,
    config,
    evidence,
    permit: fc.option(fc.record({ epoch, instance: name })),
  }),
  vote: fc.record({
    type: of('vote'),
    group,
    isTrial: fc.boolean(),
    epoch,
    candidate: name,
    voter,
    denial: fc.option(denial, { freq: 3 }),
    reached: epoch,
    evidence,
    config: fc.option(config),
  }),
  beat: fc.record({
    type: of('beat'),
    group,
    epoch,
    leader: stander,
    round: fc.maxSafeNat(),
    configEpoch: epoch,
    configVersion: version,
    config: fc.option(config),
  }),
  ack: fc.record({
    type: of('ack'),
    group,
    epoch,
    round: fc.maxSafeNat(),
    voter,
    configEpoch: epoch,
    configVersion: version,
    evidence,
  }),
  permit: fc.record({ type: of('permit'), group, epoch }),
  introduce: fc.record({
    type: of('introduce'),
    voter,
    founders: fc
      .uniqueArray(name, { maxLength: VOTERS_MAX })
      .map((ids) => [...ids].sort(compareText)),
    wantsAnswer: fc.boolean(),
  }),
  config: fc.record({
    type: of('config'),
    group,
    voter,
    config,
    isComplete: fc.boolean(),
    wantsAnswer: fc.boolean(),
  }),
};

/** Well-formed messages of every type. */
export const ballots: fc.Arbitrary<BallotMessage> = fc.oneof(...Object.values(byType));

export const voterRecords: fc.Arbitrary<VoterRecord> = fc.record({
  group,
  storageId: name,
  epoch,
  votedFor: fc.option(stander),
  config: fc.option(config),
});
