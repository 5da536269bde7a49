import { afterEach, expect, it } from 'vitest';
import { type DoyenNode, join, MemoryNetwork, memory, oldestNode } from '../../src/index.ts';

const nodes: DoyenNode[] = [];

async function joined(...args: Parameters<typeof join>): Promise<DoyenNode> {
  const node = await join(...args);
  nodes.push(node);
  return node;
}

afterEach(async () => {
  await Promise.all(nodes.splice(0).map((node) => node.leave()));
});

it('E1: two nodes of one process elect the older one', async () => {
  const network = new MemoryNetwork();
  const options = { cluster: 'c', election: oldestNode() };
  const a = await joined({ ...options, transport: memory({ network }), startedAt: 1 });
  const b = await joined({ ...options, transport: memory({ network }), startedAt: 2 });
  const signal = AbortSignal.timeout(5000);
  await Promise.all([a.ready({ signal }), b.ready({ signal })]);
  expect((await b.leadership.waitForLeader({ signal })).id).toBe(a.id);
  expect(a.leadership.isSelf).toBe(true);
});

it('rejects with the reason of a signal that has aborted before', async () => {
  const transport = memory();
  const signal = AbortSignal.abort('not now');
  await expect(join({ cluster: 'c', transport, signal })).rejects.toBe('not now');
});

it('M7: an abort later means leave, so that join, abort, join works', async () => {
  const network = new MemoryNetwork();
  const controller = new AbortController();
  const first = joined({
    cluster: 'c',
    id: 'a',
    transport: memory({ network }),
    signal: controller.signal,
  });
  controller.abort();
  const second = await joined({ cluster: 'c', id: 'a', transport: memory({ network }) });
  await second.ready({ signal: AbortSignal.timeout(5000) });
  const before = await first;
  await before.leave();
  expect([before.state, second.state]).toEqual(['left', 'joined']);
  expect(before.instance).not.toBe(second.instance);
});

it('a node can be disposed of', async () => {
  const node = await join({ cluster: 'c', transport: memory({ network: new MemoryNetwork() }) });
  {
    await using disposed = node;
    await disposed.ready();
  }
  expect(node.state).toBe('left');
});
