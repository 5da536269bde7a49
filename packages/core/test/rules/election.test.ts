import { describe, expect, it } from 'vitest';
import { highestId } from '../../src/machine/strategy.ts';
import { cluster, eventsOf, follows, knowsAll, settled } from './cluster.ts';

describe('winner', () => {
  it('E1: the smallest non-zero startedAt leads, zero counts as youngest', async () => {
    const nodes = [
      { id: 'a', startedAt: 0 },
      { id: 'b', startedAt: 30 },
      { id: 'c', startedAt: 20 },
    ];
    const sim = await settled({ nodes }, 'c');
    sim.crash('c');
    await sim.runUntil(() => follows(sim, 'b'));
    sim.crash('b');
    await sim.runUntil(() => follows(sim, 'a'));
  });

  it('E1: equal startedAt is decided by the lowest id', async () => {
    const nodes = ['z', 'm', 'Z'].map((id) => ({ id, startedAt: 7 }));
    await settled({ nodes }, 'Z');
  });

  it('E1: highestId compares ids by code units', async () => {
    await settled({ nodes: ['a', 'Z', 'é', 'b'], election: () => highestId() }, 'é');
  });

  it('E1: a suspect keeps its lead, but gains none', async () => {
    const sim = await settled({ nodes: 4 });
    sim.crash('n2');
    await sim.runUntil(() => eventsOf(sim, 'n3', 'membersuspect').length > 0);
    sim.leave('n1');
    await sim.runUntil(() => follows(sim, 'n3', ['n3', 'n4']), { withinMs: 1000 });
  });
});

describe('seniority', () => {
  it('E2: a newcomer with a slow clock does not jump the queue', async () => {
    const sim = await settled();
    sim.add('n0');
    sim.clock('n0', { jumpMs: 0 });
    await sim.runUntil(() => knowsAll(sim) && follows(sim, 'n1'));
    const before = sim.node('n1').leadership.epoch;
    await sim.run(20_000);
    expect(sim.node('n1').leadership.epoch).toBe(before);
    const newest = Math.max(...sim.node('n0').members.map(({ startedAt }) => startedAt));
    expect(sim.node('n0').members.find(({ id }) => id === 'n0')?.startedAt).toBe(newest);
  });

  it('E2: an explicit startedAt is never restamped', async () => {
    const sim = await settled();
    sim.add('senior', { startedAt: 5 });
    await sim.runUntil(() => follows(sim, 'senior'));
    expect(sim.node('n1').members.find(({ id }) => id === 'senior')?.startedAt).toBe(5);
  });

  it('E2: with seniority by wall clock a stamp stays as it is', async () => {
    const sim = await settled({ seniority: 'wall-clock' });
    sim.add('n4');
    await sim.runUntil(() => knowsAll(sim) && follows(sim, 'n1'));
    expect(eventsOf(sim, 'n1', 'memberupdate')).toEqual([]);
  });

  it('E2: founders keep their order, however late they hear of the first claim', async () => {
    const sim = await settled({ nodes: 5, startSpreadMs: 0, latencyMs: [5, 200] });
    for (const next of ['n2', 'n3', 'n4', 'n5']) {
      sim.crash(sim.running[0] ?? '');
      await sim.runUntil(() => follows(sim, next));
    }
  });
});

