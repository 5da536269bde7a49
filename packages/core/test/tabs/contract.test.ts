import { transportContract } from '@doyen/core/testing';
import { describe, it } from 'vitest';
import { tabs } from '../../src/tabs/index.ts';
import { VirtualLocks } from './virtual-locks.ts';

let benches = 0;

describe('tabs transport without Web Locks', () => {
  transportContract({
    suite: { describe, it },
    setup: () => {
      const name = `contract-${++benches}`;
      return { transport: () => tabs({ name, locks: null }) };
    },
    capabilities: { maxBytes: 16 * 1024 * 1024 + 64 * 1024 },
  });
});

describe('tabs transport with Web Locks', () => {
  transportContract({
    suite: { describe, it },
    setup: () => {
      const name = `contract-${++benches}`;
      const locks = new VirtualLocks();
      return { transport: () => tabs({ name, locks: locks.tab() }) };
    },
    capabilities: { maxBytes: 16 * 1024 * 1024 + 64 * 1024 },
  });
});
