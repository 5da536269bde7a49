import { describe, expect, it } from 'vitest';
import type { Simulation } from '../../src/testing/simulate.ts';
import {
  eventsOf,
  isLed,
  leaderOf,
  leadersOf,
  led,
  nextLeader,
  others,
  outcomeOf,
  settle,
  voting,
} from './cluster.ts';

/** How often anybody has told of another leader since `at`. */
function changesSince(sim: Simulation, at: number): number {
  return sim.ids.flatMap((id) => eventsOf(sim, id, 'change', at)).length;
}

const epochOf = (sim: Simulation, id: string) => sim.node(id).leadership.epoch;

describe('pre-vote', () => {
  it('Q4: a voter that was cut off for long comes back at the epoch that it left, and deposes nobody', async () => {
    const sim = await led();
    sim.net.partition([['n3'], ['n1', 'n2']]);
    await sim.run(120_000);
    const { writeCount } = sim.store('n3');
    const at = sim.now;
    sim.net.heal();
    await sim.runUntil(() => isLed(sim), { withinMs: 10_000 });
    await sim.run(20_000);
    expect(epochOf(sim, 'n3')).toBe(1);
    expect(sim.store('n3').writeCount).toBe(writeCount);
    expect(changesSince(sim, at)).toBeLessThanOrEqual(1);
    expect(leaderOf(sim)).toBe('n1');
  });

  it('Q4: without it epochs are used up, and a healthy leader is deposed once', async () => {
    const sim = await led({ vote: { preVote: false } });
    sim.net.partition([['n3'], ['n1', 'n2']]);
    await sim.run(60_000);
    sim.net.heal();
    await sim.run(5000);
    await nextLeader(sim);
    const epoch = epochOf(sim, 'n1');
    expect(epoch).toBeGreaterThan(5);
    await sim.run(20_000);
    expect(sim.ids.map((id) => epochOf(sim, id))).toEqual([epoch, epoch, epoch]);
  });
});

describe('stickiness', () => {
  it('Q4: a leader that one voter cannot reach leads on for the whole fault', async () => {
    const sim = await led();
    sim.net.cut('n1', 'n3');
    const at = sim.now;
    await sim.run(120_000);
    expect(changesSince(sim, at)).toBe(0);
    expect(sim.node('n3').leadership.current?.id).toBe('n1');
    expect(leaderOf(sim)).toBe('n1');
  });

  it('Q4: nor can a node whose only neighbour hears the leader depose it', async () => {
    const sim = await led({ nodes: 5, vote: { voters: ['n1', 'n2', 'n3', 'n4', 'n5'] } });
    // n1 leads; n4 has a link to n2 only, n5 to n3 only.
    for (const id of ['n1', 'n3', 'n5']) sim.net.cut('n4', id);
    for (const id of ['n1', 'n2']) sim.net.cut('n5', id);
    const at = sim.now;
    await sim.run(120_000);
    expect(changesSince(sim, at)).toBe(0);
    expect(epochOf(sim, 'n4')).toBe(1);
  });

  it('Q4: voters that hear a leader refuse even a real candidacy', async () => {
    const sim = await led({ vote: { preVote: false } });
    const [before] = [sim.node('n2').voters.config];
    // n3 is removed and does not hear of it: it stands, with the votes that it thinks it has.
    sim.net.partition([['n3'], ['n1', 'n2']]);
    expect(await settle(sim, sim.node('n1').voters.remove('n3'))).toBe('done');
    await sim.run(30_000);
    const at = sim.now;
    sim.net.heal();
    await sim.run(30_000);
    expect(leaderOf(sim)).toBe('n1');
    expect(epochOf(sim, 'n1')).toBe(before?.epoch);
    expect(eventsOf(sim, 'n1', 'change', at)).toEqual([]);
    expect(sim.node('n3').voters.role).toBe('observer');
  });

  it('Q4: the leader that a voter believes in may have its vote at once', async () => {
    // n1 has forfeited its lease to n3 in vain. n2 is not told, and has heard n1 just now.
    const sim = await led();
    sim.node('n2').leadership.setCandidacy(false);
    await sim.run(500);
    sim.pause('n3');
    const outcome = outcomeOf(sim.node('n1').leadership.transfer('n3'));
    await sim.run(3490);
    sim.net.loss(1);
    await sim.runUntil(() => outcome.value === 'transfer-failed', { withinMs: 20 });
    sim.net.loss(0);
    expect(sim.node('n2').leadership.current?.id).toBe('n1');
    await sim.runUntil(() => sim.node('n1').leadership.isSelf, { withinMs: 1000 });
    expect(epochOf(sim, 'n1')).toBe(2);
  });
});