describe('claims', () => {
  it('E3: only the winner claims, one above the highest epoch ever seen', async () => {
    const sim = await settled({ nodes: 5 });
    const before = sim.node('n1').leadership.epoch;
    sim.crash('n1');
    await sim.runUntil(() => follows(sim, 'n2'));
    expect(sim.node('n2').leadership.epoch).toBe(before + 1);
    for (const id of ['n3', 'n4', 'n5']) expect(sim.node(id).leadership.isSelf).toBe(false);
  });

  it('E4: every change of leader comes with a higher epoch on every node', async () => {
    const sim = await settled({ nodes: 4 });
    for (const leader of ['n1', 'n2', 'n3']) {
      sim.leave(leader);
      await sim.runUntil(() => sim.running.length > 0 && !sim.running.includes(leader));
      await sim.runUntil(() => follows(sim, sim.running[0] ?? ''));
    }
    const epochs = eventsOf(sim, 'n4', 'change').flatMap((e) => (e.leader ? [e.epoch ?? 0] : []));
    expect(epochs).toEqual([...epochs].sort((a, b) => a - b));
    expect(new Set(epochs).size).toBe(epochs.length);
  });

  it('E5: between two leaders current is null, and nobody is self', async () => {
    const sim = await settled();
    sim.crash('n1');
    await sim.runUntil(() => sim.node('n3').leadership.current === null);
    expect(sim.running.some((id) => sim.node(id).leadership.isSelf)).toBe(false);
    await sim.runUntil(() => follows(sim, 'n2'));
    const leaders = eventsOf(sim, 'n3', 'change').map(({ leader }) => leader);
    expect(leaders.slice(-2)).toEqual([null, 'n2']);
  });
});

describe('two leaders of one epoch', () => {
  async function split(tiebreaks: Record<string, { nodeCount: number; createdAt: number } | null>) {
    const sim = cluster({ nodes: 4 });
    sim.net.partition([
      ['n1', 'n2'],
      ['n3', 'n4'],
    ]);
    for (const [id, value] of Object.entries(tiebreaks)) {
      if (value) sim.node(id).leadership.setTiebreaker(() => value);
    }
    await sim.runUntil(() => follows(sim, 'n1', ['n1', 'n2']) && follows(sim, 'n3', ['n3', 'n4']));
    expect(sim.node('n1').leadership.epoch).toBe(sim.node('n3').leadership.epoch);
    await sim.run(3000);
    sim.net.heal();
    return sim;
  }

  it('E6: the larger nodeCount wins, at a higher epoch', async () => {
    const sim = await split({
      n1: { nodeCount: 5, createdAt: 1 },
      n3: { nodeCount: 6, createdAt: 9 },
    });
    await sim.runUntil(() => follows(sim, 'n3'), { withinMs: 20_000 });
    expect(sim.node('n3').leadership.epoch).toBeGreaterThan(1);
    await sim.run(30_000);
    expect(follows(sim, 'n3')).toBe(true);
  });

  it('E6: at an equal nodeCount the older createdAt wins', async () => {
    const sim = await split({
      n1: { nodeCount: 5, createdAt: 8 },
      n3: { nodeCount: 5, createdAt: 7 },
    });
    await sim.runUntil(() => follows(sim, 'n3'), { withinMs: 20_000 });
  });

  it('E6: scalars beat none', async () => {
    const sim = await split({ n3: { nodeCount: 0, createdAt: 9 } });
    await sim.runUntil(() => follows(sim, 'n3'), { withinMs: 20_000 });
  });

  it('E6: without scalars the strategy decides', async () => {
    const sim = await split({});
    await sim.runUntil(() => follows(sim, 'n1'), { withinMs: 20_000 });
  });

  it('E6: a live scalar is frozen for the collision, so that both decide alike', async () => {
    const sim = cluster({ nodes: 4 });
    sim.net.partition([
      ['n1', 'n2'],
      ['n3', 'n4'],
    ]);
    let readings = 0;
    for (const id of ['n1', 'n3']) {
      sim.node(id).leadership.setTiebreaker(() => ({ nodeCount: ++readings, createdAt: 1 }));
    }
    await sim.run(5000);
    sim.net.heal();
    await sim.runUntil(() => follows(sim, 'n1') || follows(sim, 'n3'), { withinMs: 20_000 });
    const { epoch } = sim.node('n1').leadership;
    await sim.run(30_000);
    expect(sim.node('n2').leadership.epoch).toBe(epoch);
  });

  it('E6: a leader that has led another goes before one that has not', async () => {
    const sim = cluster({ nodes: ['n2', 'n3', { id: 'n1', startedAt: 3 }] });
    sim.net.partition([['n2', 'n3'], ['n1']]);
    await sim.runUntil(() => sim.node('n1').leadership.isSelf && follows(sim, 'n2', ['n2', 'n3']));
    await sim.run(3000);
    sim.net.heal();
    await sim.runUntil(() => knowsAll(sim) && follows(sim, 'n2'), { withinMs: 20_000 });
    // The given stamp of n1 ranks above: it takes over by preemption or not at all, never twice.
    await sim.run(10_000);
    expect(sim.running.filter((id) => sim.node(id).leadership.isSelf)).toHaveLength(1);
  });
});

