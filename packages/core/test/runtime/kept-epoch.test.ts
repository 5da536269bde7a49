import { expect, test } from 'vitest';
import { highestId, join, MemoryNetwork, memory } from '../../src/index.ts';
import { memoryStore, type Store } from '../../src/store/index.ts';

async function leaderAlone(store: Store) {
  const network = new MemoryNetwork();
  const transport = memory({ network });
  const node = await join({ cluster: 'c', id: 'a', transport, election: highestId(), store });
  await node.leadership.waitForLeader();
  return node;
}

test('E4: with a store the epoch outlives a restart of the whole cluster', async () => {
  const store = memoryStore();
  for (const epoch of [1, 2, 3]) {
    const node = await leaderAlone(store);
    expect(node.leadership.epoch).toBe(epoch);
    await node.leave();
  }
});

test('E4: a store that holds something else keeps the node from leading, and is left as it is', async () => {
  const store = memoryStore();
  const bytes = new TextEncoder().encode('no epoch');
  await store.write('c\na', bytes, null);
  const transport = memory({ network: new MemoryNetwork() });
  const node = await join({ cluster: 'c', id: 'a', transport, store });
  const fault = await new Promise<{ code: string }>((resolve) => {
    node.addEventListener('fault', resolve, { once: true });
  });
  expect(fault.code).toBe('floor-failed');
  await node.ready();
  expect(node.leadership.current).toBe(null);
  await node.leave();
  expect(await store.read('c\na')).toEqual(bytes);
});

test('E4: a store wants an id, as it remembers for one', async () => {
  const options = { cluster: 'c', transport: memory(), store: memoryStore() };
  await expect(join(options)).rejects.toThrow('id must be given with a store');
});
