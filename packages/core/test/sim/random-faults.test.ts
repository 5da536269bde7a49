import { describe, expect, it } from 'vitest';
import { failures, TIMEOUT_MS } from './failures.ts';

describe('random faults', { timeout: TIMEOUT_MS }, () => {
  it('E1, E10, M5: two nodes come to rest under the right leader after any faults', async () => {
    expect(await failures({ nodes: 2, from: 1, count: 600 })).toEqual([]);
  });

  it('E1, E10, M5: three nodes come to rest under the right leader after any faults', async () => {
    expect(await failures({ nodes: 3, from: 1, count: 450 })).toEqual([]);
  });

  it('E1, E10, M5: four nodes come to rest under the right leader after any faults', async () => {
    expect(await failures({ nodes: 4, from: 1, count: 100 })).toEqual([]);
  });
});
