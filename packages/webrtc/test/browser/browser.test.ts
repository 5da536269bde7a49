import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  type DoyenNode,
  join,
  type LinkDownReason,
  type Transport,
  type TransportHandler,
} from '@doyen/core';
import wrtc from '@roamhq/wrtc';
import type { Page } from 'playwright-core';
import { createServer } from 'vite';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { Recorder } from '../../../core/src/testing/recorder.ts';
import { webrtc } from '../../src/index.ts';
import type { TestPage } from './app/main.ts';
import { buildPeer, type Lab, openLab } from './lab.ts';
import { APP } from './site.ts';

declare const page: TestPage;

const DETECTION = { heartbeatIntervalMs: 500, suspicionMs: 8_000, leaderSuspicionMinMs: 1_000 };

/** As wrtc itself in some runs: it tells that its state has changed, and shows the old one. */
const HidingConnection = new Proxy(wrtc.RTCPeerConnection, {
  construct: (made, options) =>
    new Proxy(Reflect.construct(made, options) as RTCPeerConnection, {
      get: (connection, name) => {
        const value: unknown = Reflect.get(connection, name);
        if (value === 'failed') return 'disconnected';
        return typeof value === 'function' ? value.bind(connection) : value;
      },
    }),
});

describe('Chromium', () => {
  let lab: Lab;
  const nodes: DoyenNode[] = [];
  const children: ChildProcess[] = [];

  beforeAll(async () => {
    lab = await openLab();
  });

  afterAll(() => lab.close());

  afterEach(async () => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
    await Promise.all(nodes.splice(0).map((node) => node.leave()));
    await lab.closePages();
    expect(lab.pageErrors.splice(0)).toEqual([]);
  });

  async function joinPage(id: string, startedAt: number, cluster: string): Promise<Page> {
    const tab = await lab.open();
    await tab.evaluate(
      async ({ signaling, ...options }) => {
        page.nodes.push(await page.join({ ...options, transport: page.webrtc({ signaling }) }));
      },
      { id, startedAt, cluster, detection: DETECTION, signaling: lab.site.signaling },
    );
    return tab;
  }

  async function joinNode(
    id: string,
    startedAt: number,
    cluster: string,
    transport = webrtc({ signaling: lab.site.signaling, rtc: wrtc, WebSocket }),
  ): Promise<DoyenNode> {
    const node = await join({ id, startedAt, cluster, transport, detection: DETECTION });
    nodes.push(node);
    return node;
  }

  /** A Node process that joins; gives how to kill it. */
  async function startPeer(options: object): Promise<() => void> {
    const given = JSON.stringify({
      ...options,
      detection: DETECTION,
      signaling: lab.site.signaling,
    });
    const child = spawn(process.execPath, [await buildPeer(), given], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    children.push(child);
    await once(child.stdout, 'data');
    return () => child.kill('SIGKILL');
  }

  async function crash(tab: Page): Promise<void> {
    const crashed = new Promise((resolve) => tab.once('crash', resolve));
    const session = await tab.context().newCDPSession(tab);
    void session.send('Page.crash').catch(() => undefined);
    await crashed;
  }

  async function untilLeader(tab: Page, leader: string, memberCount: number): Promise<number> {
    await tab.waitForFunction(
      ([id, count]) => {
        const [node] = page.nodes;
        return node?.leadership.current?.id === id && node.members.length === count;
      },
      [leader, memberCount] as const,
      { timeout: 30_000, polling: 50 },
    );
    return tab.evaluate(() => page.nodes[0]?.leadership.epoch ?? 0);
  }

  async function untilNode(node: DoyenNode, leader: string, memberCount: number): Promise<void> {
    const isMet = () =>
      node.leadership.current?.id === leader && node.members.length === memberCount;
    await expect.poll(isMet, { timeout: 30_000 }).toBe(true);
  }

  it('W7: Node and Chromium elect one leader; Node leads, is killed, and is replaced', async () => {
    const killNode = await startPeer({ id: 'node', startedAt: 1, cluster: 'mixed' });
    const one = await joinPage('one', 2, 'mixed');
    const two = await joinPage('two', 3, 'mixed');
    const epoch = await untilLeader(one, 'node', 3);
    expect(await untilLeader(two, 'node', 3)).toBe(epoch);
    killNode();
    const next = await untilLeader(one, 'one', 2);
    expect(await untilLeader(two, 'one', 2)).toBe(next);
    expect(next).toBeGreaterThan(epoch);
  });

  it('W4: a page that goes away says goodbye: it has left, and is not suspected first', async () => {
    const tab = await joinPage('tab', 1, 'goodbye');
    const node = await joinNode('node', 2, 'goodbye');
    await untilNode(node, 'tab', 2);
    const seen: string[] = [];
    node.addEventListener('membersuspect', () => seen.push('suspect'));
    node.addEventListener('memberleave', ({ reason }) => seen.push(reason));
    // Not by closing the tab: on a busy machine Chromium may end it before its handlers have run.
    await tab.goto('about:blank');
    await untilNode(node, 'node', 1);
    await tab.close();
    expect(seen).toEqual(['leave']);
  });

  it('W4: a crashed tab says nothing, and is replaced before its link has ended', async () => {
    const tab = await joinPage('tab', 1, 'crash');
    const downs: string[] = [];
    const inner = webrtc({ signaling: lab.site.signaling, rtc: wrtc, WebSocket });
    const transport: Transport = {
      start: (handler, options) => inner.start({ ...handler, linkDown: note(handler) }, options),
      send: (...message) => inner.send(...message),
      close: () => inner.close(),
    };
    const note = (handler: TransportHandler) => (peer: string, why: LinkDownReason) => {
      downs.push(why);
      handler.linkDown(peer, why);
    };
    const node = await joinNode('node', 2, 'crash', transport);
    await untilNode(node, 'tab', 2);
    const replaced = new Promise<string>((resolve) => {
      node.leadership.addEventListener('change', ({ leader }) => {
        if (leader?.id === 'node') resolve(downs.join());
      });
    });
    await crash(tab);
    expect(await replaced).toBe('');
    await expect.poll(() => downs, { timeout: 40_000 }).toEqual(['failed']);
    await untilNode(node, 'node', 1);
  });

  it('W4: a crashed tab is away at once, and its link fails in the end, even if ICE hides it', async () => {
    const tab = await joinPage('tab', 1, 'hints');
    const rtc = { ...wrtc, RTCPeerConnection: HidingConnection };
    const transport = webrtc({ signaling: lab.site.signaling, rtc, WebSocket });
    const recorder = new Recorder();
    const { signal } = new AbortController();
    transport.start(recorder, { cluster: 'hints', id: 'witness', instance: 'witness', signal });
    try {
      await recorder.until('the link', () => recorder.links.length === 1, 20_000);
      await crash(tab);
      await recorder.until('the end', () => recorder.of('linkDown').length === 1, 40_000);
      const kinds = recorder.of('hint').map(({ kind }) => kind);
      expect(kinds).toEqual(['away', 'unreachable']);
      expect(recorder.of('linkDown')[0]?.why).toBe('failed');
    } finally {
      await transport.close();
    }
  });

  it('W4: a page in the back/forward cache has no links, and has them again when it is back', async () => {
    const tab = await joinPage('tab', 1, 'cache');
    const node = await joinNode('node', 2, 'cache');
    await untilNode(node, 'tab', 2);
    // A page under automation does not enter that cache: it is told that it does.
    const tell = (type: string) =>
      tab.evaluate(
        (name) => dispatchEvent(new PageTransitionEvent(name, { persisted: true })),
        type,
      );
    const down = new Promise<void>((resolve) => {
      node.addEventListener('linkchange', () => resolve());
      node.addEventListener('memberleave', () => resolve());
    });
    await tell('pagehide');
    await down;
    await tell('pageshow');
    const isWhole = () => node.members.map(({ id, link }) => `${id} ${link}`).join();
    await expect.poll(isWhole, { timeout: 30_000 }).toBe('node self,tab direct');
    await tab.waitForFunction(() => page.nodes[0]?.members.length === 2);
  });

  it('W5: with the signaling server gone, everything goes on', async () => {
    const one = await joinPage('one', 1, 'alone');
    const two = await joinPage('two', 2, 'alone');
    const node = await joinNode('node', 3, 'alone');
    await untilNode(node, 'one', 3);
    await untilLeader(two, 'one', 3);
    await lab.site.stopSignaling();
    try {
      await one.close();
      await untilLeader(two, 'two', 2);
      await untilNode(node, 'two', 2);
    } finally {
      lab.site.startSignaling();
    }
    const late = await joinPage('late', 4, 'alone');
    await untilLeader(late, 'two', 3);
  });

  it('W3: 5 MB and an order of small messages cross between tabs on both lanes', async () => {
    const one = await joinPage('one', 1, 'bulk');
    const two = await joinPage('two', 2, 'bulk');
    await Promise.all([untilLeader(one, 'one', 2), untilLeader(two, 'one', 2)]);
    const received = two.evaluate(
      () =>
        new Promise<number[]>((resolve) => {
          const lengths: number[] = [];
          page.nodes[0]?.channel('bulk').addEventListener('message', ({ data }) => {
            lengths.push(data.length);
            if (lengths.length === 4) resolve(lengths);
          });
        }),
    );
    await two.evaluate(() => undefined);
    await one.evaluate(() => {
      const channel = page.nodes[0]?.channel('bulk');
      for (const length of [1, 5_000_000, 2, 3]) channel?.send('two', new Uint8Array(length));
    });
    expect(await received).toEqual([1, 5_000_000, 2, 3]);
  });

  it("W7: Vite's own dev server needs no shims either", async () => {
    const server = await createServer({
      ...APP,
      server: { host: '127.0.0.1', port: 0, ws: false },
    });
    await server.listen();
    const tab = await lab.open();
    try {
      await tab.goto(server.resolvedUrls?.local[0] ?? '');
      await tab.waitForFunction(() => 'page' in globalThis);
      const isTransport = await tab.evaluate(
        () => typeof page.webrtc({ signaling: 'ws://127.0.0.1:9/v1' }).start,
      );
      expect(isTransport).toBe('function');
    } finally {
      await server.close();
    }
  });
});
