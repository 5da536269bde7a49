import { describe, expect, it } from 'vitest';
import type { Simulation } from '../../src/testing/simulate.ts';
import {
  eventsOf,
  isLed,
  leaderOf,
  leadersOf,
  led,
  nextLeader,
  outcomeOf,
  runWatched,
  settle,
  termOf,
  voting,
} from './cluster.ts';

describe('lease', () => {
  it('Q6: it counts from when the beat was sent that a majority has acknowledged', async () => {
    // There and back takes 200 ms, and the next beat follows after 500.
    const sim = await led({ latencyMs: [100, 100] });
    const term = await termOf(sim, 'n1');
    const until = sim.now + 5000;
    await sim.runUntil(() => {
      expect(term.isValid(2201)).toBe(false);
      expect(term.isValid(1680)).toBe(true);
      return sim.now >= until;
    });
  });

  it('Q6: the winner has none before a first round is acknowledged', async () => {
    const sim = voting({ latencyMs: [200, 200] });
    await nextLeader(sim);
    const [won] = eventsOf(sim, 'n1', 'voters').filter(({ reason }) => reason?.endsWith(' 1.1'));
    const [leads] = eventsOf(sim, 'n1', 'change');
    expect((leads?.at ?? 0) - (won?.at ?? 0)).toBeGreaterThanOrEqual(400);
  });

  it('Q6: a winner that is cut off before its first round never says that it leads', async () => {
    const sim = voting();
    await sim.runUntil(() => sim.node('n1').voters.config?.epoch === 1);
    sim.net.partition([['n1'], ['n2', 'n3']]);
    await sim.run(2000);
    expect(sim.node('n1').leadership.isSelf).toBe(false);
    const next = await nextLeader(sim, ['n2', 'n3']);
    expect(sim.node(next).leadership.epoch).toBe(2);
    expect(eventsOf(sim, 'n1', 'change')).toEqual([]);
  });

  it('Q6: it ends while nothing runs: what a paused leader says is computed at each read', async () => {
    const sim = await led();
    const term = await termOf(sim, 'n1');
    sim.pause('n1');
    const at = sim.now;
    await sim.run(1000);
    expect(term.isValid()).toBe(true);
    await sim.run(1450);
    expect(sim.now - at).toBe(2450);
    expect(term.isValid()).toBe(false);
    expect(term.validUntil).toBe(0);
    expect(sim.node('n1').leadership.isSelf).toBe(false);
  });

  it('Q6: a pause that is shorter than the lease ends nothing', async () => {
    const sim = await led();
    const term = await termOf(sim, 'n1');
    sim.pause('n1');
    await sim.run(1700);
    sim.resume('n1');
    await sim.run(5000);
    expect(term.isValid(1500)).toBe(true);
    expect(leaderOf(sim)).toBe('n1');
  });

  it.each([2600, 5000, 20_000])(
    'Q6: after a pause of %d ms the term is over before anything else is told',
    async (ms) => {
      const sim = await led();
      const term = await termOf(sim, 'n1');
      const wasValid: boolean[] = [];
      const look = () => wasValid.push(term.isValid() || !term.signal.aborted);
      for (const type of ['memberalive', 'membersuspect', 'statechange'] as const) {
        sim.node('n1').addEventListener(type, look);
      }
      sim.node('n1').leadership.addEventListener('change', look);
      sim.pause('n1');
      await runWatched(sim, ms);
      sim.resume('n1');
      await runWatched(sim, 10_000);
      expect(wasValid.length).toBeGreaterThan(0);
      expect(wasValid).not.toContain(true);
      expect(['lease-expired', 'higher-epoch']).toContain(term.signal.reason.code);
      await sim.runUntil(() => isLed(sim));
    },
  );

  it('Q6: a frozen leader gives its lease up, and another leads within a second', async () => {
    const sim = await led();
    const term = await termOf(sim, 'n1');
    sim.freeze('n1');
    expect(term.isValid()).toBe(false);
    expect(term.signal.reason).toMatchObject({ code: 'frozen' });
    await nextLeader(sim, ['n2', 'n3'], 1000);
    sim.thaw('n1');
    await sim.runUntil(() => isLed(sim));
    expect(leaderOf(sim)).not.toBe('n1');
  });

  it('Q6: when the clock of a leader jumps ahead, the lease is over at once', async () => {
    const sim = await led();
    const term = await termOf(sim, 'n1');
    sim.clock('n1', { jumpMs: 10_000 });
    expect(term.isValid()).toBe(false);
    await sim.run(2000);
    expect(term.signal.aborted).toBe(true);
    await nextLeader(sim);
  });

  it('Q6: when the wall clock of a leader jumps back, nothing happens', async () => {
    const sim = await led();
    const term = await termOf(sim, 'n1');
    sim.clock('n1', { jumpMs: -3_600_000 });
    await sim.run(10_000);
    expect(term.isValid(1500)).toBe(true);
  });
});

