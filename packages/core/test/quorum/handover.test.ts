import { describe, expect, it } from 'vitest';
import type { Term } from '../../src/runtime/term.ts';
import type { Simulation } from '../../src/testing/simulate.ts';
import {
  eventsOf,
  isLed,
  leaderOf,
  led,
  nextLeader,
  outcomeOf,
  runWatched,
  settle,
  termOf,
} from './cluster.ts';

/** Work that goes on for `ms` after its term was interrupted; tells when it has ended. */
function slowWork(
  sim: Simulation,
  id: string,
  ms: number,
): { endedAt: number | null; term?: Term } {
  const seen: { endedAt: number | null; term?: Term } = { endedAt: null };
  const work = async (term: Term) => {
    seen.term = term;
    await sim.sleep(1e9, { signal: term.signal }).catch(() => undefined);
    await sim.sleep(ms);
    seen.endedAt = sim.now;
  };
  void sim
    .node(id)
    .leadership.lead(work)
    .catch(() => undefined);
  return seen;
}

describe('transfer', () => {
  it('Q10: the target leads at the next epoch within some round trips, whatever its rank', async () => {
    const sim = await led();
    const term = await termOf(sim, 'n1');
    const at = sim.now;
    expect(await settle(sim, sim.node('n1').leadership.transfer('n3'))).toBe('done');
    expect(sim.now - at).toBeLessThan(500);
    await sim.runUntil(() => isLed(sim), { withinMs: 200 });
    expect(leaderOf(sim)).toBe('n3');
    expect(sim.node('n1').leadership.epoch).toBe(2);
    expect(term.signal.reason).toMatchObject({ code: 'transferred' });
    expect(eventsOf(sim, 'n1', 'change').at(-1)).toMatchObject({ leader: 'n3' });
  });

  it('Q10: the permit skips the trial and the stickiness of voters that hear the giver', async () => {
    // All hear n1, which has beaten just now; nobody hears a silence.
    for (let seed = 1; seed <= 10; seed += 1) {
      const sim = await led({ seed, vote: { voters: ['n1', 'n2', 'n3', 'n4', 'n5'] } });
      const from = leaderOf(sim) as string;
      const to = from === 'n5' ? 'n4' : 'n5';
      expect(await settle(sim, sim.node(from).leadership.transfer(to), 1000)).toBe('done');
      expect(sim.node(to).leadership.epoch).toBe(sim.node(from).leadership.epoch);
    }
  });

  it('Q10: the work is drained before the permit is given', async () => {
    const sim = await led();
    const work = slowWork(sim, 'n1', 800);
    await sim.run(1);
    const at = sim.now;
    expect(await settle(sim, sim.node('n1').leadership.transfer('n2'))).toBe('done');
    const [taken] = eventsOf(sim, 'n2', 'change', at);
    expect(work.endedAt).toBe(at + 800);
    expect(taken?.at).toBeGreaterThan(at + 800);
  });

  it('Q10: a permit forfeits the lease: from then on nothing of the term is valid', async () => {
    const sim = await led({ latencyMs: [100, 100] });
    const term = await termOf(sim, 'n1');
    const done = settle(sim, sim.node('n1').leadership.transfer('n2'));
    expect(term.isValid()).toBe(false);
    expect(sim.node('n1').leadership.isSelf).toBe(false);
    expect(await done).toBe('done');
  });

  it.each([
    ['stands still', (sim: Simulation) => sim.pause('n3')],
    ['is cut off', (sim: Simulation) => sim.net.partition([['n3'], ['n1', 'n2']])],
    ['has crashed', (sim: Simulation) => sim.crash('n3')],
    ['loses its disk', (sim: Simulation) => sim.store('n3').fail('write')],
  ])(
    'Q10: to a target that %s it fails in time, and somebody leads again at once',
    async (_, fail) => {
      const sim = await led();
      fail(sim);
      const at = sim.now;
      const transfer = settle(sim, sim.node('n1').leadership.transfer('n3'));
      expect(await transfer).toBe('transfer-failed');
      expect(sim.now - at).toBeLessThanOrEqual(3501);
      await nextLeader(sim, ['n1', 'n2'], 1500);
      expect(sim.node('n1').leadership.epoch).toBeGreaterThanOrEqual(2);
      // Nothing of it outlasts the term.
      await sim.run(30_000);
      expect(isLed(sim, ['n1', 'n2'])).toBe(true);
    },
  );

  it('Q10: to a target that left meanwhile it fails', async () => {
    const sim = await led();
    slowWork(sim, 'n1', 1000);
    await sim.run(1);
    const transfer = outcomeOf(sim.node('n1').leadership.transfer('n3'));
    sim.leave('n3');
    await sim.runUntil(() => transfer.value !== null);
    expect(transfer.value).toBe('transfer-failed');
    await nextLeader(sim, ['n1', 'n2'], 1500);
  });

  it.each([
    ['an observer', 'n4'],
    ['a voter that does not want to', 'n2'],
    ['a voter that is suspected', 'n3'],
  ])('Q10: to %s it fails at once, and the leader leads on in its term', async (_, target) => {
    const sim = await led({ nodes: ['n1', 'n2', 'n3', { id: 'n4', voter: false }] });
    sim.node('n2').leadership.setCandidacy(false);
    sim.pause('n3');
    await sim.runUntil(() => eventsOf(sim, 'n1', 'membersuspect').length > 0);
    const term = await termOf(sim, 'n1');
    expect(await settle(sim, sim.node('n1').leadership.transfer(target), 100)).toBe(
      'transfer-failed',
    );
    expect(term.signal.reason).toMatchObject({ code: 'transferred' });
    expect(sim.node('n1').leadership).toMatchObject({ isSelf: true, epoch: 1 });
    // Its work runs anew, in the same term.
    expect((await termOf(sim, 'n1')).isValid(1000)).toBe(true);
  });

  it('Q10: to nobody, to itself, or by who does not lead it is refused', async () => {
    const sim = await led();
    const { leadership } = sim.node('n1');
    expect(await settle(sim, leadership.transfer('nobody'))).toBe('RangeError');
    expect(await settle(sim, leadership.transfer('n1'))).toBe('RangeError');
    expect(await settle(sim, sim.node('n2').leadership.transfer('n1'))).toBe('not-leading');
    expect(leadership).toMatchObject({ isSelf: true, epoch: 1 });
  });

  it('Q10: a second one waits for the first, whether that comes about or not', async () => {
    const sim = await led();
    const { leadership } = sim.node('n1');
    const outcomes = [outcomeOf(leadership.transfer('n2')), outcomeOf(leadership.transfer('n3'))];
    await sim.runUntil(() => outcomes.every(({ value }) => value !== null));
    expect(outcomes.map(({ value }) => value)).toEqual(['done', 'not-leading']);
    await nextLeader(sim);
    expect(leaderOf(sim)).toBe('n2');
  });

  it('Q10: when the giver is deposed in between, the next term knows nothing of it', async () => {
    const sim = await led();
    sim.pause('n3');
    const outcome = outcomeOf(sim.node('n1').leadership.transfer('n3'));
    await sim.run(500);
    sim.net.partition([['n1'], ['n2', 'n3']]);
    await sim.run(10_000);
    expect(outcome.value).toBe('transfer-failed');
    sim.resume('n3');
    sim.net.heal();
    const next = await nextLeader(sim);
    if (next !== 'n1') {
      expect(await settle(sim, sim.node(next).leadership.transfer('n1'))).toBe('done');
    }
    const term = await termOf(sim, 'n1');
    expect(term.isValid(1000)).toBe(true);
    expect(await settle(sim, sim.node('n1').leadership.transfer('n2'))).toBe('done');
  });

  it('Q10: no two leases overlap, wherever a transfer is cut', async () => {
    for (const afterMs of [0, 10, 20, 40, 60, 80]) {
      for (const cut of [['n1'], ['n3'], ['n1', 'n3']]) {
        const sim = await led({ latencyMs: [20, 20] });
        outcomeOf(sim.node('n1').leadership.transfer('n3'));
        await sim.run(afterMs);
        sim.net.partition([cut]);
        await runWatched(sim, 12_000);
        sim.net.heal();
        await runWatched(sim, 6000);
        expect(isLed(sim)).toBe(true);
      }
    }
  });

  it('Q10, Q9: the voters do not change while the leader hands over', async () => {
    const sim = await led({ nodes: 4 });
    sim.pause('n3');
    const transfer = outcomeOf(sim.node('n1').leadership.transfer('n3'));
    expect(await settle(sim, sim.node('n1').voters.remove('n3'))).toBe('transfer-pending');
    expect(transfer.value).toBeNull();
  });
});

