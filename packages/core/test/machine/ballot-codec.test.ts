import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BALLOT_BYTES_MAX } from '../../src/machine/codec.ts';
import {
  decodeBallot,
  EVIDENCE_BYTES_MAX,
  encodeBallot,
} from '../../src/machine/quorum/ballot-codec.ts';
import type {
  AskMessage,
  BallotMessage,
  IntroduceMessage,
} from '../../src/machine/quorum/ballot-message.ts';
import { VOTERS_MAX } from '../../src/machine/quorum/config.ts';
import { CodecError } from '../../src/machine/reading.ts';
import { between, seededRandom } from '../../src/testing/sim-random.ts';
import { ballots } from './voter-arbitraries.ts';

const long = (text: string) => text.padEnd(128, 'x');
const voters = Array.from({ length: VOTERS_MAX }, (_, index) => ({
  id: long(String.fromCharCode(97 + index)),
  storageId: long('storage'),
}));
/** The largest ask that there is. */
const ask: AskMessage = {
  type: 'ask',
  group: long('group'),
  isTrial: false,
  epoch: 2 ** 53 - 2 ** 32,
  candidate: { id: long('a'), storageId: long('storage'), instance: long('instance') },
  config: { epoch: 2 ** 53 - 2 ** 32, version: 2 ** 32, voters },
  evidence: `"${'e'.repeat(EVIDENCE_BYTES_MAX - 2)}"`,
  permit: { epoch: 2 ** 53 - 2 ** 32, instance: long('instance') },
};
const introduce: IntroduceMessage = {
  type: 'introduce',
  voter: { id: 'b', storageId: 's' },
  founders: ['a', 'b', 'c'],
  wantsAnswer: true,
};

const isRefused = (message: BallotMessage) =>
  expect(() => decodeBallot(encodeBallot(message))).toThrow(CodecError);
const askOf = (some: AskMessage['config']['voters']): AskMessage => ({
  ...ask,
  config: { ...ask.config, voters: some },
});

describe('ballot codec', () => {
  it('M11: every message of voters comes back as it was', () => {
    const seen = new Set<string>();
    fc.assert(
      fc.property(ballots, (message) => {
        seen.add(message.type);
        expect(decodeBallot(encodeBallot(message))).toEqual(message);
      }),
      { numRuns: 1000, seed: 1 },
    );
    expect(seen.size).toBe(7);
  });

  it('M11: the largest message of voters fits its bound', () => {
    const bytes = encodeBallot(ask);
    expect(bytes.length).toBeLessThan(BALLOT_BYTES_MAX);
    expect(decodeBallot(bytes)).toEqual(ask);
    const padded = new Uint8Array(BALLOT_BYTES_MAX + 1);
    padded.set(bytes);
    expect(() => decodeBallot(padded)).toThrow(`above ${BALLOT_BYTES_MAX} bytes`);
  });

  it('M11: a message of voters cut short anywhere, or with a byte more, is refused', () => {
    for (const message of fc.sample(ballots, { numRuns: 30, seed: 2 })) {
      const whole = encodeBallot(message);
      for (let length = 0; length < whole.length; length++) {
        expect(() => decodeBallot(whole.subarray(0, length))).toThrow(CodecError);
      }
      expect(() => decodeBallot(Uint8Array.of(...whole, 0))).toThrow(CodecError);
    }
  });

  it('M11: what voters say out of bounds is refused', () => {
    isRefused({ ...ask, epoch: 2 ** 53 - 2 ** 32 + 1 });
    isRefused({ ...ask, group: `${long('group')}x` });
    isRefused({ ...ask, candidate: { ...ask.candidate, id: '' } });
    isRefused({ ...ask, candidate: { ...ask.candidate, storageId: '' } });
    isRefused({ ...ask, candidate: { ...ask.candidate, instance: '' } });
    isRefused({ ...ask, config: { ...ask.config, version: 2 ** 32 + 1 } });
    isRefused({ ...ask, evidence: `${ask.evidence} ` });
    isRefused({ ...ask, evidence: '{' });
    isRefused({ ...introduce, founders: Array.from({ length: 16 }, (_, at) => `n${at + 10}`) });
    expect(() => decodeBallot(Uint8Array.of(2, 4, 0, 1))).toThrow('version');
    expect(() => decodeBallot(Uint8Array.of(1, 7, 0, 1))).toThrow(CodecError);
    const huge = [255, 255, 255, 255, 255, 255, 255, 15];
    for (let type = 0; type < 7; type++) {
      expect(() => decodeBallot(Uint8Array.of(1, type, ...huge))).toThrow(CodecError);
    }
  });

  it('Q8: voters out of order, twice, none or too many are refused', () => {
    const [a, b] = [
      { id: 'a', storageId: 's' },
      { id: 'b', storageId: 's' },
    ];
    expect(decodeBallot(encodeBallot(askOf([a, b])))).toEqual(askOf([a, b]));
    isRefused(askOf([b, a]));
    isRefused(askOf([a, a]));
    isRefused(askOf([a, { ...a, storageId: 't' }]));
    isRefused(askOf([]));
    isRefused(askOf([...voters, { id: 'z', storageId: 's' }]));
    isRefused({ ...introduce, founders: ['b', 'a'] });
    isRefused({ ...introduce, founders: ['a', 'a'] });
  });

  it('M11: 100,000 mutations are each a message no larger than its bytes, or a CodecError', () => {
    const random = seededRandom(1, 0);
    const wholes = fc.sample(ballots, { numRuns: 200, seed: 3 }).map(encodeBallot);
    let taken = 0;
    for (let round = 0; round < 100_000; round++) {
      const whole = wholes[round % wholes.length] ?? new Uint8Array();
      taken += Number(isTaken(mutated(whole, random)));
    }
    expect(taken).toBeGreaterThan(1000);
    expect(taken).toBeLessThan(90_000);
  });
});

function isTaken(bytes: Uint8Array): boolean {
  let message: BallotMessage;
  try {
    message = decodeBallot(bytes);
  } catch (error) {
    if (!(error instanceof CodecError)) throw error;
    return false;
  }
  // All that a message holds goes back into as many bytes, so it cannot hold more.
  if (encodeBallot(message).length > bytes.length) throw new Error('grown');
  return true;
}

/** One to three times a byte changed, put in, or taken out, or the tail lost. */
function mutated(whole: Uint8Array, random: () => number): Uint8Array {
  let bytes = whole;
  for (let left = between(random, [1, 3]); left > 0; left--) {
    const at = between(random, [0, bytes.length]);
    const value = random() < 0.3 ? 255 : between(random, [0, 255]);
    const kind = between(random, [0, 9]);
    const head = bytes.subarray(0, at);
    const tail = bytes.subarray(kind === 1 ? at : at + 1);
    bytes = kind === 0 ? head : joined(head, kind === 2 ? [] : [value], tail);
  }
  return bytes;
}

function joined(head: Uint8Array, middle: readonly number[], tail: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(head.length + middle.length + tail.length);
  bytes.set(head);
  bytes.set(middle, head.length);
  bytes.set(tail, head.length + middle.length);
  return bytes;
}
