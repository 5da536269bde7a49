import { memoryStore } from '@doyen/core/store';
import { describe, expect, it } from 'vitest';
import {
  eventsOf,
  isLed,
  leaderOf,
  led,
  nextLeader,
  others,
  settle,
  termOf,
  votersOf,
  voting,
} from './cluster.ts';

describe('the record of a voter', () => {
  it('Q1: a vote outlives a restart: nobody else gets it in that epoch', async () => {
    // n2 has voted for n1; it starts again while n1 is cut off, and n3 cannot win epoch 1 with it.
    const sim = await led();
    sim.net.partition([['n1'], ['n2', 'n3']]);
    sim.restart('n2');
    const next = await nextLeader(sim, ['n2', 'n3']);
    expect(sim.node(next).leadership.epoch).toBe(2);
  });

  it.each([1, 2, 3, 4, 5])(
    'Q1: voters end at durable write %d, and no epoch has two leaders',
    async (count) => {
      for (const id of ['n1', 'n2', 'n3']) {
        const sim = voting({ seed: count });
        await sim.runUntil(() => sim.store(id).writeCount >= count || sim.now > 5000);
        sim.crash(id);
        await sim.run(500);
        sim.restart(id);
        await nextLeader(sim);
        sim.crash(leaderOf(sim) as string);
        await nextLeader(sim);
      }
    },
  );

  it('Q1: nothing is answered before it is stored: a vote that cannot be written is not given', async () => {
    const sim = await led();
    sim.store('n3').fail('write');
    sim.crash('n1');
    await sim.run(30_000);
    // n3 would have voted for n2, which stands as the next in rank.
    expect(leaderOf(sim)).toBeNull();
    expect(sim.node('n3').voters.role).toBe('observer');
    expect(eventsOf(sim, 'n3', 'fault')).toMatchObject([{ code: 'storage-failed' }]);
    expect(sim.node('n2').voters.role).toBe('voter');
  });

  it('Q1: a candidate whose own vote cannot be written asks nobody', async () => {
    const sim = await led();
    sim.store('n2').fail('write');
    const { writeCount } = sim.store('n3');
    sim.crash('n1');
    await sim.run(30_000);
    expect(sim.node('n2').voters.role).toBe('observer');
    expect(sim.store('n3').writeCount).toBe(writeCount);
  });

  it('Q1: a record that was torn is not used, and stays as it is', async () => {
    const sim = await led();
    sim.store('n3').fail('torn');
    sim.crash('n1');
    await sim.run(10_000);
    sim.store('n3').fail(null);
    const { writeCount } = sim.store('n3');
    sim.restart('n3');
    sim.restart('n1');
    expect(await nextLeader(sim)).not.toBe('n3');
    expect(sim.node('n3').voters.role).toBe('observer');
    expect(eventsOf(sim, 'n3', 'fault')).toMatchObject([{ code: 'storage-corrupt' }]);
    await sim.run(20_000);
    expect(sim.store('n3').writeCount).toBe(writeCount);
  });
});

