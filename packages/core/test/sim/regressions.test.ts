import { describe, expect, it } from 'vitest';
import { perform } from '../../src/testing/script.ts';
import { simulate } from '../../src/testing/simulate.ts';

// Stories that random faults have told once. Each is what was left after narrowing it down.

describe('regressions', () => {
  // A member that had missed a replacement brought back the old instance; those who had replaced it
  // took it for a second living one, and the new instance was told that it is a duplicate.

  it('M1: a node that slept through a replacement does not fail the new instance', async () => {
    await play(7, ['run 4708', 'pause n1', 'restart n2', 'run 2984', 'resume n1']);
  });

  it('M1: a page that was frozen through a replacement does not fail the new instance', async () => {
    await play(1, ['run 1493', 'crash n1', 'freeze n3', 'restart n2', 'run 3959', 'calm']);
  });

  it('M1: a replacement during a partition survives the healing', async () => {
    await play(3, ['run 595', 'partition n2 n4 | n1 n3 n5', 'restart n2', 'run 8044', 'calm']);
  });

  it('M1, M7: a node that left behind a partition and starts again is no duplicate', async () => {
    const cut = ['run 1116', 'partition n2 n5 | n1 n3 n4', 'leave n3', 'run 4383'];
    await play(36, [...cut, 'restart n3', 'calm']);
  });
});

/** Plays a script with five nodes, which must all agree in the end. */
async function play(seed: number, script: readonly string[]): Promise<void> {
  const sim = simulate({ seed, nodes: 5 });
  for (const line of [...script, 'expect within=30000']) await perform(sim, line);
  for (const id of sim.running) expect(sim.node(id).state).not.toBe('failed');
}