describe('check-quorum', () => {
  it.each([
    [2, [['n1'], ['n2']]],
    [3, [['n1'], ['n2', 'n3']]],
    [
      5,
      [
        ['n1', 'n2'],
        ['n3', 'n4', 'n5'],
      ],
    ],
  ] as const)(
    'Q4: of %d voters, a leader without a majority says so within its lease',
    async (count, groups) => {
      const voters = Array.from({ length: count }, (_, index) => `n${index + 1}`);
      const sim = await led({ vote: { voters } });
      sim.net.partition(groups);
      const at = sim.now;
      await sim.runUntil(() => !sim.node('n1').leadership.isSelf, { withinMs: 2400 });
      const [change] = eventsOf(sim, 'n1', 'change', at);
      expect(change).toMatchObject({ leader: null, reason: 'vacated' });
      await sim.run(60_000);
      expect(sim.node('n1').leadership.current).toBeNull();
      expect(leadersOf(sim)).toHaveLength(count === 2 ? 0 : 1);
      if (count > 2) expect(isLed(sim, groups[1])).toBe(true);
    },
  );

  it('Q4: one voter that answers, of two, is enough', async () => {
    const sim = await led();
    sim.crash('n3');
    const at = sim.now;
    await sim.run(60_000);
    expect(changesSince(sim, at)).toBe(0);
    expect(leaderOf(sim)).toBe('n1');
  });

  it('Q4: a leader without a quorum no longer holds voters back that hear it', async () => {
    // n1 hears nobody, and all hear n1: nobody answers that it could count.
    const sim = await led();
    for (const id of ['n2', 'n3']) sim.net.cut(id, 'n1', { oneWay: true });
    const at = sim.now;
    const next = await nextLeader(sim, ['n2', 'n3']);
    expect(next).not.toBe('n1');
    expect(sim.now - at).toBeLessThan(2400 + 3500 + 1500);
  });

  it('Q4, Q8: a node that is stuck at a higher epoch is freed', async () => {
    const sim = await led({ vote: { preVote: false } });
    sim.net.partition([['n3'], ['n1', 'n2']]);
    await sim.run(30_000);
    sim.net.heal();
    await sim.runUntil(() => isLed(sim) && epochOf(sim, 'n1') > 1, { withinMs: 15_000 });
  });
});

