import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type ClientOptions, WebSocket } from 'ws';
import * as Y from 'yjs';
import { SyncServer } from '../sync/sync-server.mjs';

/** As many documents as the server keeps. */
const DOCUMENTS = 32;

let http: Server;
let sync: SyncServer;

beforeEach(async () => {
  sync = new SyncServer();
  http = createServer((request, response) => {
    if (!sync.handle(request, response)) response.writeHead(404).end();
  });
  sync.attach(http);
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
});

afterEach(async () => {
  sync.stop();
  http.closeAllConnections();
  await new Promise((resolve) => http.close(resolve));
});

const host = (): string => `127.0.0.1:${(http.address() as AddressInfo).port}`;

test('Y6: of two leaders the newer stays, and the counts are those of one document', async () => {
  const query = (epoch: number): string =>
    `?doyen-cluster=c&doyen-epoch=${epoch}&doyen-holder=h${epoch}`;
  const older = await open(`a${query(1)}`);
  const closed = closeCode(older);
  await open(`a${query(2)}`);
  await open('b');
  expect(await closed).toBe(4409);
  await expect
    .poll(() => sync.counts('a'))
    .toEqual({ sockets: 1, leaders: 1, guests: 0, fenced: 1 });
  const answer = await fetch(`http://${host()}/sync/b`);
  expect(await answer.json()).toEqual({ sockets: 1, leaders: 0, guests: 0, fenced: 0 });
});

test('a page of another site gets no document, and no other path is served', async () => {
  await expect(open('a', { origin: 'http://elsewhere.example' })).rejects.toThrow('403');
  expect((await fetch(`http://${host()}/sync/${'n'.repeat(65)}`)).status).toBe(404);
});

test('a document that is too large is closed, and stays so', async () => {
  const doc = new Y.Doc();
  const socket = await open('a');
  const closed = closeCode(socket);
  // A second one takes it over the bound; one message may not be that large.
  for (const half of ['x', 'y']) {
    const before = Y.encodeStateVector(doc);
    doc.getText('text').insert(0, half.repeat(2_100_000));
    socket.send(updateMessage(Y.encodeStateAsUpdate(doc, before)));
  }
  expect(await closed).toBe(4413);
  expect(await closeCode(await open('a'))).toBe(4413);
  expect(sync.counts('b').sockets).toBe(0);
});

test('the oldest document that nobody uses makes room for another one', async () => {
  for (let at = 0; at < DOCUMENTS; at += 1) await open(`d${at}`);
  await expect(open('more')).rejects.toThrow('503');
  const idle = await open('d3');
  expect(sync.counts('d3').sockets).toBe(2);
  for (const socket of [idle, ...(opened.get('d3') ?? [])]) socket.terminate();
  await expect.poll(() => sync.counts('d3').sockets).toBe(0);
  await open('more');
  expect(sync.counts('more').sockets).toBe(1);
});

test('when it is stopped nothing is connected, and it says so', async () => {
  const closed = closeCode(await open('a'));
  sync.stop();
  await closed;
  expect((await fetch(`http://${host()}/sync/a`)).status).toBe(503);
  await expect(open('a')).rejects.toThrow('503');
  sync.start();
  await open('a');
  expect(sync.counts('a').sockets).toBe(1);
});

/** By document. */
const opened = new Map<string, WebSocket[]>();

async function open(document: string, options: ClientOptions = {}): Promise<WebSocket> {
  const socket = new WebSocket(`ws://${host()}/sync/${document}`, options);
  await new Promise((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('error', reject);
  });
  opened.set(document, [...(opened.get(document) ?? []), socket]);
  return socket;
}

function closeCode(socket: WebSocket): Promise<number> {
  return new Promise((resolve) => socket.once('close', resolve));
}

/** A message of the y-websocket protocol: sync, an update, its length and its bytes. */
function updateMessage(update: Uint8Array): Uint8Array {
  const head = [0, 2];
  let rest = update.length;
  for (; rest > 127; rest >>>= 7) head.push((rest & 127) | 128);
  return Buffer.concat([Uint8Array.of(...head, rest), update]);
}
