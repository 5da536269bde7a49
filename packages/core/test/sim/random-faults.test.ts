import { describe, expect, it } from 'vitest';
import { runSchedule } from '../../src/testing/schedule-run.ts';

// Each seed is a cluster that goes through a minute of random faults, with all checkers on. When a
// seed fails, the error names the command that repeats it; `shrinkSchedule` narrows it down.

describe('random faults', () => {
  it('M5, E10: five nodes agree on one leader soon after any faults', async () => {
    expect(await failures({ seeds: 120, nodes: 5 })).toEqual([]);
  }, 60_000);

  it('M5, E10: two nodes agree on one leader soon after any faults', async () => {
    expect(await failures({ seeds: 60, nodes: 2 })).toEqual([]);
  }, 60_000);

  it('M5, E10: ten nodes agree on one leader soon after any faults', async () => {
    expect(await failures({ seeds: 15, nodes: 10 })).toEqual([]);
  }, 60_000);
});

/** The first lines of what went wrong. */
async function failures(options: {
  readonly seeds: number;
  readonly nodes: number;
}): Promise<string[]> {
  const { seeds, nodes } = options;
  const failed: string[] = [];
  for (let seed = 1; seed <= seeds; seed += 1) {
    const { error } = await runSchedule({ seed, nodes, forMs: 60_000 });
    if (error !== null) failed.push(error.message.split('\n').slice(0, 2).join('; '));
  }
  return failed;
}
