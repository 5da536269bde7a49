import { describe, expect, test } from 'vitest';
import { memoryFence } from '../../src/fence/index.ts';
import { quorum, type Term } from '../../src/index.ts';
import { type Simulation, simulate } from '../../src/testing/index.ts';

/** Each node works on the fence while it leads; gives who did, and why terms ended. */
function employ(sim: Simulation, fence = memoryFence()) {
  const admitted: { id: string; epoch: number }[] = [];
  const ends: string[] = [];
  for (const id of sim.ids) {
    const work = async (term: Term) => {
      term.signal.addEventListener('abort', () => ends.push(`${id} ${term.signal.reason.code}`));
      while (!term.signal.aborted) {
        await fence.admit(term.token, () => admitted.push({ id, epoch: term.epoch }));
        await sim.sleep(200, { signal: term.signal, node: id });
      }
    };
    sim
      .node(id)
      .leadership.lead(work, { fences: [fence] })
      .catch(() => undefined);
  }
  return { fence, admitted, ends };
}

describe('a leader and its fence', () => {
  test('X2: opens it before its work starts', async () => {
    const sim = simulate({ seed: 1, nodes: 1 });
    const order: string[] = [];
    const fence = {
      open: async ({ epoch }: { epoch: number }) => void order.push(`open ${epoch}`),
    };
    const work = (term: Term) => void order.push(`work ${term.epoch}`);
    sim
      .node('n1')
      .leadership.lead(work, { fences: [fence] })
      .catch(() => undefined);
    await sim.run(5000);
    expect(order).toEqual(['open 1', 'work 1']);
  });

  test('X2: steps down when it has admitted a newer one, and works again above it', async () => {
    const sim = simulate({ seed: 1, nodes: 2 });
    const { fence, admitted, ends } = employ(sim);
    await sim.run(5000);
    await fence.open({ cluster: 'sim', epoch: 50, holder: 'elsewhere' });
    await sim.run(3000);
    expect(ends).toEqual([`${admitted[0]?.id} fenced`]);
    expect(sim.node('n1').leadership.current).toBe(null);
    await sim.run(30_000);
    expect(admitted.at(-1)?.epoch).toBeGreaterThan(50);
  });

  test('X2: whose calls of lead() go on when it is fenced', async () => {
    const sim = simulate({ seed: 1, nodes: 1 });
    const fence = memoryFence();
    await fence.open({ cluster: 'sim', epoch: 9, holder: 'elsewhere' });
    const epochs: number[] = [];
    const lead = sim.node('n1').leadership.lead((term) => void epochs.push(term.epoch), {
      fences: [fence],
    });
    await sim.run(60_000);
    expect(epochs).toEqual([10]);
    await sim.node('n1').leave();
    await lead;
  });

  test('X2: of another cluster fails for good', async () => {
    const sim = simulate({ seed: 1, nodes: 1 });
    const fence = memoryFence();
    await fence.open({ cluster: 'another', epoch: 1, holder: 'x' });
    const lead = sim.node('n1').leadership.lead(() => undefined, { fences: [fence] });
    const failure = lead.catch((error: unknown) => error);
    await sim.run(10_000);
    expect(await failure).toMatchObject({ code: 'fenced', verdict: 'foreign' });
  });

  test('X2: that never answers holds up its own term only, and no leave', async () => {
    const sim = simulate({ seed: 1, nodes: 2 });
    const opened: number[] = [];
    const worked: number[] = [];
    const fence = {
      open: async ({ epoch }: { epoch: number }) => {
        opened.push(epoch);
        if (opened.length === 1) await new Promise(() => undefined);
      },
    };
    const { leadership } = sim.node('n1');
    let isOver = false;
    const work = (term: Term) => void worked.push(term.epoch);
    void leadership.lead(work, { fences: [fence] }).then(() => {
      isOver = true;
    });
    await sim.run(5000);
    expect([opened, worked]).toEqual([[1], []]);
    void leadership.transfer('n2');
    await sim.runUntil(() => sim.node('n2').leadership.isSelf, { withinMs: 1000 });
    sim.leave('n2');
    await sim.run(5000);
    expect(worked).toEqual([leadership.epoch]);
    opened.length = 0;
    const second = leadership.lead(work, { fences: [fence] });
    sim.leave('n1');
    await second;
    expect(isOver).toBe(true);
  }, 5000);

  test('X2: two sides that share one do not take it from each other in turns', async () => {
    const sim = simulate({ seed: 3, nodes: 4 });
    const { admitted, ends } = employ(sim);
    await sim.run(10_000);
    sim.net.partition([
      ['n1', 'n2'],
      ['n3', 'n4'],
    ]);
    await sim.run(300_000);
    const holders = admitted.map(({ id }) => id).filter((id, at, all) => id !== all[at - 1]);
    // One side begins; each time that the other has waited it may get it once, at a doubled price.
    expect(holders.length).toBeGreaterThan(0);
    expect(holders.length).toBeLessThanOrEqual(16);
    expect(ends.filter((end) => end.endsWith('fenced')).length).toBeLessThanOrEqual(16);
    sim.net.heal();
    await sim.runUntil(
      () => sim.running.filter((id) => sim.node(id).leadership.isSelf).length === 1,
    );
  });

  test('X2, Q8: where voters decide, the next epoch is above what the fence has admitted', async () => {
    const election = () => quorum({ voters: ['n1', 'n2', 'n3'] });
    const sim = simulate({ seed: 1, nodes: 3, election });
    const { fence, admitted, ends } = employ(sim);
    await sim.run(5000);
    await fence.open({ cluster: 'sim', epoch: 50, holder: 'elsewhere' });
    await sim.run(15_000);
    expect(ends[0]).toMatch(/fenced$/);
    expect(admitted.at(-1)?.epoch).toBe(51);
  });
});