describe('two leases', () => {
  const cutOff = (sim: Simulation) => sim.net.partition([['n1'], ['n2', 'n3']]);

  it.each([
    ['restart', (sim: Simulation, id: string) => void sim.restart(id)],
    [
      'have clocks that jump ahead',
      (sim: Simulation, id: string) => sim.clock(id, { jumpMs: 60_000 }),
    ],
    [
      'were paused',
      (sim: Simulation, id: string) => {
        sim.pause(id);
        sim.resume(id);
      },
    ],
  ])('Q6: never overlap, also where all others %s once the leader is cut off', async (_, act) => {
    for (let seed = 1; seed <= 5; seed += 1) {
      const sim = await led({ seed });
      cutOff(sim);
      for (const id of ['n2', 'n3']) act(sim, id);
      await runWatched(sim, 12_000);
      expect(leadersOf(sim)).toHaveLength(1);
      expect(leaderOf(sim)).not.toBe('n1');
    }
  });

  it('Q6: a voter that starts again is silent for a sticky window, and stands no sooner', async () => {
    const sim = await led();
    for (const id of sim.ids) sim.crash(id);
    await sim.run(60_000);
    for (const id of sim.ids) sim.restart(id);
    const at = sim.now;
    await nextLeader(sim);
    expect(sim.now - at).toBeGreaterThan(3000);
    expect(sim.now - at).toBeLessThan(4500);
  });

  it('Q6: never overlap, though links move from one side to the other', async () => {
    for (let seed = 1; seed <= 5; seed += 1) {
      const sim = await led({ seed });
      sim.net.partition([['n1', 'n2'], ['n3']]);
      await runWatched(sim, 7000);
      sim.net.partition([['n1'], ['n2', 'n3']]);
      await runWatched(sim, 14_000);
      expect(leaderOf(sim)).not.toBe('n1');
      sim.net.partition([['n1', 'n2'], ['n3']]);
      await runWatched(sim, 14_000);
      expect(leadersOf(sim)).toHaveLength(1);
    }
  });

  it.each([
    [0.91, 1.1],
    [1, 1.24],
    [0.81, 1],
  ])(
    'Q6: never overlap while clocks keep to the bound: a leader at %d, voters at %d',
    async (leader, voters) => {
      for (let seed = 1; seed <= 5; seed += 1) {
        const sim = await led({ seed });
        sim.clock('n1', { rate: leader });
        for (const id of ['n2', 'n3']) sim.clock(id, { rate: voters });
        await runWatched(sim, 5000);
        cutOff(sim);
        await runWatched(sim, 12_000);
        expect(leaderOf(sim)).not.toBe('n1');
      }
    },
  );

  it('Q6: can overlap beyond that bound, and the simulator sees it', async () => {
    const sim = await led();
    sim.clock('n1', { rate: 0.4 });
    for (const id of ['n2', 'n3']) sim.clock(id, { rate: 1.6 });
    cutOff(sim);
    await expect(runWatched(sim, 12_000)).rejects.toThrow(/Q6|two leases/);
  });
});

