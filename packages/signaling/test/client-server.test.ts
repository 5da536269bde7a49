import { afterEach, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { connectSignaling, roomIdOf, type SignalingClient } from '../src/index.ts';
import { createSignalingServer } from '../src/node.ts';
import { once, until } from './once.ts';

const room = roomIdOf('orders');
const undo: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

test('S2, S4: two clients meet, exchange a signal and see each other leave', async () => {
  const server = createSignalingServer();
  undo.push(() => server.close());
  const { url } = await server.listen();
  const connect = (meta: string): SignalingClient => {
    const client = connectSignaling({ url, room, meta, WebSocket });
    undo.push(() => client.close());
    return client;
  };
  const first = connect('first');
  await once(first, 'ready');
  const second = connect('second');
  const [joined] = await Promise.all([once(first, 'joined'), once(second, 'ready')]);
  expect(joined).toMatchObject({ peer: second.peer, meta: 'second' });
  expect([...second.peers.values()]).toEqual([{ peer: first.peer, meta: 'first' }]);
  expect(second.send(first.peer ?? '', 'offer')).toBe(true);
  expect(await once(first, 'signal')).toMatchObject({ from: second.peer, data: 'offer' });
  const gone = second.peer;
  second.close();
  expect(await once(first, 'left')).toMatchObject({ peer: gone, reason: 'bye' });
  expect(second.state).toBe('closed');
  await until(() => server.metrics().sockets === 1);
});
