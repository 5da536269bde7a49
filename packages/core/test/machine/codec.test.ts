import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BIRTH_MAX, CodecError, decode, encode, STARTED_AT_MAX } from '../../src/machine/codec.ts';
import type { Message } from '../../src/machine/message.ts';
import { RECORD_STATUSES } from '../../src/machine/record.ts';

const name = fc.string({ minLength: 1, maxLength: 30, unit: 'grapheme' });
const count = fc.maxSafeNat();
const stamp = fc.integer({ min: 0, max: STARTED_AT_MAX });
const candidate = fc.record({ id: name, startedAt: stamp });
const record = fc.record({
  id: name,
  instance: name,
  birth: fc.integer({ min: 0, max: BIRTH_MAX }),
  incarnation: fc.nat(2 ** 31 - 1),
  startedAt: stamp,
  status: fc.constantFrom(...RECORD_STATUSES),
  candidate: fc.boolean(),
  hidden: fc.boolean(),
  meta: fc.oneof(
    fc.constant(''),
    fc.json({ maxDepth: 1 }).filter((text) => text.length < 200),
  ),
});
const claim = fc.record({
  epoch: count,
  leader: candidate,
  instance: name,
  vacated: fc.boolean(),
  led: fc.boolean(),
  defends: fc.option(candidate),
});
const scalar = fc.double({ noNaN: true, noDefaultInfinity: true });
const probe = fc.record({
  tiebreak: fc.option(fc.record({ nodeCount: scalar, createdAt: scalar })),
});
const summary = fc.record({
  epoch: count,
  leader: fc.oneof(fc.constant(''), name),
  vacated: fc.boolean(),
  led: fc.boolean(),
  lapsed: fc.boolean(),
  digest: fc.nat(2 ** 31 - 1),
});
const bytes = fc.uint8Array({ maxLength: 200 });
const of = <T extends Message['type']>(type: T) => fc.constant(type);

const messages: fc.Arbitrary<Message> = fc.oneof(
  fc.record({
    type: of('hello'),
    fingerprint: name,
    known: fc.boolean(),
    self: record,
    records: fc.array(record, { maxLength: 4 }),
    claim: fc.option(claim),
  }),
  fc.record({ type: of('ping'), sequence: count, summary }),
  fc.record({ type: of('pong'), sequence: count, summary }),
  fc.record({ type: of('records'), records: fc.array(record, { maxLength: 4 }) }),
  fc.record({ type: of('claim'), claim, leader: fc.option(record), probe: fc.option(probe) }),
  fc.record({ type: of('suspect'), instance: name, incarnation: fc.nat() }),
  fc.record({ type: of('quiet'), instance: name, closed: fc.boolean() }),
  fc.record({ type: of('leave'), record }),
  fc.record({ type: of('leave-ack') }),
  fc.record({ type: of('transfer'), epoch: count, defends: candidate }),
  fc.record({
    type: of('refuse'),
    code: fc.constantFrom('duplicate-id' as const, 'election-mismatch' as const),
  }),
  fc.record({
    type: of('relay'),
    origin: name,
    target: name,
    sequence: count,
    hops: fc.nat(255),
    payload: bytes,
  }),
  fc.record({ type: of('channel'), channel: name, sequence: count, epoch: count, data: bytes }),
);

describe('codec', () => {
  it('M11: every message comes back as it was', () => {
    fc.assert(
      fc.property(messages, (message) => {
        expect(decode(encode(message))).toEqual(message);
      }),
      { numRuns: 2000 },
    );
  });

  it('M11: any bytes are a message or a CodecError, nothing else', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (input) => {
        try {
          decode(input);
        } catch (error) {
          expect(error).toBeInstanceOf(CodecError);
        }
      }),
      { numRuns: 5000 },
    );
  });

  it('M11: a message cut short anywhere, or with a byte more, is refused', () => {
    fc.assert(
      fc.property(messages, (message) => {
        const whole = encode(message);
        for (let length = 0; length < whole.length; length++) {
          expect(() => decode(whole.subarray(0, length))).toThrow(CodecError);
        }
        expect(() => decode(Uint8Array.of(...whole, 0))).toThrow(CodecError);
      }),
      { numRuns: 200 },
    );
  });

  it('M11: bytes beside the message in one buffer are never read', () => {
    fc.assert(
      fc.property(messages, fc.nat(40), (message, cut) => {
        const whole = encode(message);
        const length = Math.max(0, whole.length - 1 - cut);
        const buffer = new Uint8Array(whole.length + 64).fill(1);
        buffer.set(whole, 8);
        expect(() => decode(buffer.subarray(8, 8 + length))).toThrow(CodecError);
      }),
      { numRuns: 500 },
    );
  });

  it('M11: huge counts and lengths are refused before anything is allocated', () => {
    const huge = [255, 255, 255, 255, 255, 255, 255, 15];
    for (const type of [3, 5, 11, 12]) {
      expect(() => decode(Uint8Array.of(1, type, ...huge))).toThrow(CodecError);
    }
    expect(() => decode(Uint8Array.of(2, 1))).toThrow('version');
    expect(() => decode(Uint8Array.of(1, 200))).toThrow('type');
  });
});