describe('certainty', () => {
  it('Q7: a confirmation is a fresh round to a majority of the voters', async () => {
    const sim = await led({ latencyMs: [50, 50] });
    const term = await termOf(sim, 'n1');
    const at = sim.now;
    expect(await settle(sim, term.confirm())).toBe('done');
    expect(sim.now - at).toBeGreaterThanOrEqual(100);
    expect(sim.now - at).toBeLessThan(250);
  });

  it('Q7: however many ask at once, it takes two rounds, and all are told', async () => {
    const sim = await led({ latencyMs: [50, 50] });
    const term = await termOf(sim, 'n1');
    const { messagesSent } = sim.stats('n1');
    const all = Promise.all(Array.from({ length: 1000 }, () => term.confirm()));
    expect(await settle(sim, all, 250)).toBe('done');
    expect(sim.stats('n1').messagesSent - messagesSent).toBeLessThan(20);
  });

  it('Q7: members that do not vote confirm nothing', async () => {
    const nodes = [
      'n1',
      'n2',
      'n3',
      ...['n4', 'n5', 'n6', 'n7'].map((id) => ({ id, voter: false })),
    ];
    const sim = await led({ nodes });
    const term = await termOf(sim, 'n1');
    for (const id of ['n2', 'n3']) sim.crash(id);
    const at = sim.now;
    expect(await settle(sim, term.confirm())).toBe('leadership-lost');
    expect(sim.now - at).toBeLessThan(3001);
  });

  it('Q7: with one voter it needs nobody', async () => {
    const sim = await led({ nodes: 2, vote: { voters: ['n1'] } });
    const term = await termOf(sim, 'n1');
    sim.crash('n2');
    expect(await settle(sim, term.confirm(), 50)).toBe('done');
    await sim.run(60_000);
    expect(term.isValid(2000)).toBe(true);
  });

  it('Q7: a round that is asked for between two leases waits for the next', async () => {
    const sim = await led({ nodes: 4, latencyMs: [20, 20] });
    const term = await termOf(sim, 'n1');
    void sim.node('n1').voters.add('n4');
    await sim.runUntil(() => !sim.node('n1').leadership.isSelf);
    expect(await settle(sim, term.confirm())).toBe('done');
    expect(term.isValid()).toBe(true);
  });

  it('Q7: ensure() refuses what no lease can give, and renews what it can', async () => {
    const sim = await led();
    const term = await termOf(sim, 'n1');
    expect(await settle(sim, term.ensure(2000))).toBe('done');
    expect(term.isValid(2000)).toBe(true);
    expect(await settle(sim, term.ensure(2401))).toBe('leadership-lost');
    expect(term.signal.aborted).toBe(false);
  });

  it('Q7: what is asked before a pause is not confirmed after it', async () => {
    const sim = await led();
    const term = await termOf(sim, 'n1');
    const outcomes = [outcomeOf(term.confirm()), outcomeOf(term.ensure(2400))];
    sim.pause('n1');
    await sim.run(10_000);
    sim.resume('n1');
    await sim.runUntil(() => outcomes.every(({ value }) => value !== null));
    expect(outcomes.map(({ value }) => value)).toEqual(['leadership-lost', 'leadership-lost']);
  });

  it('Q7: a fence admits nothing of a leader that was cut off, however sure it is', async () => {
    const sim = await led();
    const fence = sim.fence('store');
    const old = await termOf(sim, 'n1');
    expect(fence.admit(old.token)).toBe('admitted');
    sim.net.partition([['n1'], ['n2', 'n3']]);
    const next = await nextLeader(sim, ['n2', 'n3']);
    const term = await termOf(sim, next);
    expect(fence.admit(term.token)).toBe('admitted');
    expect(fence.admit(old.token)).toBe('stale');
  });
});
