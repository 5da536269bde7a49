import { getEventListeners } from 'node:events';
import { join, MemoryNetwork, memory } from '@doyen/core';
import { afterEach, describe, expect, test } from 'vitest';
import { Awareness } from 'y-protocols/awareness';
import * as Y from 'yjs';
import { doyenProvider, type ProviderOptions } from '../src/index.ts';
import { Lab } from './lab.ts';
import { runAs, timerCount } from './virtual-platform.ts';

const undo: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

async function lone(): Promise<Omit<ProviderOptions, 'room'>> {
  const node = await join({
    cluster: 'options',
    transport: memory({ network: new MemoryNetwork() }),
  });
  undo.push(() => node.leave());
  return { node };
}

class Silent {
  close(): void {
    // Never opened.
  }
}

describe('options', () => {
  test.each([
    [{ node: undefined }, TypeError],
    [{ node: {} }, TypeError],
    [{ room: undefined }, TypeError],
    [{ room: '' }, RangeError],
    [{ room: 'x'.repeat(101) }, RangeError],
    [{ room: 'a\nb' }, RangeError],
    [{ url: 'https://example' }, RangeError],
    [{ url: 'ws://example/?token=1' }, RangeError],
    [{ url: 5 }, TypeError],
    [{ awareness: {} }, TypeError],
    [{ params: { token: 5 } }, TypeError],
    [{ params: 'token' }, RangeError],
    [{ fallback: 'yes' }, RangeError],
    [{ WebSocket: {} }, TypeError],
    [{ disableBc: true }, TypeError],
  ])(
    'Y8: wrong ones are refused by name, and nothing is opened (%j)',
    async (wrong, ErrorClass) => {
      const options = { ...(await lone()), room: 'r', ...wrong } as ProviderOptions;
      const [name = ''] = Object.keys(wrong);
      expect(() => doyenProvider(new Y.Doc(), options)).toThrow(ErrorClass);
      expect(() => doyenProvider(new Y.Doc(), options)).toThrow(name);
    },
  );

  test('Y8: a url without any WebSocket is unsupported', async () => {
    const options = { ...(await lone()), room: 'r', url: 'ws://server' };
    const { WebSocket } = globalThis;
    Object.assign(globalThis, { WebSocket: undefined });
    undo.push(() => void Object.assign(globalThis, { WebSocket }));
    expect(() => doyenProvider(new Y.Doc(), options)).toThrow(
      expect.objectContaining({ code: 'unsupported' }),
    );
  });

  test('Y8: a node that has left opens nothing', async () => {
    const { node } = await lone();
    await node.leave();
    expect(() => doyenProvider(new Y.Doc(), { node, room: 'r' })).toThrow(
      expect.objectContaining({ code: 'left' }),
    );
  });

  test('Y8: a room is open once on a node, and again after destroy', async () => {
    const { node } = await lone();
    const first = doyenProvider(new Y.Doc(), { node, room: 'r' });
    expect(() => doyenProvider(new Y.Doc(), { node, room: 'r' })).toThrow(TypeError);
    const other = doyenProvider(new Y.Doc(), { node, room: 'q' });
    first.destroy();
    const second = doyenProvider(new Y.Doc(), { node, room: 'r' });
    undo.push(() => {
      second.destroy();
      other.destroy();
    });
  });

  test('Y8: a room’s name may hold what a path may not', async () => {
    const urls: string[] = [];
    class Recorder extends Silent {
      constructor(url: string) {
        super();
        urls.push(url);
      }
    }
    const { node } = await lone();
    await node.leadership.waitForLeader();
    const doc = new Y.Doc();
    const options = { url: 'ws://server/', room: 'a/b?c#d', params: { token: 'x y' } };
    const provider = doyenProvider(doc, { node, WebSocket: Recorder, ...options });
    undo.push(() => provider.destroy());
    await new Promise((resolve) => setTimeout(resolve));
    const { pathname, searchParams } = new URL(urls[0] ?? '');
    expect(pathname).toBe('/a/b%3Fc%23d');
    expect(searchParams.get('token')).toBe('x y');
  });
});

