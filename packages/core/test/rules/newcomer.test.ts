import { expect, it } from 'vitest';
import { simulate } from '../../src/testing/simulate.ts';

// A newcomer whose clock is a minute slow arrives while the old leader's leave, or its proof of
// death, is being acted on: it meets no claim of a leader that has led another (the claim is vacated,
// or the new leader has led nobody yet), is not restamped, and takes the lead from n2.
it('E2: a newcomer with a slow clock that arrives between two leaders does not lead', async () => {
  const winners = new Set<string | undefined>();
  for (let seed = 0; seed < 40; seed += 1) {
    const sim = simulate({ seed, nodes: 3 });
    await sim.run(10_000);
    sim.leave('n1');
    await sim.run(seed % 60);
    sim.add('z', { clock: { jumpMs: -60_000 } });
    await sim.run(20_000);
    winners.add(sim.node('n3').leadership.current?.id);
  }
  expect([...winners]).toEqual(['n2']);
});
