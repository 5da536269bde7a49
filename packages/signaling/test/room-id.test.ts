import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
// Node gets another build than browsers do; this is the one that browsers get.
import { digest } from '../node_modules/lib0/hash/sha256.js';
import { isRoomId, roomIdOf } from '../src/index.ts';

const sha256 = (bytes: Uint8Array | string) =>
  createHash('sha256').update(bytes).digest('base64url');

test('S25: a room id is the SHA-256 of the prefixed cluster name', () => {
  expect(roomIdOf('orders')).toBe(sha256('doyen.room.v1:orders'));
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 128 }), (cluster) => {
      expect(roomIdOf(cluster)).toBe(sha256(`doyen.room.v1:${cluster}`));
      expect(isRoomId(roomIdOf(cluster))).toBe(true);
    }),
  );
});

test('S25: the digest of browsers is the digest of Node', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      expect(Buffer.from(digest(bytes)).toString('base64url')).toBe(sha256(bytes));
    }),
  );
});

test('S25: only 22 to 64 characters of base64url name a room', () => {
  for (const good of ['a'.repeat(22), 'Z_-9'.repeat(16)]) expect(isRoomId(good)).toBe(true);
  for (const bad of ['a'.repeat(21), 'a'.repeat(65), `${'a'.repeat(30)}/`, `${'a'.repeat(30)}\n`])
    expect(isRoomId(bad)).toBe(false);
});
