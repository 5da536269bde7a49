import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  compareRecords,
  hashRecord,
  type MemberRecord,
  RECORD_STATUSES,
} from '../../src/machine/record.ts';

const records = fc.record({
  id: fc.constant('a'),
  instance: fc.constant('a-1'),
  birth: fc.nat(2),
  incarnation: fc.nat(3),
  startedAt: fc.nat(1),
  status: fc.constantFrom(...RECORD_STATUSES),
  candidate: fc.boolean(),
  hidden: fc.boolean(),
  meta: fc.constantFrom('', '1', '{"a":1}'),
}) as fc.Arbitrary<MemberRecord>;

const merge = (a: MemberRecord, b: MemberRecord) => (compareRecords(a, b) >= 0 ? a : b);

it('M2: merging records is commutative, associative and idempotent', () => {
  fc.assert(
    fc.property(records, records, records, (a, b, c) => {
      expect(merge(a, b)).toEqual(merge(b, a));
      expect(merge(merge(a, b), c)).toEqual(merge(a, merge(b, c)));
      expect(merge(a, a)).toEqual(a);
    }),
    { numRuns: 2000 },
  );
});

it('M2: records that compare equal are equal', () => {
  fc.assert(
    fc.property(records, records, (a, b) => {
      if (compareRecords(a, b) === 0) expect(a).toEqual(b);
    }),
    { numRuns: 2000 },
  );
});

it('M7: left beats suspicion and death of the same instance, at any incarnation', () => {
  fc.assert(
    fc.property(records, records, (a, b) => {
      const left = { ...a, status: 'left' as const };
      if (b.status === 'left' || b.status === 'replaced') return;
      expect(merge(left, b).status).toBe('left');
    }),
  );
});

it('M2, M13: rosters in which several members are one incarnation behind have other digests', () => {
  const member = (n: number, incarnation: number) =>
    ({ instance: `instance-${n}`, incarnation }) as MemberRecord;
  let cancelled = 0;
  for (let a = 0; a < 200; a++) {
    for (let b = a + 1; b < 200; b++) {
      const [older, newer] = [2, 3].map((i) => hashRecord(member(a, i)) ^ hashRecord(member(b, i)));
      if (older === newer) cancelled++;
    }
  }
  expect(cancelled).toBe(0);
});