describe('resignation', () => {
  it('Q10: the work is drained, then another leads within a second', async () => {
    for (let seed = 1; seed <= 5; seed += 1) {
      const sim = await led({ seed });
      const work = slowWork(sim, 'n1', 600);
      await sim.run(1);
      const at = sim.now;
      const resigned = settle(sim, sim.node('n1').leadership.resign());
      expect(sim.node('n1').leadership.isSelf).toBe(false);
      expect(await resigned).toBe('done');
      expect(work.endedAt).toBe(at + 600);
      expect(work.term?.signal.reason).toMatchObject({ code: 'resigned' });
      await nextLeader(sim, ['n2', 'n3'], 1000);
    }
  });

  it('Q10: who has resigned is elected again only once another has led, or 10 s have passed', async () => {
    const sim = await led();
    for (const id of ['n2', 'n3']) sim.node(id).leadership.setCandidacy(false);
    expect(await settle(sim, sim.node('n1').leadership.resign())).toBe('done');
    const at = sim.now;
    expect(await nextLeader(sim)).toBe('n1');
    expect(sim.now - at).toBeGreaterThan(10_000);
    expect(sim.now - at).toBeLessThan(12_000);
  });

  it('Q10: work that throws makes its node resign', async () => {
    const sim = await led();
    const failure = settle(
      sim,
      sim.node('n1').leadership.lead(() => {
        throw new RangeError('cannot');
      }),
    );
    expect(await failure).toBe('RangeError');
    await nextLeader(sim, ['n2', 'n3'], 1000);
  });

  it('Q10: a lead that is withdrawn is given up at once', async () => {
    const sim = await led();
    const term = await termOf(sim, 'n1');
    sim.node('n1').leadership.setCandidacy(false);
    expect(term.signal.reason).toMatchObject({ code: 'resigned' });
    await nextLeader(sim, ['n2', 'n3'], 1000);
  });
});
