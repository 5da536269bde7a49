import { describe, expect, it, vi } from 'vitest';
import { Machine } from '../../src/machine/machine.ts';
import { oldestNode } from '../../src/machine/strategy.ts';
import { type Simulation, simulate } from '../../src/testing/simulate.ts';
import {
  eventsOf,
  isLed,
  leaderOf,
  led,
  nextLeader,
  others,
  outcomeOf,
  runWatched,
  settle,
  votersOf,
} from './cluster.ts';

const FIVE = ['n1', 'n2', 'n3', 'n4', 'n5'];

/** All that run have these voters in their config. */
async function untilVoters(sim: Simulation, voters: string, withinMs = 40_000): Promise<void> {
  const isTold = () => sim.running.every((id) => votersOf(sim.node(id)) === voters);
  await sim.runUntil(isTold, { withinMs });
}

describe('changing the voters', () => {
  it('Q9: an observer that knows who votes is made a voter', async () => {
    const sim = await led({ nodes: ['n1', 'n2', 'n3', 'n4'] });
    expect(sim.node('n4').voters.role).toBe('observer');
    expect(await settle(sim, sim.node('n1').voters.add('n4'))).toBe('done');
    await untilVoters(sim, 'n1 n2 n3 n4', 1000);
    expect(sim.node('n4').voters.role).toBe('voter');
    expect(sim.node('n4').voters.config).toMatchObject({ epoch: 1, version: 2 });
  });

  it('Q9: a voter that was added counts, and one that was removed does not', async () => {
    const sim = await led({ nodes: FIVE });
    for (const id of ['n4', 'n5']) await settle(sim, sim.node('n1').voters.add(id));
    for (const id of ['n2', 'n3']) await settle(sim, sim.node('n1').voters.remove(id));
    await untilVoters(sim, 'n1 n4 n5');
    expect(sim.node('n2').voters.role).toBe('observer');
    for (const id of ['n2', 'n3']) sim.crash(id);
    await sim.run(5000);
    expect(leaderOf(sim)).toBe('n1');
    sim.crash('n1');
    expect(['n4', 'n5']).toContain(await nextLeader(sim));
  });

  it('Q9: a change leaves no moment without a lease for longer than a round takes', async () => {
    const sim = await led({ nodes: 4, latencyMs: [20, 20] });
    let invalidSince: number | null = null;
    const outcome = outcomeOf(sim.node('n1').voters.add('n4'));
    await sim.runUntil(() => {
      if (sim.node('n1').leadership.isSelf) invalidSince = null;
      else invalidSince ??= sim.now;
      expect(sim.now - (invalidSince ?? sim.now)).toBeLessThan(100);
      return outcome.value !== null;
    });
    expect(outcome.value).toBe('done');
    expect(eventsOf(sim, 'n1', 'change')).toHaveLength(1);
  });

  it('Q9: what is asked for at once is done one by one', async () => {
    const sim = await led({ nodes: FIVE });
    const { voters } = sim.node('n1');
    const outcomes = [voters.add('n4'), voters.add('n5'), voters.remove('n2')].map(outcomeOf);
    await sim.runUntil(() => outcomes.every(({ value }) => value !== null));
    expect(outcomes.map(({ value }) => value)).toEqual(['done', 'done', 'done']);
    await untilVoters(sim, 'n1 n3 n4 n5');
    const told = eventsOf(sim, 'n3', 'voters').map(({ reason }) => reason);
    expect(told).toContain('n1 n2 n3 n4 1.2');
    expect(told).toContain('n1 n2 n3 n4 n5 1.3');
  });

  it('Q9: what is so already is done, and no other config is written', async () => {
    const sim = await led();
    expect(await settle(sim, sim.node('n1').voters.add('n2'))).toBe('done');
    expect(await settle(sim, sim.node('n1').voters.remove('stranger'))).toBe('done');
    expect(sim.node('n1').voters.config?.version).toBe(1);
  });

  it('Q9: the winner writes the config anew under its epoch before it leads', async () => {
    const sim = await led({ nodes: 4 });
    await settle(sim, sim.node('n1').voters.add('n4'));
    sim.crash('n1');
    const next = await nextLeader(sim);
    const { config } = sim.node(next).voters;
    expect(config).toMatchObject({ epoch: 2, version: 2 });
    const [written] = eventsOf(sim, next, 'voters').filter(({ reason }) =>
      reason?.endsWith(' 2.2'),
    );
    const leads = eventsOf(sim, next, 'change').find(({ epoch, leader }) => epoch === 2 && leader);
    expect(written?.at).toBeLessThan(leads?.at ?? 0);
  });

  it('Q9: a voter replaces another: the old one goes first', async () => {
    const sim = await led({ nodes: 4 });
    sim.crash('n3');
    expect(await settle(sim, sim.node('n1').voters.replace('n3', 'n4'))).toBe('done');
    await untilVoters(sim, 'n1 n2 n4', 1000);
    const told = eventsOf(sim, 'n2', 'voters').map(({ reason }) => reason);
    expect(told).toContain('n1 n2 1.2');
  });

  it('Q9: a voter that has lost its storage is replaced by itself, asked for or not', async () => {
    const sim = await led();
    sim.restart('n3', { amnesia: true });
    await sim.run(3000);
    expect(await settle(sim, sim.node('n1').voters.replace('n3', 'n3'))).toBe('done');
    sim.restart('n2', { amnesia: true });
    await sim.runUntil(() => sim.node('n2').voters.role === 'voter', { withinMs: 30_000 });
    await untilVoters(sim, 'n1 n2 n3', 1000);
    await sim.runUntil(() => isLed(sim), { withinMs: 100 });
  });

  it('Q9: one that was removed for good is not added again by itself', async () => {
    const sim = await led({ nodes: FIVE, vote: { voters: FIVE } });
    const leader = leaderOf(sim) as string;
    const gone = leader === 'n5' ? 'n4' : 'n5';
    sim.restart(gone, { amnesia: true });
    await sim.run(2500);
    expect(await settle(sim, sim.node(leader).voters.remove(gone))).toBe('done');
    await sim.run(60_000);
    expect(sim.node(gone).voters.role).toBe('observer');
  });

  it('Q9: one that lost its storage, and went before it was added again, holds up nothing', async () => {
    const sim = await led({ vote: { voters: FIVE } });
    const [gone, later] = others(sim, leaderOf(sim) as string) as [string, string];
    sim.restart(gone, { amnesia: true });
    await untilVoters(sim, FIVE.filter((id) => id !== gone).join(' '));
    for (const id of [gone, later]) sim.crash(id);
    await untilVoters(sim, FIVE.filter((id) => id !== gone && id !== later).join(' '), 60_000);
    const leader = sim.node(await nextLeader(sim));
    // What cannot be done now is not tried again without a pause.
    const advance = vi.spyOn(Machine.prototype, 'advance');
    await sim.run(10_000);
    expect(advance.mock.calls.length).toBeLessThan(2000);
    advance.mockRestore();
    sim.restart(gone);
    await sim.runUntil(() => votersOf(leader).includes(gone), { withinMs: 30_000 });
  });

  it('Q9: a voter that was promoted and has not heard of it votes all the same', async () => {
    const sim = await led({ nodes: 4 });
    outcomeOf(sim.node('n1').voters.add('n4'));
    await sim.runUntil(() => sim.node('n1').voters.config?.version === 2);
    sim.net.partition([['n4'], ['n1', 'n2', 'n3']]);
    await sim.runUntil(() => ['n2', 'n3'].every((id) => votersOf(sim.node(id)) === 'n1 n2 n3 n4'));
    expect(sim.node('n4').voters.role).toBe('observer');
    sim.crash('n1');
    sim.net.heal();
    // Three of four are needed.
    await nextLeader(sim);
    expect(sim.node('n4').voters.role).toBe('voter');
  });

  it('Q9: a removed voter that has not heard of it disturbs nobody, and is told', async () => {
    for (const preVote of [true, false]) {
      const sim = await led({ nodes: FIVE, vote: { voters: FIVE, preVote, removeAfterMs: null } });
      const leader = leaderOf(sim) as string;
      const cut = leader === 'n5' ? 'n4' : 'n5';
      sim.net.partition([[cut], FIVE.filter((id) => id !== cut)]);
      expect(await settle(sim, sim.node(leader).voters.remove(cut))).toBe('done');
      await sim.run(60_000);
      const at = sim.now;
      sim.net.heal();
      await sim.runUntil(() => sim.node(cut).voters.role === 'observer', { withinMs: 20_000 });
      await sim.run(20_000);
      expect(eventsOf(sim, leader, 'change', at)).toEqual([]);
      // However high its epoch is by now, it can come back.
      let outcome = 'lost';
      while (outcome === 'lost') {
        const now = await nextLeader(sim, undefined, 30_000);
        outcome = await settle(sim, sim.node(now).voters.add(cut));
      }
      expect(outcome).toBe('done');
    }
  });

  it('Q9: no two lead in one epoch, and none at one time, wherever a change is cut', async () => {
    for (const afterMs of [0, 100, 600, 1200, 1500, 1540, 1580, 1700]) {
      for (const [kind, id] of [
        ['add', 'n4'],
        ['remove', 'n3'],
      ] as const) {
        const sim = await led({ nodes: 4, latencyMs: [20, 20] });
        outcomeOf(sim.node('n1').voters[kind](id));
        await sim.run(afterMs % (kind === 'add' ? 2000 : 200));
        sim.net.partition([
          ['n1', 'n4'],
          ['n2', 'n3'],
        ]);
        await runWatched(sim, 15_000);
        sim.net.heal();
        await runWatched(sim, 10_000);
        expect(isLed(sim)).toBe(true);
      }
    }
  });
});

