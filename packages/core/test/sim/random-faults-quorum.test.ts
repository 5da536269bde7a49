import { describe, expect, it } from 'vitest';
import { failures, TIMEOUT_MS } from './failures.ts';

describe('random faults among voters', { timeout: TIMEOUT_MS }, () => {
  it('Q1, Q6, Q8: a voter alone, or two, lead again after any faults', async () => {
    expect(await failures({ nodes: 1, from: 1, count: 40, voting: true })).toEqual([]);
    expect(await failures({ nodes: 2, from: 1, count: 60, voting: true })).toEqual([]);
  });

  it('Q1, Q2, Q6, Q8, Q9: three voters come to rest under one leader after any faults', async () => {
    expect(await failures({ nodes: 3, from: 1, count: 200, voting: true })).toEqual([]);
  });

  it('Q1, Q2, Q6, Q8, Q9: five voters come to rest under one leader after any faults', async () => {
    expect(await failures({ nodes: 5, from: 1, count: 60, voting: true })).toEqual([]);
  });
});