describe('params', () => {
  test('Y1: are asked for in each term, and one that never come hold up nobody', async () => {
    const lab = new Lab({ seed: 13, nodes: 1 });
    undo.push(() => lab.close());
    await lab.sim.runUntil(() => lab.running.every(({ provider }) => provider.synced));
    const { doc, provider } = lab.tab('n1');
    provider.destroy();
    const { room } = provider;
    const node = lab.sim.node('n1');
    let asked = 0;
    const again = runAs('n1', () =>
      doyenProvider(doc, {
        node,
        room,
        url: 'ws://server',
        WebSocket: lab.wires.socketClass('n1'),
        params: () => {
          asked += 1;
          return asked === 1 ? new Promise(() => undefined) : { token: String(asked) };
        },
      }),
    );
    undo.push(() => again.destroy());
    await lab.sim.run(1_000);
    expect(again.status).toBe('connecting');
    await node.leadership.resign();
    await lab.sim.runUntil(() => again.synced);
    expect(lab.wires.urls.at(-1)).toContain('token=2');
  });

  test('Y1: that fail are a fault, and asked for again', async () => {
    const lab = new Lab({ seed: 14, nodes: 1 });
    undo.push(() => lab.close());
    await lab.sim.runUntil(() => lab.running.every(({ provider }) => provider.synced));
    const { doc, provider } = lab.tab('n1');
    provider.destroy();
    let asked = 0;
    const again = runAs('n1', () =>
      doyenProvider(doc, {
        node: lab.sim.node('n1'),
        room: provider.room,
        url: 'ws://server',
        WebSocket: lab.wires.socketClass('n1'),
        params: async () => {
          asked += 1;
          if (asked === 1) throw new Error('no token');
          return { token: 'good' };
        },
      }),
    );
    undo.push(() => again.destroy());
    const faults: unknown[] = [];
    again.on('fault', ({ code }) => faults.push(code));
    await lab.sim.run(1_000);
    expect([faults, again.status]).toEqual([['refused'], 'disconnected']);
    await lab.sim.runUntil(() => again.synced, { withinMs: 31_000 });
  });

  test('Y1: a server that closes for good is a fault, and asked again after 30 s', async () => {
    const lab = new Lab({ seed: 15, nodes: 2 });
    undo.push(() => lab.close());
    await lab.sim.runUntil(() => lab.running.every(({ provider }) => provider.synced));
    const before = lab.wires.urls.length;
    for (const wire of [...lab.wires.all]) wire.server.close(4401, 'token expired');
    await lab.sim.run(29_000);
    expect(lab.wires.urls.length).toBe(before);
    expect(lab.leader?.faults).toMatchObject([{ code: 'refused', closeCode: 4401 }]);
    expect(lab.running.map(({ provider }) => provider.status)).toEqual(
      Array(2).fill('disconnected'),
    );
    await lab.sim.runUntil(() => lab.running.every(({ provider }) => provider.synced), {
      withinMs: 3_000,
    });
  });
});