describe('refusals', () => {
  it('Q9: not-leader: only the leader changes who votes', async () => {
    const sim = await led();
    expect(await settle(sim, sim.node('n2').voters.remove('n3'))).toBe('not-leader');
  });

  it('Q9: leader-stays, never-empty: it hands over first, and the last one stays', async () => {
    const sim = await led();
    expect(await settle(sim, sim.node('n1').voters.remove('n1'))).toBe('leader-stays');
    expect(await settle(sim, sim.node('n1').leadership.transfer('n2'))).toBe('done');
    await nextLeader(sim);
    expect(await settle(sim, sim.node('n2').voters.remove('n1'))).toBe('done');
    const alone = await led({ nodes: 1, vote: { voters: ['n1'] } });
    expect(await settle(alone, alone.node('n1').voters.remove('n1'))).toBe('never-empty');
  });

  it('Q2, Q9: one-at-a-time: a voter with another storage is not added beside the one that it was', async () => {
    const sim = await led();
    sim.restart('n3', { amnesia: true });
    await sim.run(2500);
    expect(await settle(sim, sim.node('n1').voters.add('n3'))).toBe('one-at-a-time');
    expect(votersOf(sim.node('n1'))).toBe('n1 n2 n3');
    expect(isLed(sim)).toBe(true);
  });

  it('Q9: not-a-member: nobody of that id is there, or it is not heard', async () => {
    const sim = await led({ nodes: 4 });
    expect(await settle(sim, sim.node('n1').voters.add('ghost'))).toBe('not-a-member');
    sim.crash('n4');
    await sim.runUntil(() => eventsOf(sim, 'n1', 'membersuspect').length > 0);
    expect(await settle(sim, sim.node('n1').voters.add('n4'))).toBe('not-a-member');
  });

  it('Q2, Q9: no-storage: it has nothing to remember its vote with', async () => {
    const sim = await led({ nodes: ['n1', 'n2', 'n3', { id: 'n4', voter: false }] });
    const at = sim.now;
    expect(await settle(sim, sim.node('n1').voters.add('n4'))).toBe('no-storage');
    expect(sim.now - at).toBeLessThanOrEqual(10_001);
  });

  it('Q9: not-following: who cannot keep up would cost a majority, and stays an observer', async () => {
    const sim = await led({ nodes: 4 });
    const outcome = outcomeOf(sim.node('n1').voters.add('n4'));
    await sim.run(150);
    sim.net.partition([['n4'], ['n1', 'n2', 'n3']]);
    await sim.runUntil(() => outcome.value !== null);
    expect(['not-following', 'not-a-member']).toContain(outcome.value);
    expect(votersOf(sim.node('n1'))).toBe('n1 n2 n3');
    sim.crash('n3');
    await sim.run(5000);
    expect(leaderOf(sim)).toBe('n1');
  });

  it('Q9: not-following: a slow disk does not make a voter either', async () => {
    const sim = await led({ nodes: 4 });
    // It writes nothing any more from its very start.
    sim.restart('n4', { amnesia: true });
    sim.store('n4').fail('write');
    await sim.run(3000);
    expect(['no-storage', 'not-following']).toContain(
      await settle(sim, sim.node('n1').voters.add('n4')),
    );
    expect(sim.node('n4').voters.role).toBe('observer');
  });

  it('Q9: config-quorum: nobody is removed when too few of the rest answer', async () => {
    // n2 is gone: without n3 the leader would be alone of two, for ever.
    const sim = await led();
    sim.crash('n2');
    await sim.run(4000);
    expect(await settle(sim, sim.node('n1').voters.remove('n3'))).toBe('config-quorum');
    expect(votersOf(sim.node('n1'))).toBe('n1 n2 n3');
    expect(leaderOf(sim)).toBe('n1');
    // What helps is to remove the one that is gone.
    expect(await settle(sim, sim.node('n1').voters.remove('n2'))).toBe('done');
  });

  it('Q9: too-many: eight wait at most', async () => {
    const sim = await led({ nodes: ['n1', 'n2', 'n3', { id: 'n4', voter: false }] });
    const outcomes = Array.from({ length: 9 }, () => outcomeOf(sim.node('n1').voters.add('n4')));
    await sim.run(1);
    expect(outcomes.map(({ value }) => value)).toEqual([...Array(8).fill(null), 'too-many']);
  });

  it('Q9: lost: the term ended, and the config shows what came of it', async () => {
    const sim = await led({ nodes: 4 });
    const outcome = outcomeOf(sim.node('n1').voters.add('n4'));
    await sim.run(200);
    sim.net.partition([['n1'], ['n2', 'n3', 'n4']]);
    await sim.runUntil(() => outcome.value !== null, { withinMs: 3000 });
    expect(outcome.value).toBe('lost');
    sim.net.heal();
    await nextLeader(sim);
    expect(votersOf(sim.node('n2'))).toBe('n1 n2 n3');
  });

  it('Q9: no id, a node that has left, and elections without votes are told apart', async () => {
    const sim = await led();
    const { voters } = sim.node('n2');
    expect(await settle(sim, voters.add(7 as never))).toBe('TypeError');
    expect(await settle(sim, voters.add(''))).toBe('RangeError');
    const leader = sim.node(leaderOf(sim) as string);
    expect(await settle(sim, leader.voters.replace('n2', 7 as never))).toBe('TypeError');
    expect(await settle(sim, leader.voters.replace('n2', ''))).toBe('RangeError');
    await sim.run(1000);
    expect(votersOf(leader)).toBe('n1 n2 n3');
    sim.leave('n2');
    await sim.run(2000);
    expect(await settle(sim, voters.add('n1'))).toBe('left');
    const bully = simulate({ seed: 1, election: () => oldestNode() });
    await bully.run(1000);
    expect(await settle(bully, bully.node('n1').voters.add('n2'))).toBe('TypeError');
    expect(bully.node('n1').voters).toMatchObject({ config: null, role: 'observer' });
  });
});

