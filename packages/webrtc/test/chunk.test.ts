import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cut, FRAME_BYTES_MAX, Joiner, MESSAGE_BYTES_MAX } from '../src/chunk.ts';

const LANES = ['control', 'data'] as const;

describe('chunks', () => {
  it.each([
    0,
    1,
    FRAME_BYTES_MAX - 1,
    FRAME_BYTES_MAX,
    FRAME_BYTES_MAX + 1,
    5_000_000,
    MESSAGE_BYTES_MAX,
  ])('W3: a message of %i bytes is cut into frames of at most 64 KiB and rejoined', (length) => {
    const message = new Uint8Array(length);
    for (let index = 0; index < length; index += 251) message[index] = index & 255;
    const frames = [...cut(message, 'data')];
    expect(frames.every((frame) => frame.length <= FRAME_BYTES_MAX)).toBe(true);
    const joiner = new Joiner();
    const results = frames.map((frame) => joiner.push(frame));
    expect(results.slice(0, -1).every((result) => result === 'partial')).toBe(true);
    expect(Buffer.compare(results.at(-1) as Uint8Array, message)).toBe(0);
  });

  it('W3: the frames of the two lanes may come interleaved', () => {
    const [control, data] = LANES.map((lane) => [
      ...cut(new Uint8Array(200_000).fill(LANES.indexOf(lane) + 1), lane),
    ]) as [Uint8Array[], Uint8Array[]];
    const joiner = new Joiner();
    const whole = control
      .flatMap((frame, index) => [frame, data[index] as Uint8Array])
      .map((frame) => joiner.push(frame))
      .filter((result) => result instanceof Uint8Array);
    expect(whole.map((message) => [message.length, message[0]])).toEqual([
      [200_000, 1],
      [200_000, 2],
    ]);
  });

  const FULL = (head: number) => new Uint8Array(FRAME_BYTES_MAX).fill(head, 0, 1);

  it.each([
    ['no bytes', [new Uint8Array(0)]],
    ['an unknown head', [Uint8Array.of(4, 1)]],
    ['a frame that is not full and not the last', [Uint8Array.of(2, 1)]],
    ['a message without end', Array.from({ length: 258 }, () => FULL(3))],
  ])('W3: %s is malformed, and nothing is thrown', (_, frames) => {
    const joiner = new Joiner();
    const results = frames.map((frame) => joiner.push(frame));
    expect(results.at(-1)).toBe('malformed');
  });

  it('W3: no bytes whatever make the joiner throw or give more than it got', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 30 }), (frames) => {
        const joiner = new Joiner();
        let given = 0;
        let got = 0;
        for (const frame of frames) {
          given += frame.length;
          const result = joiner.push(frame);
          if (result instanceof Uint8Array) got += result.length;
        }
        expect(got).toBeLessThanOrEqual(given);
      }),
    );
  });
});