describe('preemption and loss', () => {
  it('E7: a better candidate takes over from a living leader at a higher epoch', async () => {
    const sim = await settled({ nodes: ['b', 'c'], election: () => highestId() }, 'c');
    const { epoch } = sim.node('c').leadership;
    sim.add('d');
    await sim.runUntil(() => follows(sim, 'd'));
    expect(sim.node('b').leadership.epoch).toBe(epoch + 1);
  });

  it('E7: a leader that won by a tiebreak is not preempted by those it has beaten', async () => {
    const sim = cluster({ nodes: 2 });
    sim.net.partition([['n1'], ['n2']]);
    sim.node('n2').leadership.setTiebreaker(() => ({ nodeCount: 1, createdAt: 1 }));
    await sim.run(5000);
    sim.net.heal();
    await sim.runUntil(() => follows(sim, 'n2'));
    const { epoch } = sim.node('n2').leadership;
    await sim.run(60_000);
    expect(sim.node('n1').leadership.current?.id).toBe('n2');
    expect(sim.node('n1').leadership.epoch).toBe(epoch);
  });

  it('E7: a graceful leave costs one message delay', async () => {
    const sim = await settled();
    sim.leave('n1');
    const elapsed = await sim.runUntil(() => follows(sim, 'n2', ['n2', 'n3']));
    expect(elapsed).toBeLessThan(100);
  });

  it('E8: a paused leader does not say that it leads when it wakes, and its term is over', async () => {
    const sim = await settled();
    let reason: unknown;
    let isSelfAtAbort: boolean | undefined;
    const { leadership } = sim.node('n1');
    const work = leadership.lead(async (term) => {
      term.signal.addEventListener('abort', () => {
        reason ??= term.signal.reason;
        isSelfAtAbort ??= leadership.isSelf || term.isValid();
      });
      await sim.sleep(1e9, { signal: term.signal });
    });
    work.catch(() => undefined);
    await sim.run(100);
    sim.pause('n1');
    await sim.runUntil(() => follows(sim, 'n2', ['n2', 'n3']));
    expect(leadership.isSelf).toBe(false);
    sim.resume('n1');
    await sim.runUntil(() => follows(sim, 'n2'));
    expect(reason).toMatchObject({ name: 'DoyenError', code: 'stalled' });
    expect(isSelfAtAbort).toBe(false);
  });

  it('E8: after a short stall isSelf is false until one round, and the term goes on', async () => {
    const sim = await settled();
    const { epoch } = sim.node('n1').leadership;
    // Longer than two heartbeats, not longer than leaderSuspicionMinMs: give the latter room.
    const patient = await settled({ detection: { leaderSuspicionMinMs: 4000 } });
    patient.pause('n1');
    await patient.run(2500);
    expect(patient.node('n1').leadership.isSelf).toBe(false);
    patient.resume('n1');
    await patient.runUntil(() => patient.node('n1').leadership.isSelf);
    await patient.run(10_000);
    expect(patient.node('n1').leadership.epoch).toBe(epoch);
    expect(eventsOf(patient, 'n1', 'change')).toHaveLength(1);
  });

  it('E8: a frozen leader hands over at once, and follows when it thaws', async () => {
    const sim = await settled();
    sim.freeze('n1');
    const elapsed = await sim.runUntil(() => follows(sim, 'n2', ['n2', 'n3']));
    expect(elapsed).toBeLessThan(500);
    await sim.run(8000);
    sim.thaw('n1');
    await sim.runUntil(() => follows(sim, 'n2'));
    await sim.run(5000);
    expect(follows(sim, 'n2')).toBe(true);
  });

  it.each([300, 1000, 1900])(
    'E8: a leader frozen for %d ms does not take the lead back',
    async (ms) => {
      const sim = await settled();
      sim.freeze('n1');
      await sim.run(ms);
      expect(follows(sim, 'n2', ['n2', 'n3'])).toBe(true);
      const { epoch } = sim.node('n2').leadership;
      sim.thaw('n1');
      await sim.run(8000);
      expect(follows(sim, 'n2')).toBe(true);
      expect(sim.node('n1').leadership.epoch).toBe(epoch);
    },
  );

  it('E9: a lone node leads at once when discovery names nobody', async () => {
    const sim = cluster({ nodes: 1 });
    const elapsed = await sim.runUntil(() => sim.node('n1').leadership.isSelf);
    expect(elapsed).toBeLessThan(50);
    expect(sim.node('n1').leadership.epoch).toBe(1);
  });

  it('E10: with a stable roster no leadership event ever fires', async () => {
    const sim = await settled({ nodes: 6 });
    sim.net.loss(0.02);
    const at = sim.now;
    await sim.run(300_000);
    for (const id of sim.ids) expect(eventsOf(sim, id, 'change', at)).toEqual([]);
  });

  it('E11: a floor keeps a reborn cluster above what its fences remember', async () => {
    const sim = await settled({ floor: async () => 41 });
    expect(sim.node('n2').leadership.epoch).toBe(42);
  });

  it('E12: a newcomer with another rule is refused, and the cluster goes on', async () => {
    const sim = await settled();
    sim.add('odd', { election: () => highestId() });
    await sim.runUntil(() => sim.node('odd').state === 'failed', { withinMs: 5000 });
    await sim.run(5000);
    expect(follows(sim, 'n1', ['n1', 'n2', 'n3'])).toBe(true);
    expect(sim.node('n1').members.map(({ id }) => id)).toEqual(['n1', 'n2', 'n3']);
  });

  it('E13: after a resignation another leads, and goes on leading', async () => {
    const sim = await settled();
    await sim.node('n1').leadership.resign();
    await sim.runUntil(() => follows(sim, 'n2'));
    await sim.run(30_000);
    expect(follows(sim, 'n2')).toBe(true);
    sim.crash('n2');
    await sim.runUntil(() => follows(sim, 'n1', ['n1', 'n3']));
  });

  it('E13: who resigns alone leads again after ten seconds', async () => {
    const sim = cluster({ nodes: 1 });
    await sim.runUntil(() => sim.node('n1').leadership.isSelf);
    await sim.node('n1').leadership.resign();
    await sim.run(9000);
    expect(sim.node('n1').leadership.isSelf).toBe(false);
    await sim.run(2000);
    expect(sim.node('n1').leadership.isSelf).toBe(true);
    expect(sim.node('n1').leadership.epoch).toBe(2);
  });

  it('E13: a transfer makes the target lead, which the giver does not take back', async () => {
    const sim = await settled();
    const transfer = sim.node('n1').leadership.transfer('n3');
    await sim.runUntil(() => follows(sim, 'n3'), { withinMs: 2000 });
    await transfer;
    await sim.run(30_000);
    expect(follows(sim, 'n3')).toBe(true);
  });

  it('E13: an offer that a member finds after a pause has expired', async () => {
    const sim = await settled();
    sim.pause('n3');
    const transfer = sim.node('n1').leadership.transfer('n3');
    transfer.catch(() => undefined);
    await sim.run(10_000);
    await expect(transfer).rejects.toMatchObject({ code: 'transfer-failed' });
    sim.resume('n3');
    await sim.run(10_000);
    expect(follows(sim, 'n1')).toBe(true);
    expect(sim.node('n1').leadership.epoch).toBe(1);
  });

  it('E13: a leader that withdraws its candidacy is succeeded at once', async () => {
    const sim = await settled();
    sim.node('n1').leadership.setCandidacy(false);
    await sim.runUntil(() => follows(sim, 'n2'), { withinMs: 1000 });
    sim.node('n1').leadership.setCandidacy(true);
    await sim.runUntil(() => follows(sim, 'n1'), { withinMs: 1000 });
  });
});
