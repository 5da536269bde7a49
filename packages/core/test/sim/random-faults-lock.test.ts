import { describe, expect, it } from 'vitest';
import { failures, TIMEOUT_MS } from './failures.ts';

describe('random faults under a lock', { timeout: TIMEOUT_MS }, () => {
  it('B5: a node alone, or two, lead again after any faults', async () => {
    expect(await failures({ nodes: 1, from: 1, count: 40, locking: true })).toEqual([]);
    expect(await failures({ nodes: 2, from: 1, count: 60, locking: true })).toEqual([]);
  });

  it('B5: three nodes come to rest under one leader after any faults', async () => {
    expect(await failures({ nodes: 3, from: 1, count: 120, locking: true })).toEqual([]);
  });

  it('B5: eight nodes come to rest under one leader after any faults', async () => {
    expect(await failures({ nodes: 8, from: 1, count: 25, locking: true })).toEqual([]);
  });
});
