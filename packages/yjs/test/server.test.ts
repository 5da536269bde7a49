import { type DoyenNode, join, MemoryNetwork, memory } from '@doyen/core';
import { afterEach, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { messageSync } from 'y-websocket';
import * as Y from 'yjs';
import { type DoyenProvider, doyenProvider, type ProviderFault } from '../src/index.ts';
import { type RealServer, serve, until } from './real-server.ts';

// Real sockets, the real server, real time.

const undo: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

async function start(): Promise<RealServer> {
  const server = await serve();
  undo.push(() => server.close());
  return server;
}

interface Tab {
  readonly node: DoyenNode;
  readonly doc: Y.Doc;
  readonly provider: DoyenProvider;
  readonly faults: ProviderFault[];
}

async function open(network: MemoryNetwork, { url }: RealServer, cluster = 'real'): Promise<Tab> {
  const node = await join({ cluster, transport: memory({ network }), joinGraceMs: 200 });
  const doc = new Y.Doc();
  const provider = doyenProvider(doc, {
    node,
    room: 'room',
    url,
    WebSocket,
  });
  const faults: ProviderFault[] = [];
  provider.on('fault', (fault) => faults.push(fault));
  undo.push(async () => {
    provider.destroy();
    doc.destroy();
    await node.leave();
  });
  return { node, doc, provider, faults };
}

describe('a real y-websocket server', () => {
  test('Y1, Y2, Y4: five tabs, one socket, through two handovers', async () => {
    const server = await start();
    const network = new MemoryNetwork();
    const tabs = await Promise.all(Array.from({ length: 5 }, () => open(network, server)));
    await Promise.all(tabs.map(({ provider }) => provider.whenSynced()));
    expect(server.open).toBe(1);
    const written: string[] = [];
    for (let round = 0; round < 3; round += 1) {
      for (const [at, { doc }] of tabs.entries()) {
        written.push(`<${round}.${at}>`);
        doc.getText('text').insert(0, `<${round}.${at}>`);
      }
      await Promise.all(tabs.map(({ provider }) => provider.whenSynced()));
      const text = server.text();
      for (const piece of written) expect(text.split(piece)).toHaveLength(2);
      for (const { doc } of tabs) expect(doc.getText('text').toString()).toBe(text);
      const at = tabs.findIndex(({ node }) => node.leadership.isSelf);
      await tabs.splice(at, 1)[0]?.node.leave();
      await until(() => tabs.some(({ node }) => node.leadership.isSelf));
    }
    await until(() => server.guard.counts.leaders === 1 && server.open === 1);
  });

  test('Y6: the close code and the highest epoch reach the leader that is refused', async () => {
    const server = await start();
    const [near, far] = [new MemoryNetwork(), new MemoryNetwork()];
    const first = await open(near, server);
    await first.provider.whenSynced();
    // The same cluster by name, in another world: both lead in epoch 1.
    const second = await open(far, server);
    await until(() => second.faults.length > 0);
    expect(second.faults[0]).toMatchObject({ code: 'fenced', closeCode: 4409, high: 1 });
    expect(second.provider.status).toBe('disconnected');
    expect(first.provider.status).toBe('connected');
    expect(server.guard.counts).toMatchObject({ leaders: 1, fenced: 1 });
  });

  test('Y6: what a superseded socket still sends changes nothing', async () => {
    const server = await start();
    const doc = new Y.Doc();
    doc.getText('text').insert(0, 'late');
    const query = (epoch: number, holder: string): string =>
      `${server.url}/room?doyen-cluster=c&doyen-epoch=${epoch}&doyen-holder=${holder}`;
    const older = await connected(query(1, 'a'));
    const newer = await connected(query(2, 'b'));
    undo.push(() => newer.terminate());
    // Sent before its end is heard of: what was on its way when the newer one came.
    const update = Y.encodeStateAsUpdate(doc);
    older.send(Uint8Array.of(messageSync, 2, update.length, ...update));
    const code = await new Promise((resolve) => older.once('close', resolve));
    expect(code).toBe(4409);
    expect(server.text()).toBe('');
  });

  test('Y6: a tab that is loaded anew, alone, has its connection at once', async () => {
    const server = await start();
    const network = new MemoryNetwork();
    const first = await open(network, server);
    first.doc.getText('text').insert(0, 'kept');
    await first.provider.whenSynced();
    await first.node.leave();
    const second = await open(network, server);
    const begun = performance.now();
    await second.provider.whenSynced();
    expect(second.doc.getText('text').toString()).toBe('kept');
    expect(performance.now() - begun).toBeLessThan(4_000);
  });
});

async function connected(url: string): Promise<WebSocket> {
  const socket = new WebSocket(url);
  await new Promise((resolve) => socket.once('open', resolve));
  return socket;
}
