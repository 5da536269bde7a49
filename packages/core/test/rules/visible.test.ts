import { describe, expect, it } from 'vitest';
import { type JoinOptions, join, memory, oldestNode } from '../../src/index.ts';
import { webLock } from '../../src/tabs/index.ts';
import { type Simulation, simulate } from '../../src/testing/index.ts';

const AFTER_MS = 2_000;

describe.each([
  ['oldestNode()', () => oldestNode()],
  ['webLock()', () => webLock()],
])('preferVisible with %s', (_name, election) => {
  /** Tabs of one window: the last one is in front, `n1` leads. */
  async function tabs(preferVisible: { afterMs: number } | undefined = { afterMs: AFTER_MS }) {
    const exact = { latencyMs: [10, 10], jitter: false } as const;
    const sim = simulate({
      seed: 1,
      nodes: 3,
      election,
      ...exact,
      ...(preferVisible && { preferVisible }),
    });
    await sim.runUntil(() => sim.ids.every((id) => leaderOf(sim, id) === 'n1'));
    return sim;
  }

  it('B2: without it the lead stays with a leader that is hidden', async () => {
    const sim = simulate({ seed: 1, nodes: 2, election, latencyMs: [10, 10], jitter: false });
    await sim.runUntil(() => leaderOf(sim, 'n2') === 'n1');
    sim.hide('n1');
    await sim.run(60_000);
    expect(leaderOf(sim, 'n2')).toBe('n1');
  });

  it('B2: a leader that stays hidden hands the lead to a visible member, once', async () => {
    const sim = await tabs();
    sim.hide('n1');
    sim.hide('n2');
    const ms = await sim.runUntil(() => sim.ids.every((id) => leaderOf(sim, id) === 'n3'));
    expect(ms).toBeGreaterThanOrEqual(AFTER_MS);
    expect(ms).toBeLessThan(AFTER_MS + 1_500);
    const { epoch } = sim.node('n3').leadership;
    await sim.run(120_000);
    expect(sim.node('n1').leadership.epoch).toBe(epoch);
  });

  it('B2: each switch moves the lead once, also far behind the time that it takes', async () => {
    const sim = await tabs();
    for (const id of ['n2', 'n3']) sim.hide(id);
    const { epoch } = sim.node('n1').leadership;
    for (const [turn, id] of ['n2', 'n3', 'n1', 'n3'].entries()) {
      for (const other of sim.ids) if (other !== id) sim.hide(other);
      sim.show(id);
      await sim.run(20_000);
      expect([leaderOf(sim, 'n1'), sim.node('n1').leadership.epoch]).toEqual([
        id,
        epoch + turn + 1,
      ]);
    }
  });

  it('B2: nothing moves while somebody switches faster than that, nor while nobody can be seen', async () => {
    const sim = await tabs();
    for (const id of ['n1', 'n2', 'n3']) sim.hide(id);
    await sim.run(30_000);
    for (let turn = 0; turn < 30; turn += 1) {
      const [shown, hidden] = turn % 2 ? ['n2', 'n3'] : ['n3', 'n2'];
      sim.hide(hidden);
      sim.show(shown);
      await sim.run(AFTER_MS - 100);
    }
    expect([leaderOf(sim, 'n1'), leaderOf(sim, 'n3')]).toEqual(['n1', 'n1']);
    expect(sim.node('n1').leadership.epoch).toBe(1);
  });

  it('B2: the work of the leader is over before the member that can be seen begins', async () => {
    const sim = await tabs();
    const order: string[] = [];
    for (const id of ['n1', 'n2']) {
      void sim.node(id).leadership.lead(async ({ signal }) => {
        order.push(`${id} begins`);
        await sim.sleep(3_600_000, { signal }).catch(() => undefined);
        await sim.sleep(500);
        order.push(`${id} ends`);
      });
    }
    await sim.run(1_000);
    sim.hide('n1');
    sim.hide('n3');
    await sim.runUntil(() => sim.node('n2').leadership.isSelf);
    await sim.run(100);
    expect(order).toEqual(['n1 begins', 'n1 ends', 'n2 begins']);
  });
});

describe('preferVisible', () => {
  it('B2: it must be a whole number of milliseconds, and is refused by name', async () => {
    const joining = (preferVisible: object) => {
      return join({ cluster: 'c', transport: memory(), preferVisible } as unknown as JoinOptions);
    };
    await expect(joining({ afterMs: -1 })).rejects.toThrow(/^preferVisible.afterMs must be/);
    await expect(joining({})).rejects.toThrow(/^preferVisible.afterMs must be given/);
    await expect(joining({ after: 1, afterMs: 1 })).rejects.toThrow(/preferVisible.after is no/);
  });
});

function leaderOf(sim: Simulation, id: string): string | undefined {
  return sim.node(id).leadership.current?.id;
}