describe('lost storage', () => {
  it('Q2: a store that cannot be read makes an observer, and says so', async () => {
    const sim = await led();
    sim.crash('n3');
    sim.store('n3').fail('read');
    sim.restart('n3');
    await sim.run(5000);
    expect(sim.node('n3').voters.role).toBe('observer');
    expect(eventsOf(sim, 'n3', 'fault')).toMatchObject([{ code: 'storage-failed' }]);
    expect(isLed(sim)).toBe(true);
  });

  it('Q2: a store that does not answer within 10 s is lost, whatever it does later', async () => {
    const held: (() => void)[] = [];
    const store = {
      read: async () => null,
      write: () => new Promise<void>((resolve) => void held.push(resolve)),
    };
    const nodes = ['n1', 'n2', { id: 'n3', voter: false, store }];
    const sim = voting({ nodes });
    await sim.run(9000);
    expect(eventsOf(sim, 'n3', 'fault')).toEqual([]);
    await sim.run(1500);
    expect(eventsOf(sim, 'n3', 'fault')).toMatchObject([{ code: 'storage-failed' }]);
    for (const answer of held) answer();
    await sim.run(5000);
    expect(sim.node('n3').voters.role).toBe('observer');
    expect(leaderOf(sim)).toBeNull();
  });

  it('Q1, Q2: a record that another has written meanwhile makes an observer', async () => {
    const store = memoryStore();
    const sim = await led({ nodes: ['n1', 'n2', { id: 'n3', voter: false, store }] });
    const key = `${sim.cluster}\nn3`;
    const before = (await store.read(key)) as Uint8Array;
    await store.write(key, new Uint8Array([...before, 0]), before);
    sim.crash('n1');
    await sim.run(15_000);
    expect(eventsOf(sim, 'n3', 'fault')).toMatchObject([{ code: 'storage-conflict' }]);
    expect(sim.node('n3').voters.role).toBe('observer');
    expect(leaderOf(sim)).toBeNull();
  });

  it('Q2: a voter that left comes back as the voter that it was', async () => {
    const sim = await led();
    sim.leave('n3');
    await sim.run(3000);
    sim.restart('n3');
    await sim.runUntil(() => sim.node('n3').voters.role === 'voter', { withinMs: 1000 });
    sim.crash('n2');
    sim.crash('n1');
    sim.restart('n1');
    await nextLeader(sim);
  });

  it('Q2: a leader whose disk fails ends its term, and observes the next', async () => {
    const sim = await led({ nodes: 4 });
    const term = await termOf(sim, 'n1');
    sim.store('n1').fail('write');
    // The next that it has to write.
    expect(await settle(sim, sim.node('n1').voters.add('n4'))).toBe('lost');
    expect(term.signal.reason).toMatchObject({ code: 'storage-failed' });
    expect(sim.node('n1').leadership.isSelf).toBe(false);
    const at = sim.now;
    const next = await nextLeader(sim);
    expect(next).not.toBe('n1');
    expect(sim.now - at).toBeLessThan(1500);
    expect(sim.node('n1').voters.role).toBe('observer');
  });

  it('Q2: a voter that has lost its storage is no second vote', async () => {
    // n2 votes for n1, loses its storage, and n3 stands in the same epoch.
    const sim = await led();
    sim.net.partition([['n1'], ['n2', 'n3']]);
    sim.restart('n2', { amnesia: true });
    await sim.run(60_000);
    expect(leaderOf(sim)).toBeNull();
    expect(sim.node('n2').voters.role).not.toBe('voter');
    sim.net.heal();
    await nextLeader(sim);
  });

  it('Q2: two of three that have lost their storage leave nobody to lead', async () => {
    const sim = await led();
    for (const id of ['n2', 'n3']) sim.restart(id, { amnesia: true });
    await sim.run(60_000);
    expect(leaderOf(sim)).toBeNull();
    for (const id of ['n2', 'n3']) expect(sim.node(id).voters.role).toBe('observer');
  });

  it('Q2: a leader that has lost its storage does not win its epoch again', async () => {
    const sim = await led({ vote: { voters: ['n1', 'n2', 'n3'] } });
    sim.crash('n3');
    sim.restart('n1', { amnesia: true });
    await sim.run(60_000);
    expect(leaderOf(sim)).toBeNull();
    sim.restart('n3');
    const next = await nextLeader(sim);
    expect(next).not.toBe('n1');
    expect(sim.node(next).leadership.epoch).toBe(2);
  });

  it('Q2: whoever has no store observes: it follows, never leads, and has a role to say so', async () => {
    const sim = await led({ nodes: ['n1', 'n2', 'n3', { id: 'n0', voter: false }] });
    expect(sim.node('n0').voters).toMatchObject({ role: 'observer', config: { version: 1 } });
    for (const id of ['n1', 'n2']) sim.crash(id);
    await sim.run(30_000);
    expect(leaderOf(sim)).toBeNull();
    sim.restart('n1');
    await nextLeader(sim);
    expect(leaderOf(sim)).not.toBe('n0');
  });

  it('Q2, Q9: refreshes that lose the storage do not outvote the living', async () => {
    const sim = await led();
    for (let round = 0; round < 3; round += 1) {
      for (const id of ['n3', 'n2']) {
        sim.restart(id, { amnesia: true });
        await sim.runUntil(() => sim.node(id).voters.role === 'voter' && isLed(sim), {
          withinMs: 60_000,
        });
      }
    }
    for (const id of sim.ids) {
      expect(votersOf(sim.node(id))).toBe('n1 n2 n3');
      expect(eventsOf(sim, id, 'violation')).toEqual([]);
    }
    sim.crash(leaderOf(sim) as string);
    await nextLeader(sim, others(sim));
  });
});
