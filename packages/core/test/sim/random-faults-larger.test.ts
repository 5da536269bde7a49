import { describe, expect, it } from 'vitest';
import { failures, TIMEOUT_MS } from './failures.ts';

// Beside the smaller clusters, so that two processes share the work.

describe('random faults', { timeout: TIMEOUT_MS }, () => {
  it('E1, E10, M5: five nodes come to rest under the right leader after any faults', async () => {
    expect(await failures({ nodes: 5, from: 1, count: 200 })).toEqual([]);
  });

  it('E1, E10, M5: ten nodes come to rest under the right leader after any faults', async () => {
    expect(await failures({ nodes: 10, from: 1, count: 20 })).toEqual([]);
  });

  it('E1, E10, M13: fifteen nodes come to rest under the right leader after any faults', async () => {
    expect(await failures({ nodes: 15, from: 1, count: 4 })).toEqual([]);
  });
});
