import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeRecord, encodeRecord, RecordError } from '../../src/machine/quorum/record-codec.ts';
import { blankRecord, type VoterRecord } from '../../src/machine/quorum/voter-record.ts';
import { name, voterRecords } from './voter-arbitraries.ts';

const owner = { cluster: 'shop', id: 'a' };
const self = { id: 'a', storageId: 's-a' };
const blank = blankRecord('s-a');
const voted: VoterRecord = {
  group: 'g',
  storageId: 's-a',
  epoch: 300,
  votedFor: { id: 'b', storageId: 's-b', instance: 'i-b' },
  config: { epoch: 299, version: 2, voters: [self, { id: 'b', storageId: 's-b' }] },
};
const founded: VoterRecord = { ...voted, epoch: 0, votedFor: null };
const records = [blank, founded, voted];

function codeOf(bytes: Uint8Array, reader = owner): string {
  try {
    decodeRecord(bytes, reader);
  } catch (error) {
    if (error instanceof RecordError) return error.code;
    throw error;
  }
  return 'none';
}

/** The checksum of `body` by another way, with polynomials as numbers, to be put behind it. */
function sealed(...body: number[]): Uint8Array {
  let rest = 0xffffffffn;
  for (const value of body) {
    for (let bit = 0; bit < 8; bit++) {
      const isOdd = ((rest ^ BigInt(value >> bit)) & 1n) === 1n;
      rest = (rest >> 1n) ^ (isOdd ? 0xedb88320n : 0n);
    }
  }
  const sum = Number(rest ^ 0xffffffffn);
  return Uint8Array.of(...body, ...[0, 8, 16, 24].map((shift) => (sum >>> shift) & 255));
}

const bodyOf = (record: VoterRecord) => [...encodeRecord(record, owner).subarray(0, -4)];

describe('record codec', () => {
  it('Q1: every record comes back as it was', () => {
    fc.assert(
      fc.property(voterRecords, name, name, (record, cluster, id) => {
        expect(decodeRecord(encodeRecord(record, { cluster, id }), { cluster, id })).toEqual(
          record,
        );
      }),
      { numRuns: 1000, seed: 1 },
    );
  });

  it('Q1: a record is laid out as documented', () => {
    expect([...encodeRecord(blank, owner)]).toEqual([
      ...sealed(1, 4, 115, 104, 111, 112, 1, 97, 0, 3, 115, 45, 97, 0, 0, 0),
    ]);
    // The check value that catalogues give for this checksum.
    const digits = [...new TextEncoder().encode('123456789')];
    expect([...sealed(...digits).subarray(-4)]).toEqual([0x26, 0x39, 0xf4, 0xcb]);
  });

  it('Q1: a record that lost its end, however much of it, is corrupt', () => {
    for (const record of records) {
      const whole = encodeRecord(record, owner);
      for (let length = 0; length < whole.length; length++) {
        expect(codeOf(whole.subarray(0, length))).toBe('corrupt');
        // Where a file was made longer before it was written, zeros follow.
        const torn = new Uint8Array(whole.length);
        torn.set(whole.subarray(0, length));
        if (whole.subarray(length).some((value) => value !== 0))
          expect(codeOf(torn)).toBe('corrupt');
      }
    }
  });

  it('Q1: a record with any one bit flipped is corrupt', () => {
    for (const record of records) {
      const whole = encodeRecord(record, owner);
      for (let bit = 0; bit < whole.length * 8; bit++) {
        const flipped = whole.map((value, at) =>
          at === bit >> 3 ? value ^ (1 << (bit & 7)) : value,
        );
        expect(codeOf(flipped)).toBe('corrupt');
      }
    }
  });

  it('Q1: a record with bytes behind it, or twice, is corrupt', () => {
    for (const record of records) {
      const whole = encodeRecord(record, owner);
      for (let value = 0; value < 256; value++) {
        expect(codeOf(Uint8Array.of(...whole, value))).toBe('corrupt');
        expect(codeOf(sealed(...bodyOf(record), value))).toBe('corrupt');
      }
      expect(codeOf(Uint8Array.of(...whole, ...whole))).toBe('corrupt');
    }
  });

  it('Q1: a record is corrupt whose checksum holds and whose fields do not', () => {
    const body = bodyOf(voted);
    for (let length = 2; length < body.length; length++) {
      expect(codeOf(sealed(...body.slice(0, length)))).toBe('corrupt');
    }
    const [one, two] = voted.config?.voters ?? [];
    if (!one || !two || !voted.config) throw new Error('two voters expected');
    for (const voters of [[two, one], [one, one], []]) {
      const record = { ...voted, config: { ...voted.config, voters } };
      expect(codeOf(encodeRecord(record, owner))).toBe('corrupt');
    }
  });

  it('Q1: a record of another node or cluster is foreign', () => {
    const whole = encodeRecord(voted, owner);
    expect(codeOf(whole, { cluster: 'shop', id: 'b' })).toBe('foreign');
    expect(codeOf(whole, { cluster: 'shops', id: 'a' })).toBe('foreign');
    expect(() => decodeRecord(whole, { cluster: 'shop', id: 'b' })).toThrow(
      'Expected the record of "b" in cluster "shop", got the record of "a" in cluster "shop".',
    );
  });

  it('Q1: a record of another version is told apart from a corrupt one', () => {
    const later = sealed(2, ...bodyOf(voted).slice(1));
    expect(codeOf(later)).toBe('version');
    expect(() => decodeRecord(later, owner)).toThrow('Expected version 1, got 2.');
    expect(codeOf(sealed(7))).toBe('version');
    expect(codeOf(new Uint8Array())).toBe('corrupt');
    expect(() => decodeRecord(Uint8Array.of(1, 2, 3, 4, 5), owner)).toThrow(
      /^Expected checksum [0-9a-f]{8}, got 05040302\.$/,
    );
  });

  it('Q1: a record is read out of the midst of a buffer, and only there', () => {
    const whole = encodeRecord(voted, owner);
    const buffer = new Uint8Array(whole.length + 16).fill(1);
    buffer.set(whole, 8);
    expect(decodeRecord(buffer.subarray(8, 8 + whole.length), owner)).toEqual(voted);
    expect(codeOf(buffer.subarray(8, 7 + whole.length))).toBe('corrupt');
    expect(codeOf(buffer.subarray(8, 9 + whole.length))).toBe('corrupt');
  });
});
