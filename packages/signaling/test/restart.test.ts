import { afterEach, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { connectSignaling, roomIdOf, type SignalingClient } from '../src/index.ts';
import { createSignalingServer, type SignalingServer } from '../src/node.ts';
import { once, until } from './once.ts';
import { RawSocket } from './raw-socket.ts';

const ROOM = roomIdOf('restart tests');
const undo: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

async function start(port = 0): Promise<{ server: SignalingServer; url: string; port: number }> {
  const server = createSignalingServer();
  undo.push(() => server.close());
  return { server, ...(await server.listen({ port })) };
}

function connect(url: string, random = Math.random): SignalingClient {
  const client = connectSignaling({ url, room: ROOM, WebSocket, random });
  undo.push(() => client.close());
  return client;
}

const isWhole = (clients: readonly SignalingClient[]) =>
  clients.every(
    ({ state, peers }) =>
      state === 'ready' &&
      [...peers.values()].filter(({ away }) => !away).length === clients.length - 1,
  );

test('S4, S16: after a restart of the server all clients meet again without being asked', async () => {
  const first = await start();
  const clients = Array.from({ length: 5 }, () => connect(first.url));
  await until(() => isWhole(clients));
  const before = clients.map(({ peer }) => peer);
  await first.server.close({ spreadMs: 200 });
  expect(clients.map(({ state }) => state)).toEqual(Array(5).fill('waiting'));
  await start(first.port);
  await until(() => isWhole(clients), 10_000);
  const ids = new Set(clients.map(({ peer }) => peer));
  expect(ids.size).toBe(5);
  for (const peer of before) expect(ids.has(peer)).toBe(false);
  for (const { peers } of clients)
    for (const peer of peers.keys()) expect(ids.has(peer)).toBe(true);
});

test('S7: a client whose socket is cut resumes under its id, and its peer sees away and back', async () => {
  const { server, url } = await start();
  const sockets: WebSocket[] = [];
  class Tracked extends WebSocket {
    constructor(address: string, protocol?: string) {
      super(address, protocol);
      sockets.push(this);
    }
  }
  const watcher = connect(url);
  await once(watcher, 'ready');
  const client = connectSignaling({ url, room: ROOM, WebSocket: Tracked, random: () => 0.01 });
  undo.push(() => client.close());
  await once(client, 'ready');
  const peer = client.peer;
  const seen: string[] = [];
  for (const type of ['joined', 'left', 'away', 'back'] as const)
    watcher.addEventListener(type, (event) => seen.push(event.type));
  const again = once(client, 'ready');
  sockets[0]?.terminate();
  await again;
  expect(client.peer).toBe(peer);
  await until(() => seen.includes('back'));
  expect(seen.filter((type) => type !== 'joined')).toEqual(['away', 'back']);
  expect(server.metrics()).toMatchObject({ sockets: 2, members: 2, away: 0 });
});

test('S22: a server that is not there yet is found once it is', async () => {
  const reserved = await start();
  await reserved.server.close();
  const client = connect(reserved.url, () => 0.05);
  await until(() => client.state === 'waiting');
  await start(reserved.port);
  await once(client, 'ready');
});

test('S22: a refused token fails for good, and says with which code', async () => {
  const server = createSignalingServer({ authorize: ({ token }) => token === 'good' });
  undo.push(() => server.close());
  const { url } = await server.listen();
  const client = connectSignaling({ url, room: ROOM, WebSocket, token: () => 'bad' });
  undo.push(() => client.close());
  expect(await once(client, 'error')).toMatchObject({ code: 'unauthorized' });
  await until(() => client.state === 'failed');
  expect(client.code).toBe(4401);
});

test('S10, S22: a full room is told, and entered when there is a place', async () => {
  const server = createSignalingServer({ limits: { roomPeersMax: 1 } });
  undo.push(() => server.close());
  const { url } = await server.listen();
  const holder = new RawSocket(`${url}/rooms/${ROOM}`);
  await holder.enter();
  const client = connect(url, () => 0.05);
  expect(await once(client, 'error')).toMatchObject({ code: 'room_full' });
  await until(() => client.state === 'waiting');
  holder.say({ type: 'bye' });
  await once(client, 'ready');
});