describe('removal without asking', () => {
  it('Q9: a voter that is gone is removed, down to three', async () => {
    const sim = await led({ vote: { voters: FIVE } });
    sim.crash('n5');
    await untilVoters(sim, 'n1 n2 n3 n4');
    sim.crash('n4');
    await untilVoters(sim, 'n1 n2 n3');
    sim.crash('n3');
    await sim.run(90_000);
    expect(votersOf(sim.node('n1'))).toBe('n1 n2 n3');
    expect(leaderOf(sim)).not.toBeNull();
  });

  it('Q9: one that left is removed sooner, since nobody waits for its eviction', async () => {
    const sim = await led({ nodes: 4, vote: { voters: ['n1', 'n2', 'n3', 'n4'] } });
    sim.leave('n4');
    await sim.run(100);
    await untilVoters(sim, 'n1 n2 n3', 19_000);
  });

  it('Q9: two that are gone at once are removed one after the other', async () => {
    const sim = await led({ vote: { voters: FIVE } });
    for (const id of ['n4', 'n5']) sim.crash(id);
    await untilVoters(sim, 'n1 n2 n3', 60_000);
    const versions = eventsOf(sim, 'n2', 'voters').map(({ reason }) => reason?.split(' ').at(-1));
    expect(versions).toEqual(expect.arrayContaining(['1.2', '1.3']));
  });

  it('Q9: when most are gone nothing shrinks', async () => {
    const sim = await led({ vote: { voters: FIVE } });
    for (const id of ['n3', 'n4', 'n5']) sim.crash(id);
    await sim.run(120_000);
    expect(votersOf(sim.node('n1'))).toBe('n1 n2 n3 n4 n5');
    expect(leaderOf(sim)).toBeNull();
  });

  it('Q9: quiet is not gone: a voter in the roster stays one', async () => {
    const sim = await led({ vote: { voters: FIVE, removeAfterMs: 1000, settleMs: 500 } });
    sim.pause('n5');
    await sim.run(15_000);
    sim.resume('n5');
    await sim.run(5000);
    expect(votersOf(sim.node('n1'))).toBe(FIVE.join(' '));
    expect(sim.node('n5').voters.role).toBe('voter');
  });

  it('Q9: without removeAfterMs nobody is removed, and votersMin moves the floor', async () => {
    const never = await led({ vote: { voters: FIVE, removeAfterMs: null } });
    const lower = await led({ vote: { votersMin: 2 } });
    never.crash('n5');
    lower.crash('n3');
    await never.run(90_000);
    await lower.run(90_000);
    expect(votersOf(never.node('n1'))).toBe(FIVE.join(' '));
    expect(votersOf(lower.node('n1'))).toBe('n1 n2');
  });
});
