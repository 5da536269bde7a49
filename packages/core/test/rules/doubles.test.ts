import { describe, expect, it } from 'vitest';
import { eventsOf, follows, knowsAll, settled } from './cluster.ts';

describe('second instances', () => {
  it('M1: a sleeper that wakes with old links does not throw a restarted member out', async () => {
    const sim = await settled({ nodes: 4 });
    sim.pause('n1');
    await sim.run(10_000);
    sim.restart('n3');
    await sim.run(20_000);
    sim.restart('n3');
    await sim.run(20_000);
    sim.resume('n1');
    await sim.runUntil(() => knowsAll(sim));
    await sim.run(30_000);
    expect(sim.node('n3').state).toBe('joined');
    expect(knowsAll(sim)).toBe(true);
  });

  it('M1: two restarts in a row leave the last instance, once', async () => {
    const sim = await settled({ nodes: 4 });
    sim.net.latency([50, 400]);
    sim.restart('n2');
    await sim.run(100);
    sim.restart('n2');
    await sim.runUntil(() => knowsAll(sim), { withinMs: 30_000 });
    await sim.run(30_000);
    for (const id of ['n1', 'n3', 'n4']) {
      const member = sim.node(id).members.find((one) => one.id === 'n2');
      expect(member?.instance).toBe(sim.node('n2').instance);
    }
  });

  it('M1: a restart behind a dead link is replaced on the word of those who hear it', async () => {
    const sim = await settled({ nodes: 4 });
    sim.net.cut('n1', 'n4');
    sim.restart('n4');
    const { instance } = sim.node('n4');
    const isKnown = () => sim.node('n1').members.some((one) => one.instance === instance);
    await sim.runUntil(() => isKnown() && knowsAll(sim) && follows(sim, 'n1'));
    const reasons = eventsOf(sim, 'n1', 'memberleave').map(({ reason }) => reason);
    expect(reasons).toEqual(['replaced']);
  });
});
