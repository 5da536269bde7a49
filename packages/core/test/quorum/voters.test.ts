import { describe, expect, it } from 'vitest';
import { isLed, led, settle, votersOf } from './cluster.ts';

describe('changing the voters', () => {
  it('Q9: an observer that knows who votes is made a voter', async () => {
    const sim = await led({ nodes: ['n1', 'n2', 'n3', 'n4'] });
    expect(sim.node('n4').voters.role).toBe('observer');
    expect(await settle(sim, sim.node('n1').voters.add('n4'))).toBe('done');
    await sim.runUntil(() => sim.ids.every((id) => votersOf(sim.node(id)) === 'n1 n2 n3 n4'));
    expect(sim.node('n4').voters.role).toBe('voter');
  });

  it('Q2, Q9: a voter with another storage is not added beside the one that it was', async () => {
    const sim = await led();
    sim.restart('n3', { amnesia: true });
    await sim.run(2500);
    expect(await settle(sim, sim.node('n1').voters.add('n3'))).toBe('one-at-a-time');
    expect(votersOf(sim.node('n1'))).toBe('n1 n2 n3');
    expect(isLed(sim)).toBe(true);
  });
});
