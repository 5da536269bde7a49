import { describe, expect, it } from 'vitest';
import { isLed, leaderOf, led, settle, votersOf } from './cluster.ts';

describe('founding', () => {
  it('Q0: a founder that has lost its storage founds nothing beside voters that live', async () => {
    const sim = await led({ nodes: 3, vote: { voters: ['n1'] } });
    for (const id of ['n2', 'n3']) {
      expect(await settle(sim, sim.node('n1').voters.add(id))).toBe('done');
    }
    const { epoch } = sim.node('n1').leadership;
    sim.restart('n1', { amnesia: true });
    await sim.runUntil(() => isLed(sim), { withinMs: 10_000 });
    expect(leaderOf(sim)).not.toBe('n1');
    expect(sim.node('n2').leadership.epoch).toBe(epoch + 1);
    expect(sim.node('n1').voters.role).toBe('observer');
    // The voter that it was is replaced by the one that it is.
    await sim.runUntil(() => sim.node('n1').voters.role === 'voter', { withinMs: 30_000 });
    expect(sim.ids.map((id) => votersOf(sim.node(id)))).toEqual(Array(3).fill('n1 n2 n3'));
  });
});
