import { transportContract } from '@doyen/core/testing';
import { describe, it } from 'vitest';
import { openRoom } from './room.ts';

transportContract({
  suite: {
    describe: (title, body) => describe(`webrtc: ${title}`, body),
    it: (title, body, timeoutMs) => it(`W3: ${title}`, body, timeoutMs),
  },
  setup: openRoom,
  teardown: (room) => room.close(),
  capabilities: { maxBytes: 16 * 1024 * 1024, timeoutMs: 10_000, quietMs: 200 },
});
