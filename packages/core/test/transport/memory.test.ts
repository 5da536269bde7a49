import { transportContract } from '@doyen/core/testing';
import { describe, expect, it } from 'vitest';
import { MemoryNetwork, type MemoryOptions, memory } from '../../src/transport/memory.ts';

describe('memory transport', () => {
  transportContract({
    suite: { describe, it },
    setup: () => {
      const network = new MemoryNetwork();
      return { transport: () => memory({ network }) };
    },
    capabilities: { maxBytes: 16 * 1024 * 1024 },
  });

  it.each<[unknown, string]>([
    [null, 'options must be an object, got null'],
    [{ network: 'lan' }, 'network must be a MemoryNetwork, got "lan"'],
    [{ net: new MemoryNetwork() }, 'net is no option'],
  ])('names what is wrong with the options %j', (options, message) => {
    expect(() => memory(options as MemoryOptions)).toThrow(new TypeError(message));
  });
});
