import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeMessage, encodeMessage, type Message } from '../src/coordinator/message.ts';
import { PICTURE } from './crew.ts';

const pixels = new Uint8Array([0, 1, 255]);
const messages: Message[] = [
  { type: 'survey', picture: PICTURE, done: 3, refusedStale: 1, everybody: true },
  { type: 'survey', picture: null, done: 0, refusedStale: 0, everybody: false },
  { type: 'want', key: 'k', tiles: [1, 2] },
  { type: 'assign', key: 'k', tile: 4 },
  { type: 'inventory', picture: PICTURE, epochs: [1, 0, 2] },
  { type: 'inventory', picture: null, epochs: [] },
  { type: 'result', key: 'k', tile: 4, epoch: 2, pixels },
  { type: 'restart' },
  { type: 'tile', key: 'k', id: 4, epoch: 2, by: 'ä', computed: 1, refusedStale: 0, pixels },
];

test.each(messages)('a message survives the wire: %j', (message) => {
  expect(decodeMessage(encodeMessage(message))).toEqual(message);
});

test('no bytes make the decoder throw', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      decodeMessage(bytes);
    }),
  );
});

test('no JSON makes the decoder throw, and what it lets through is a message', () => {
  const known = new Set<string>(messages.map(({ type }) => type));
  const header = fc.record({
    type: fc.constantFrom(...known, 'other'),
    picture: fc.oneof(fc.constant(PICTURE), fc.jsonValue()),
    epochs: fc.jsonValue(),
    tiles: fc.jsonValue(),
    tile: fc.jsonValue(),
    key: fc.jsonValue(),
  });
  fc.assert(
    fc.property(header, (value) => {
      const bytes = encodeMessage(value as unknown as Message);
      const message = decodeMessage(bytes);
      expect(message === null || known.has(message.type)).toBe(true);
    }),
  );
});

test.each([
  ['a picture that is too large', { ...PICTURE, width: 100_000 }],
  ['a picture with too many tiles', { ...PICTURE, width: 4096, height: 4096, tileSize: 8 }],
  ['a picture that takes for ever', { ...PICTURE, iterations: 1e9 }],
])('%s is no picture', (_what, picture) => {
  const survey = { type: 'survey', picture, done: 0, refusedStale: 0, everybody: true } as const;
  expect(decodeMessage(encodeMessage(survey))).toBeNull();
});