describe('when a voter stands', () => {
  it('Q5: voters that start together use one epoch', async () => {
    for (let seed = 1; seed <= 10; seed += 1) {
      const sim = await led({ seed, vote: { voters: ['n1', 'n2', 'n3', 'n4', 'n5'] } });
      expect(epochOf(sim, 'n1')).toBe(1);
    }
  });

  it('Q5: the first in rank stands first, one rank step before the next', async () => {
    for (let seed = 1; seed <= 10; seed += 1) {
      const sim = await led({ seed });
      sim.crash('n1');
      expect(await nextLeader(sim)).toBe('n2');
      expect(epochOf(sim, 'n2')).toBe(2);
    }
  });

  it.each([
    ['does not want to', (sim: Simulation) => sim.node('n2').leadership.setCandidacy(false)],
    ['is gone', (sim: Simulation) => sim.crash('n2')],
    ['is cut off', (sim: Simulation) => sim.net.partition([['n2'], ['n1', 'n3', 'n4', 'n5']])],
    ['stands still', (sim: Simulation) => sim.pause('n2')],
  ])(
    'Q5: when the next in rank %s, the one after it leads one rank step later',
    async (_, fail) => {
      const sim = await led({ vote: { voters: ['n1', 'n2', 'n3', 'n4', 'n5'] } });
      fail(sim);
      sim.crash('n1');
      const at = sim.now;
      expect(await nextLeader(sim, ['n3', 'n4', 'n5'])).toBe('n3');
      expect(sim.now - at).toBeLessThan(3500 + 300 + 400 + 300);
    },
  );

  it('Q5: nobody stands within its own sticky window', async () => {
    const sim = await led();
    sim.crash('n1');
    const at = sim.now;
    const { writeCount } = sim.store('n2');
    await sim.runUntil(() => sim.store('n2').writeCount > writeCount, { withinMs: 15_000 });
    expect(sim.now - at).toBeGreaterThan(3000);
    expect(sim.now - at).toBeLessThan(3500 + 300 + 400 + 300);
  });

  it('Q5: who fails stands again later and later, up to a bound', async () => {
    const sim = await led({ vote: { backoffMaxMs: 4000 } });
    for (const id of ['n1', 'n2']) sim.crash(id);
    await sim.run(300_000);
    const sent = sim.stats('n3').messagesSent;
    await sim.run(60_000);
    // Its trials go to nobody that is in the roster any more.
    expect(sim.stats('n3').messagesSent - sent).toBeLessThan(200);
    for (const id of ['n1', 'n2']) sim.restart(id);
    const at = sim.now;
    await nextLeader(sim);
    expect(sim.now - at).toBeLessThan(3000 + 4000 + 1500);
  });

  it('Q5: after the leader has crashed another leads in about five seconds, seen by all', async () => {
    for (const count of [3, 5]) {
      const voters = Array.from({ length: count }, (_, index) => `n${index + 1}`);
      for (let seed = 1; seed <= 5; seed += 1) {
        const sim = await led({ seed, vote: { voters } });
        sim.crash('n1');
        const at = sim.now;
        await nextLeader(sim, undefined, 5000);
        expect(others(sim)).toHaveLength(count - 1);
        expect(sim.now - at).toBeLessThan(5000);
      }
    }
  });

  it('Q4, Q5: a network that loses, doubles and reorders costs no leader its term', async () => {
    for (let seed = 1; seed <= 3; seed += 1) {
      const sim = await led({ seed });
      sim.net.loss(0.1);
      sim.net.duplicate(0.3);
      sim.net.reorder(0.3);
      const at = sim.now;
      await sim.run(60_000);
      expect(changesSince(sim, at)).toBe(0);
      sim.crash(leaderOf(sim) as string);
      await nextLeader(sim);
    }
  });

  it('Q5: fifteen voters agree, and again when seven are gone', async () => {
    const voters = Array.from({ length: 15 }, (_, at) => `v${String.fromCharCode(97 + at)}`);
    const sim = await led({ vote: { voters } });
    for (let count = 0; count < 7; count += 1) sim.crash(sim.running[0] as string);
    await nextLeader(sim);
  });

  it('Q5, M7: after the leader has left another leads within a second', async () => {
    for (let seed = 1; seed <= 10; seed += 1) {
      const sim = await led({ seed });
      sim.leave('n1');
      await nextLeader(sim, ['n2', 'n3'], 1000);
    }
  });

  it('Q5: a cluster of throttled voters agrees, and one that stays so is led', async () => {
    const sim = voting({ seed: 3 });
    for (const id of sim.ids) sim.throttle(id, 1000);
    await nextLeader(sim, undefined, 30_000);
    await sim.run(1000);
    const at = sim.now;
    await sim.run(60_000);
    expect(changesSince(sim, at)).toBe(0);
    sim.crash(leaderOf(sim) as string);
    await nextLeader(sim, undefined, 15_000);
  });
});