describe('the end', () => {
  /** Listeners that a provider has on its node. */
  function listeners(lab: Lab, id: string): number {
    const node = lab.sim.node(id);
    const types = ['memberjoin', 'memberleave', 'memberalive', 'linkchange', 'statechange'];
    const channel = node.channel(`doyen.yjs.v1/${lab.tab(id).provider.room}`);
    return [
      ...types.map((type) => getEventListeners(node, type)),
      getEventListeners(node.leadership, 'change'),
      ...['message', 'gap', 'dropped'].map((type) => getEventListeners(channel, type)),
    ].flat().length;
  }

  test('Y8: destroy leaves no timer, no listener and no connection, however often it is called', async () => {
    const lab = new Lab({ seed: 7, nodes: 2 });
    undo.push(() => lab.close());
    await lab.sim.runUntil(() => lab.running.every(({ provider }) => provider.synced));
    for (const { id, provider, doc } of lab.running) {
      const doubled = listeners(lab, id);
      provider.destroy();
      provider.destroy();
      expect(provider.status).toBe('disconnected');
      await lab.sim.run(100);
      // As many again are the recorder's of the simulation.
      expect(doubled - listeners(lab, id)).toBe(9);
      const { _observers } = doc as unknown as { _observers: Map<string, Set<unknown>> };
      expect([...(_observers.get('update') ?? [])]).toEqual([]);
    }
    await lab.sim.run(100);
    expect(lab.running.map(({ id }) => timerCount(id))).toEqual([0, 0]);
    expect(lab.wires.open).toBe(0);
  });

  test('Y8: opening, closing and opening in one turn leaves one that works', async () => {
    const lab = new Lab({ seed: 8, nodes: 2 });
    undo.push(() => lab.close());
    await lab.sim.runUntil(() => lab.running.every(({ provider }) => provider.synced));
    const { id, doc, provider } = lab.tab('n2');
    provider.destroy();
    const options = {
      node: lab.sim.node(id),
      room: provider.room,
      url: 'ws://server',
      WebSocket: lab.wires.socketClass(id),
    };
    runAs(id, () => doyenProvider(doc, options).destroy());
    const again = runAs(id, () => doyenProvider(doc, options));
    undo.push(() => again.destroy());
    lab.act(id, () => doc.getText('text').insert(0, 'again'));
    await lab.sim.runUntil(() => again.synced && again.unsynced === 0);
    expect(lab.serverDoc.getText('text').toString()).toBe('again');
    expect(lab.wires.open).toBe(1);
  });

  test('Y8: the end of the document, or of the node, is that of the provider', async () => {
    const lab = new Lab({ seed: 9, nodes: 3 });
    undo.push(() => lab.close());
    await lab.sim.runUntil(() => lab.running.every(({ provider }) => provider.synced));
    lab.tab('n2').doc.destroy();
    expect(lab.tab('n2').provider.status).toBe('disconnected');
    const told: string[] = [];
    lab.tab('n1').provider.on('status', ({ status }) => told.push(status));
    lab.sim.leave('n1');
    await lab.sim.run(2_000);
    expect(told.at(-1)).toBe('disconnected');
    expect(timerCount('n1')).toBe(0);
  });

  test('Y8: an awareness that was given keeps its own state; one that was made ends', async () => {
    const { node } = await lone();
    const doc = new Y.Doc();
    const given = new Awareness(doc);
    given.setLocalState({ name: 'me' });
    doyenProvider(doc, { node, room: 'r', awareness: given }).destroy();
    expect(given.getLocalState()).toEqual({ name: 'me' });
    const made = doyenProvider(doc, { node, room: 'r' });
    made.destroy();
    expect(made.awareness.getLocalState()).toBeNull();
    given.destroy();
  });
});

describe('faults', () => {
  test('Y1: a leader that has not opened the room is told as a fault', async () => {
    const lab = new Lab({ seed: 10, nodes: 2 });
    undo.push(() => lab.close());
    await lab.sim.runUntil(() => lab.running.every(({ provider }) => provider.synced));
    lab.leader?.provider.destroy();
    const [follower] = lab.followers;
    await lab.sim.run(30_000);
    expect(follower?.faults.map(({ code }) => code)).toEqual(['leader-absent']);
    expect(follower?.provider.status).toBe('connecting');
  });

  test('Y5: a document that does not fit into a message is a fault, not an exception', async () => {
    const lab = new Lab({ seed: 11, nodes: 2 });
    undo.push(() => lab.close());
    await lab.sim.runUntil(() => lab.running.every(({ provider }) => provider.synced));
    const [one] = lab.followers;
    if (!one) throw new Error('too few tabs');
    lab.act(one.id, ({ doc }) => doc.getMap('map').set('big', 'x'.repeat(17 * 1024 * 1024)));
    await lab.sim.run(1_000);
    expect(one.faults.map(({ code }) => code)).toContain('too-large');
    expect(one.provider.unsynced).toBe(1);
  });

  test('Y4: an observer that throws does not stop the exchange', async () => {
    const lab = new Lab({ seed: 12, nodes: 2 });
    undo.push(() => lab.close());
    await lab.sim.runUntil(() => lab.running.every(({ provider }) => provider.synced));
    const [one] = lab.followers;
    if (!one || !lab.leader) throw new Error('too few tabs');
    one.doc.getText('text').observe(() => {
      throw new Error('of the application');
    });
    lab.act(lab.leader.id, ({ doc }) => doc.getText('text').insert(0, 'on'));
    await lab.sim.run(500);
    expect(one.doc.getText('text').toString()).toBe('on');
    expect(one.faults).toMatchObject([{ code: 'apply-failed' }]);
  });
});
