import { type DoyenNode, join } from '@doyen/core';
import { connectSignaling, roomIdOf } from '@doyen/signaling';
import wrtc from '@roamhq/wrtc';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { webrtc } from '../../src/index.ts';
import type { TestPage } from './app/main.ts';
import { type Chromium, launchChromium, type Tab } from './chromium.ts';
import { openSite, type Site } from './site.ts';

declare const page: TestPage;
/** When a client of the page last asked for a token. */
declare const triesMs: number[];

/** The longest back-off, and one set-up. A timer of the page may come a minute late. */
const REDIAL_MS = 10_000;
/** The back-off, and the second that a page of some browsers rounds timers up to. */
const GAP_MS = 12_000;

describe('a hidden tab whose timers come once a minute', { timeout: 150_000 }, () => {
  let chromium: Chromium;
  let site: Site;
  let one: Tab;
  let two: Tab;
  let strict: Tab;
  let node: DoyenNode | undefined;

  beforeAll(async () => {
    [chromium, site] = await Promise.all([launchChromium(), openSite()]);
    [one, two, strict] = await Promise.all([openHidden(), openHidden(), openHidden()]);
  });

  afterAll(async () => {
    await chromium.close();
    await site.close();
  });

  afterEach(async () => {
    await Promise.all([node?.leave(), leaveIn(one), leaveIn(two), leaveIn(strict)]);
    node = undefined;
    expect(chromium.pageErrors.splice(0)).toEqual([]);
  });

  /** A tab in which timers follow from one another, as in any that does something. */
  async function openTicking(): Promise<Tab> {
    const tab = await chromium.open(site.origin);
    await tab.tick();
    return tab;
  }

  /** A hidden tab, seen to be throttled. */
  async function openHidden(): Promise<Tab> {
    const tab = await openTicking();
    await tab.hide();
    await tab.untilThrottled();
    return tab;
  }

  async function joinIn(tab: Tab, id: string, cluster: string): Promise<void> {
    const options = { id, cluster, signaling: site.signaling };
    await tab.page.evaluate(async ({ id, cluster, signaling }) => {
      const transport = page.webrtc({ signaling, rtc: page.rtc });
      page.nodes = [await page.join({ id, cluster, transport })];
    }, options);
  }

  async function joinNode(id: string, cluster: string): Promise<DoyenNode> {
    const transport = webrtc({ signaling: site.signaling, rtc: wrtc, WebSocket });
    node = await join({ id, cluster, transport });
    return node;
  }

  it('W5: two of them that lose their last link dial again within ten seconds', async () => {
    await Promise.all([joinIn(one, 'one', 'pair'), joinIn(two, 'two', 'pair')]);
    await untilLinked(one, 'two');
    // If a timer of the minute happens to help the first time, none is left for the second.
    for (let round = 0; round < 2; round += 1) {
      await cut(one);
      await untilLinked(one, 'two', REDIAL_MS);
      await untilLinked(two, 'one', REDIAL_MS);
    }
  });

  it('W5, S22: one that has lost the server too finds back to both', async () => {
    await joinIn(one, 'one', 'outage');
    const other = await joinNode('node', 'outage');
    await untilLinked(one, 'node');
    await site.stopSignaling();
    await cut(one);
    site.startSignaling();
    await untilLinked(one, 'node', REDIAL_MS);
    await expect.poll(() => linksOf(other)).toBe('node self,one direct');
  });

  it('W5, S22: one whose tries all fail goes on at the pace of its back-off', async () => {
    // In the room, and mute: nothing comes of it that could remind the tab.
    const mute = connectSignaling({
      url: site.signaling,
      room: roomIdOf('mute'),
      meta: JSON.stringify({ id: 'mute', instance: 'a' }),
      WebSocket,
    });
    try {
      await Promise.all([failToDial(one), failToEnter(two)]);
      // Timers come once a minute from the sixth on that follows from timers alone.
      await Promise.all([
        one.until(() => page.connections.dialsMs.length > 8, { withinMs: 120_000 }),
        two.until(() => triesMs.length > 8, { withinMs: 120_000 }),
      ]);
      expect(longestGapMs(await one.page.evaluate(() => page.connections.dialsMs))).toBeLessThan(
        GAP_MS,
      );
      expect(longestGapMs(await two.page.evaluate(() => triesMs))).toBeLessThan(GAP_MS);
    } finally {
      mute.close();
    }
  });

  /** The tab is the one that offers, and its browser gives it no connection. */
  async function failToDial(tab: Tab): Promise<void> {
    await tab.page.evaluate((signaling) => {
      Object.assign(page.connections, { isRefused: true, dialsMs: [] });
      const { signal } = page.end;
      const transport = page.webrtc({ signaling, rtc: page.rtc });
      transport.start(new page.Recorder(), { cluster: 'mute', id: 'tab', instance: 'b', signal });
    }, site.signaling);
  }

  async function failToEnter(tab: Tab): Promise<void> {
    await tab.page.evaluate((url) => {
      const tries: number[] = [];
      Object.assign(globalThis, { triesMs: tries });
      const token = () => {
        tries.push(performance.now());
        throw new Error('no token');
      };
      // Low, so that many tries do not take long.
      const random = () => 0.1;
      page.connectSignaling({ url, room: 'x'.repeat(22), random, token, signal: page.end.signal });
    }, site.signaling);
  }

  it('W5: what a tab waited for when it was hidden comes in time', async () => {
    const tab = await openTicking();
    await tab.page.evaluate(() => {
      const ring = () => Object.assign(globalThis, { hasRung: true });
      const setAlarm = (depth: number) => {
        if (depth > 5) new page.Alarm(ring, 9_000);
        else setTimeout(() => setAlarm(depth + 1));
      };
      setAlarm(0);
    });
    await tab.hide();
    await tab.until(() => 'hasRung' in globalThis, { withinMs: 15_000 });
  });

  it('W5: one that may have no worker is called by the other end', async () => {
    await strict.page.evaluate(() => {
      const policy = document.createElement('meta');
      policy.httpEquiv = 'Content-Security-Policy';
      policy.content = "worker-src 'none'";
      document.head.append(policy);
    });
    const other = await joinNode('node', 'strict');
    // Of two instances the greater offers: the tab, which would have to remember to do so.
    let instance = '';
    while (instance < other.instance) {
      await leaveIn(strict);
      await joinIn(strict, 'tab', 'strict');
      instance = await strict.page.evaluate(() => page.nodes[0]?.instance ?? '');
    }
    await untilLinked(strict, 'node');
    for (let round = 0; round < 2; round += 1) {
      await cut(strict);
      await untilLinked(strict, 'node', REDIAL_MS);
    }
  });
});

/** Ends all connections of a tab, as a network does that changes under it. */
async function cut(tab: Tab): Promise<void> {
  await tab.page.evaluate(() => {
    for (const connection of page.connections.made) connection.close();
  });
  await tab.until(() => !page.nodes[0]?.members.some(({ link }) => link === 'direct'));
}

async function leaveIn(tab: Tab): Promise<void> {
  await tab.page.evaluate(async () => {
    page.end.abort();
    Object.assign(page, { end: new AbortController() });
    page.connections.isRefused = false;
    await Promise.all(page.nodes.splice(0).map((node) => node.leave()));
  });
}

async function untilLinked(tab: Tab, id: string, withinMs = 30_000): Promise<void> {
  const isLinked = (id?: string) =>
    page.nodes[0]?.members.find((member) => member.id === id)?.link === 'direct';
  await tab.until(isLinked, { args: [id], withinMs });
}

function linksOf(node: DoyenNode): string {
  return node.members.map(({ id, link }) => `${id} ${link}`).join();
}

function longestGapMs(timesMs: readonly number[]): number {
  return Math.max(...timesMs.slice(1).map((at, index) => at - (timesMs[index] ?? 0)));
}
