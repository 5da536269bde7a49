import { transportContract } from '@doyen/core/testing';
import { describe, it } from 'vitest';
import { MemoryNetwork, memory } from '../../src/transport/memory.ts';

describe('memory transport', () => {
  transportContract({
    suite: { describe, it },
    setup: () => {
      const network = new MemoryNetwork();
      return { transport: () => memory({ network }) };
    },
    capabilities: { maxBytes: 16 * 1024 * 1024 },
  });
});
