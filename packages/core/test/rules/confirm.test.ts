import { describe, expect, it } from 'vitest';
import type { Term } from '../../src/runtime/term.ts';
import type { Simulation } from '../../src/testing/simulate.ts';
import { settled } from './cluster.ts';

/** The term of a node that leads. */
async function termOf(sim: Simulation, id: string): Promise<Term> {
  let term: Term | undefined;
  void sim.node(id).leadership.lead(async (given) => {
    term = given;
    await sim.sleep(1e9, { signal: given.signal });
  });
  await sim.runUntil(() => term !== undefined);
  return term as Term;
}

describe('confirm', () => {
  it('Q7: a round ends with the answer that makes most of the roster', async () => {
    const sim = await settled({ nodes: 5, latencyMs: [20, 20] });
    const term = await termOf(sim, 'n1');
    let confirmedAt = 0;
    const { now } = sim;
    void term.confirm().then(() => {
      confirmedAt = sim.now;
    });
    await sim.runUntil(() => confirmedAt > 0);
    expect(confirmedAt - now).toBeLessThan(150);
  });

  it.each([2, 3, 5])('Q7: a leader cut off from %d members is not confirmed', async (nodes) => {
    const sim = await settled({ nodes });
    const term = await termOf(sim, 'n1');
    sim.net.partition([['n1'], sim.ids.filter((id) => id !== 'n1')]);
    // Within the window: afterwards the others are no members any more, and it leads itself.
    for (const waitMs of [0, 2000, 4000]) {
      await sim.run(waitMs);
      const outcomes: string[] = [];
      term.confirm().then(
        () => outcomes.push('confirmed'),
        (error: { code: string }) => outcomes.push(error.code),
      );
      await sim.runUntil(() => outcomes.length > 0);
      expect(outcomes).toEqual(['leadership-lost']);
    }
    expect(term.isValid()).toBe(false);
  });

  it('Q7: alone, a leader confirms itself', async () => {
    const sim = await settled({ nodes: 1 });
    const term = await termOf(sim, 'n1');
    await term.confirm();
    expect(term.isValid(500)).toBe(true);
  });
});
