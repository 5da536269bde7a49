import { describe, expect, it } from 'vitest';
import { type QuorumOptions, quorum } from '../../src/machine/quorum/quorum.ts';
import type { Simulation } from '../../src/testing/simulate.ts';
import { eventsOf, isLed, leaderOf, nextLeader, termOf, voting } from './cluster.ts';

const VOTERS = ['n1', 'n2', 'n3'];

/** Three voters whose applications know so much; a test may change it. */
function knowing<Evidence>(
  known: Record<string, Evidence>,
  vote: Partial<QuorumOptions<Evidence>> = {},
): Simulation {
  const evidenceOf = (id: string) => () => known[id] as Evidence;
  const electionOf = (id: string) => () =>
    quorum<Evidence>({ voters: VOTERS, evidence: evidenceOf(id), ...vote });
  return voting({ nodes: VOTERS.map((id) => ({ id, election: electionOf(id) })) });
}

/** Rules that a node's violations name, and what they say. */
function violationsOf(sim: Simulation, id: string): string[] {
  const told = eventsOf(sim, id, 'violation').map(({ code, reason }) => `${code}: ${reason}`);
  return [...new Set(told)];
}

describe('evidence', () => {
  it('Q3: nobody who is behind most is elected, whatever its rank', async () => {
    expect(await nextLeader(knowing({ n1: 1, n2: 5, n3: 5 }))).toBe('n2');
    expect(await nextLeader(knowing({ n1: [2, 9], n2: [2, 9], n3: [3, 1] }))).toBe('n1');
    expect(await nextLeader(knowing({ n1: ['a', 1], n2: ['b', 0], n3: ['b', 1] }))).toBe('n2');
  });

  it('Q3: of equals the first in rank is elected', async () => {
    expect(await nextLeader(knowing({ n1: 'x', n2: 'x', n3: 'x' }))).toBe('n1');
  });

  it('Q3: with a comparison of the application the order is its own', async () => {
    const compareEvidence = (a: { at: number }, b: { at: number }) => b.at - a.at;
    const known = { n1: { at: 3 }, n2: { at: 1 }, n3: { at: 1 } };
    expect(await nextLeader(knowing(known, { compareEvidence }))).toBe('n2');
  });

  it.each([
    ['nothing', undefined],
    ['null', null],
    ['not a number', Number.NaN],
    ['endless', Number.POSITIVE_INFINITY],
    ['a list with a hole', [3, Number.NaN]],
    ['an object', { at: 3 }],
    ['text too long', 'x'.repeat(200)],
    ['a big integer', 5n],
  ])('Q3: a voter whose evidence is %s counts as behind, and stops nobody', async (_, broken) => {
    // It ranks first, and its vote is needed, as n3 is gone.
    const sim = knowing({ n1: broken, n2: [3, 4], n3: [3, 4] });
    expect(await nextLeader(sim)).toBe('n2');
    sim.crash('n3');
    await sim.run(30_000);
    expect(isLed(sim)).toBe(true);
    sim.restart('n2');
    expect(await nextLeader(sim)).toBe('n2');
    if (broken !== undefined) expect(violationsOf(sim, 'n1').join()).toContain('Q3: ');
  });

  it('Q3: evidence that throws counts as none, with a violation', async () => {
    const evidence = (): never => {
      throw new Error('no database');
    };
    const sim = knowing({}, { evidence });
    expect(await nextLeader(sim)).toBe('n1');
    expect((await termOf(sim, 'n1')).evidence).toBeUndefined();
    expect(violationsOf(sim, 'n2')).toEqual(['Q3: evidence() threw no database']);
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('oops');
      },
      'threw oops',
    ],
    ['gives NaN', () => Number.NaN, 'gave NaN'],
  ])(
    'Q3: a comparison that %s makes all evidence equal, with a violation',
    async (_, compareEvidence, told) => {
      const sim = knowing({ n1: 1, n2: 2, n3: 3 }, { compareEvidence });
      expect(await nextLeader(sim)).toBe('n1');
      expect(violationsOf(sim, 'n2')).toEqual([`Q3: the comparison ${told}`]);
    },
  );

  it('Q3: what cannot be compared with each other elects nobody', async () => {
    const sim = knowing({ n1: 'text', n2: 7, n3: ['list'] });
    await sim.run(30_000);
    expect(leaderOf(sim)).toBeNull();
    expect(violationsOf(sim, 'n1')).toEqual(['Q3: the comparison gave NaN']);
  });

  it('Q3: newer evidence beats rank: whoever has it is elected within some rank steps', async () => {
    const known: Record<string, number> = { n1: 1, n2: 1, n3: 1 };
    const sim = knowing(known);
    await nextLeader(sim);
    Object.assign(known, { n2: 2, n3: 3 });
    sim.leave('n1');
    await sim.runUntil(() => sim.running.length === 2);
    const at = sim.now;
    expect(await nextLeader(sim)).toBe('n3');
    expect(sim.now - at).toBeLessThan(2500);
  });

  it('Q3: an unwilling voter that alone has the newest evidence leads as a last resort, and hands over', async () => {
    const known: Record<string, number> = { n1: 1, n2: 1, n3: 1 };
    const sim = knowing(known);
    await nextLeader(sim);
    sim.crash('n3');
    known['n1'] = 9;
    sim.node('n1').leadership.setCandidacy(false);
    await sim.run(1000);
    expect(leaderOf(sim)).toBeNull();
    // n2 needs the vote of n1, which knows more and does not want to lead.
    expect(await nextLeader(sim, undefined, 40_000)).toBe('n1');
    await sim.run(5000);
    expect(leaderOf(sim)).toBe('n1');
    known['n2'] = 9;
    await sim.runUntil(() => leaderOf(sim) === 'n2', { withinMs: 3000 });
    await sim.run(20_000);
    expect(leaderOf(sim)).toBe('n2');
  });

  it('Q3: an unwilling voter whose evidence others have too never leads', async () => {
    const sim = knowing({ n1: 9, n2: 9, n3: 9 });
    sim.node('n1').leadership.setCandidacy(false);
    await nextLeader(sim);
    sim.crash('n2');
    expect(await nextLeader(sim)).toBe('n3');
    sim.crash('n3');
    sim.restart('n2');
    expect(await nextLeader(sim)).toBe('n2');
  });
});

describe('what a leader is told', () => {
  it('Q11: the newest evidence among those who elected it is there before any work runs', async () => {
    // n1 is elected by n2 or n3, or both; whatever it has is never behind them.
    const known: Record<string, number> = { n1: 4, n2: 3, n3: 2 };
    const sim = knowing(known);
    const seen: unknown[] = [];
    for (const id of VOTERS) {
      const lead = sim.node(id).leadership.lead((term) => {
        seen.push(term.evidence);
      });
      void lead.catch(() => undefined);
    }
    await nextLeader(sim);
    expect(seen).toEqual([4]);
    known['n3'] = 12;
    sim.crash('n1');
    await nextLeader(sim);
    expect(seen).toEqual([4, 12]);
  });

  it('Q11: without evidence() there is none', async () => {
    const sim = voting();
    expect((await termOf(sim, 'n1')).evidence).toBeUndefined();
  });
});
