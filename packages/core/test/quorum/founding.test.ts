import { describe, expect, it } from 'vitest';
import { quorum } from '../../src/machine/quorum/quorum.ts';
import { eventsOf, isLed, leaderOf, led, nextLeader, settle, votersOf, voting } from './cluster.ts';

describe('founding', () => {
  it('Q0: the lowest id founds once all are there, and whoever ranks first leads in epoch 1', async () => {
    const sim = await led({ vote: { voters: ['b', 'a', 'c'] } });
    const { config } = sim.node('a').voters;
    expect(config?.voters.map(({ id }) => id)).toEqual(['a', 'b', 'c']);
    expect(config).toMatchObject({ epoch: 1, version: 1 });
    for (const id of sim.ids) {
      expect(sim.node(id).voters.role).toBe('voter');
      expect(sim.node(id).voters.config).toEqual(config);
      expect(sim.node(id).leadership.epoch).toBe(1);
    }
    const [first] = eventsOf(sim, 'a', 'voters').filter(({ reason }) => reason === 'a b c 0.1');
    expect(first).toBeDefined();
  });

  it('Q0: while a founder is missing nobody votes, however long that is', async () => {
    const sim = voting({ nodes: ['n1', 'n2'] });
    await sim.run(60_000);
    for (const id of sim.ids) {
      expect(sim.node(id).leadership.current).toBeNull();
      expect(sim.node(id).voters).toMatchObject({ role: 'founding', config: null });
    }
    sim.add('n3');
    await nextLeader(sim, undefined, 5000);
    expect(sim.node('n3').leadership.epoch).toBe(1);
  });

  it('Q0: a founder that sees nobody is no group of one', async () => {
    const sim = voting();
    sim.net.partition([['n1'], ['n2'], ['n3']]);
    await sim.run(60_000);
    expect(sim.ids.map((id) => sim.node(id).voters.role)).toEqual(Array(3).fill('founding'));
    sim.net.heal();
    await nextLeader(sim);
  });

  it('Q0: a single founder leads at once', async () => {
    const sim = voting({ vote: { voters: ['n1'] } });
    await sim.runUntil(() => isLed(sim), { withinMs: 1000 });
  });

  it('Q0: founders that were told different lists found nothing, and say so', async () => {
    const sim = voting({
      nodes: ['n1', 'n2', { id: 'n3', election: () => quorum({ voters: ['n1', 'n3'] }) }],
    });
    await sim.run(30_000);
    expect(sim.ids.map((id) => sim.node(id).voters.config)).toEqual([null, null, null]);
    const [violation] = eventsOf(sim, 'n1', 'violation');
    expect(violation).toMatchObject({ code: 'Q0', reason: 'n3 founds with n1, n3' });
  });

  it('Q0: nobody votes before every founder has stored the first config', async () => {
    const sim = voting();
    await sim.runUntil(() => sim.node('n3').voters.role === 'founding');
    await sim.runUntil(() => sim.store('n3').writeCount === 1);
    sim.store('n3').fail('write');
    await sim.run(30_000);
    expect(sim.node('n3').voters.role).toBe('observer');
    expect(sim.node('n1').voters).toMatchObject({ role: 'founding', config: { version: 1 } });
    expect(leaderOf(sim)).toBeNull();
    // What it has introduced itself with is still there.
    sim.store('n3').fail(null);
    sim.restart('n3');
    await nextLeader(sim);
  });

  it('Q0: the lowest id may end and come back at any write of the founding', async () => {
    for (const count of [1, 2, 3]) {
      const sim = voting();
      await sim.runUntil(() => sim.store('n1').writeCount === count, { withinMs: 3000 });
      sim.crash('n1');
      await sim.run(5000);
      sim.restart('n1');
      await nextLeader(sim);
      const groups = new Set(sim.ids.map((id) => votersOf(sim.node(id))));
      expect([...groups]).toEqual(['n1 n2 n3']);
    }
  });

  it('Q0: a founder whose storage is lost while they found leaves nobody to lead, and no second group', async () => {
    const sim = voting();
    await sim.runUntil(() => sim.node('n1').voters.config !== null);
    sim.crash('n3');
    await sim.run(3000);
    sim.restart('n3', { amnesia: true });
    await sim.run(60_000);
    expect(leaderOf(sim)).toBeNull();
    expect(sim.node('n3').voters.role).toBe('observer');
    expect(votersOf(sim.node('n3'))).toBe('n1 n2 n3');
  });

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
    const isTold = () => sim.ids.every((id) => votersOf(sim.node(id)) === 'n1 n2 n3');
    await sim.runUntil(isTold, { withinMs: 1000 });
  });

  it('Q0, E4: when all have lost their storage they found anew, above the epochs that others know', async () => {
    const sim = await led({ nodes: ['n1', 'n2', 'n3', { id: 'n4', voter: false }] });
    sim.leave(await nextLeader(sim));
    const before = sim.node(await nextLeader(sim)).leadership.epoch;
    for (const id of ['n1', 'n2', 'n3']) sim.restart(id, { amnesia: true });
    await nextLeader(sim, undefined, 30_000);
    expect(sim.node('n4').leadership.epoch).toBeGreaterThan(before);
  });

  it('Q0, E4: after all have restarted they are the voters that they were, and epochs go on', async () => {
    const sim = await led();
    const before = sim.node('n1').voters.config;
    for (const id of sim.ids) sim.crash(id);
    await sim.run(5000);
    for (const id of sim.ids) sim.restart(id);
    await nextLeader(sim);
    expect(sim.node('n1').voters.config).toEqual({ ...before, epoch: 2 });
    expect(sim.node('n3').leadership.epoch).toBe(2);
  });

  it('E11: a floor lifts the first epoch; one that fails makes a voter that never stands', async () => {
    const sim = voting({
      nodes: [
        { id: 'n1', floor: () => Promise.reject(new Error('no')) },
        { id: 'n2', floor: async () => 700 },
        'n3',
      ],
    });
    const leader = await nextLeader(sim);
    expect(leader).toBe('n2');
    expect(sim.node('n2').leadership.epoch).toBe(701);
    expect(eventsOf(sim, 'n1', 'fault')).toMatchObject([{ code: 'floor-failed' }]);
    expect(sim.node('n1').voters.role).toBe('voter');
    sim.crash('n2');
    expect(await nextLeader(sim)).toBe('n3');
  });
});
