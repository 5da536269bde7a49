import { join, MemoryNetwork, memory } from '@doyen/core';
import { describe, expect, it } from 'vitest';
import { eventsOf, settled } from './rules/cluster.ts';

// Cases of docs/CASES.md that no test of a rule covers.

describe('one process', () => {
  it('M1: of two living nodes with one id one fails with a code, and nobody else is disturbed', async () => {
    const start = starter();
    const nodes = [await start('ada'), await start('bob')];
    await Promise.all(nodes.map((node) => node.leadership.waitForLeader()));
    const seen: string[] = [];
    nodes[0]?.addEventListener('memberleave', ({ member }) => seen.push(member.id));
    const double = await start('bob');
    await expect.poll(() => [nodes[1]?.state, double.state].sort()).toEqual(['failed', 'joined']);
    const loser = double.state === 'failed' ? double : nodes[1];
    const lead = loser?.leadership.lead(() => undefined);
    await expect(lead).rejects.toMatchObject({ code: 'duplicate-id' });
    expect(seen).toEqual([]);
    await Promise.all([...nodes, double].map((node) => node.leave()));
  });

  it('M7: join, abort and join in one turn leave one node', async () => {
    const start = starter();
    const witness = await start('witness');
    const mounted = new AbortController();
    const first = start('tab', mounted.signal);
    mounted.abort();
    const second = await start('tab');
    await first.then(
      (node) => node.leave(),
      (error: unknown) => expect(error).toBe(mounted.signal.reason),
    );
    await expect.poll(() => witness.members.map(({ id }) => id)).toEqual(['tab', 'witness']);
    expect(second.state).toBe('joined');
    await Promise.all([second.leave(), witness.leave()]);
  });

  it('M7: after leaving, joining again makes another instance of the same id', async () => {
    const start = starter();
    const witness = await start('witness');
    const first = await start('tab');
    await first.leave();
    const second = await start('tab');
    await expect
      .poll(() => witness.members.find(({ id }) => id === 'tab')?.instance)
      .toBe(second.instance);
    expect(second.instance).not.toBe(first.instance);
    expect(first.state).toBe('left');
    await Promise.all([second.leave(), witness.leave()]);
  });
});

describe('ten nodes', () => {
  it('M5: a node whose ears come and go is removed at most once, and no other node is', async () => {
    const sim = await settled({ nodes: 10 });
    const at = sim.now;
    const others = sim.ids.filter((id) => id !== 'n10');
    for (let round = 0; round < 5; round += 1) {
      for (const id of others) sim.net.cut(id, 'n10', { oneWay: true });
      await sim.run(20_000);
      for (const id of others) sim.net.join(id, 'n10');
      await sim.run(20_000);
    }
    for (const id of others) {
      const left = eventsOf(sim, id, 'memberleave', at).map(({ member }) => member);
      expect(left.filter((member) => member !== 'n10')).toEqual([]);
      expect(left.length).toBeLessThanOrEqual(1);
    }
  });
});

/** Starts nodes of one cluster on a network of their own. */
function starter() {
  const network = new MemoryNetwork();
  return (id: string, signal?: AbortSignal) => {
    const transport = memory({ network });
    return join({ cluster: 'cases', id, transport, ...(signal && { signal }) });
  };
}
