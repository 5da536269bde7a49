import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { TestPage } from './app/main.ts';
import type { Baseline } from './baseline.ts';
import { type Lab, openLab } from './lab.ts';

declare const page: TestPage;
declare const baseline: Baseline;

/** Guards against hanging; a busy machine is slow at times. */
const WITHIN = { timeout: 30_000, interval: 20, polling: 20 };

describe('tabs in Chromium', () => {
  let lab: Lab;

  beforeAll(async () => {
    lab = await openLab();
  });

  afterAll(() => lab.close());

  afterEach(async () => {
    await lab.closeTabs();
    expect(lab.pageErrors.splice(0)).toEqual([]);
  });

  async function enter(id: string, startedAt: number, url?: string): Promise<Page> {
    const tab = await lab.open(url);
    await tab.evaluate((options) => page.enter({ cluster: 'c', ...options }), { id, startedAt });
    return tab;
  }

  /** Gives the epoch. */
  async function untilLed(tab: Page, leader: string, memberCount?: number): Promise<number> {
    await tab.waitForFunction(
      ([id, count]) => {
        const [node] = page.nodes;
        const isWhole = count === undefined || node?.members.length === count;
        return node?.leadership.current?.id === id && isWhole;
      },
      [leader, memberCount] as const,
      WITHIN,
    );
    return tab.evaluate(() => page.nodes[0]?.leadership.epoch ?? 0);
  }

  const logOf = (tab: Page) => tab.evaluate(() => page.log);

  it('B1: twelve tabs that are opened at once agree on one leader', async () => {
    const opened = await Promise.all(Array.from({ length: 12 }, () => lab.open()));
    await Promise.all(
      opened.map((tab, index) =>
        tab.evaluate((id) => page.enter({ cluster: 'c', id }), `t${index}`),
      ),
    );
    const isWhole = () => page.nodes[0]?.members.length === 12 && page.nodes[0].leadership.current;
    await Promise.all(opened.map((tab) => tab.waitForFunction(isWhole, undefined, WITHIN)));
    const seen = () => {
      const leadership = page.nodes[0]?.leadership;
      return `${leadership?.current?.id} ${leadership?.epoch}`;
    };
    const views = async () => new Set(await Promise.all(opened.map((tab) => tab.evaluate(seen))));
    await expect.poll(async () => (await views()).size, WITHIN).toBe(1);
    const logs = await Promise.all(opened.map(logOf));
    // Nobody was taken for dead in the crowd.
    expect(logs.flat().filter((line) => !line.startsWith('leader'))).toEqual([]);
  });

  it('B1: a tab that is closed has left, without a suspicion first', async () => {
    const leader = await enter('leader', 1);
    const heir = await enter('heir', 2);
    const epoch = await untilLed(heir, 'leader', 2);
    await leader.close({ runBeforeUnload: true });
    expect(await untilLed(heir, 'heir', 1)).toBeGreaterThan(epoch);
    expect((await logOf(heir)).slice(-2, -1)).toEqual(['leave leader']);
  });

  it('B1: a tab that crashes is gone at once, without a suspicion first', async () => {
    const leader = await enter('leader', 1);
    const heirs = [await enter('heir', 2), await enter('other', 3)];
    for (const heir of heirs) await untilLed(heir, 'leader', 3);
    await lab.crash(leader);
    for (const heir of heirs) {
      await untilLed(heir, 'heir', 2);
      const log = await logOf(heir);
      expect(log).toContain('gone leader');
      expect(log.filter((line) => line.startsWith('suspect'))).toEqual([]);
    }
  });

  it('B1: frames and workers are members; a frame that is removed has left, a worker is gone', async () => {
    const tab = await enter('tab', 1);
    await tab.evaluate(async () => {
      const frame = document.createElement('iframe');
      frame.src = location.href;
      document.body.append(frame);
      await new Promise((resolve) => frame.addEventListener('load', resolve, { once: true }));
      const inside = (frame.contentWindow as unknown as { page: typeof page }).page;
      await inside.enter({ cluster: 'c', id: 'frame', startedAt: 2 });
      const worker = new Worker('/worker.js');
      worker.postMessage({ cluster: 'c', id: 'worker', startedAt: 3 });
      const told = new Promise((resolve) => {
        worker.addEventListener('message', ({ data }) => data === 'tab' && resolve(data));
      });
      Object.assign(globalThis, { frame, worker, told });
    });
    await untilLed(tab, 'tab', 3);
    await tab.evaluate('told');
    await tab.evaluate('frame.remove()');
    await untilLed(tab, 'tab', 2);
    await tab.evaluate('worker.terminate()');
    await untilLed(tab, 'tab', 1);
    const ends = (await logOf(tab)).filter((line) => !line.startsWith('leader'));
    expect(ends).toEqual(['leave frame', 'gone worker']);
  });

  it('B2: a page that goes into the cache holds no lock, and is whole again when it is back', async () => {
    const tab = await enter('tab', 1);
    const other = await enter('other', 2);
    await untilLed(tab, 'tab', 2);
    await untilLed(other, 'tab', 2);
    const held = () =>
      other.evaluate(async () => (await navigator.locks.query()).held?.map(({ name }) => name));
    expect(await held()).toHaveLength(2);
    // A page under Playwright does not enter that cache: it is told that it does.
    const tell = (type: string) =>
      tab.evaluate(
        (name) => dispatchEvent(new PageTransitionEvent(name, { persisted: true })),
        type,
      );
    await tell('pagehide');
    await other.waitForFunction(() => page.nodes[0]?.leadership.isSelf, undefined, WITHIN);
    await expect.poll(held, WITHIN).toHaveLength(1);
    await tell('pageshow');
    await untilLed(tab, 'other', 2);
    await untilLed(other, 'other', 2);
    expect(await held()).toHaveLength(2);
  });

  it('B3: timers of a hidden page come from a worker, and are plain ones where that is forbidden', async () => {
    for (const [path, faults] of [
      ['/', []],
      ['/strict', ['no-worker-timers']],
    ] as const) {
      const tab = await lab.open(lab.url(path));
      // Under Playwright no page is hidden, nor are its timers slow: it is told that it is, and
      // those that the transport sets wait for ever where a worker can be had.
      const seen = await tab.evaluate(async (isPlain) => {
        Object.defineProperty(document, 'visibilityState', { value: 'hidden' });
        const reported: string[] = [];
        const transport = page.tabs();
        const handler = {
          fault: (code: string) => reported.push(code),
          discovery: () => undefined,
        };
        const { signal } = new AbortController();
        const options = { cluster: 'timers', id: 'a', instance: 'a', signal };
        transport.start(handler as unknown as Parameters<typeof transport.start>[0], options);
        const plain = globalThis.setTimeout;
        if (!isPlain) Object.assign(globalThis, { setTimeout: () => 0 });
        await new Promise<void>((resolve) => transport.timer(resolve, 20));
        Object.assign(globalThis, { setTimeout: plain });
        if (isPlain) await new Promise((resolve) => setTimeout(resolve, 100));
        await transport.close();
        return reported;
      }, faults.length > 0);
      expect(seen).toEqual(faults);
    }
  });

  it('B4: a tab key survives a reload; a duplicated tab gets one of its own', async () => {
    const tab = await lab.open();
    const keyOf = (of: Page) => of.evaluate(() => page.tabKey());
    const key = await keyOf(tab);
    expect(await keyOf(tab)).toBe(key);
    await lab.load(tab);
    expect(await keyOf(tab)).toBe(key);
    // An opened page gets a copy of the session storage, as a duplicated one does.
    const opening = tab.waitForEvent('popup');
    await tab.evaluate(() => void open(location.href));
    const copy = await opening;
    await copy.waitForFunction(() => 'page' in globalThis);
    expect(await copy.evaluate(() => sessionStorage.getItem('doyen/tab-key'))).toBe(key);
    const otherKey = await keyOf(copy);
    expect(otherKey).not.toBe(key);
    await Promise.all([lab.load(tab), lab.load(copy)]);
    expect([await keyOf(tab), await keyOf(copy)]).toEqual([key, otherKey]);
  });

  it('B6: an insecure page elects without locks, and says so; a tab key is refused there', async () => {
    const url = lab.url('/', 'insecure.test');
    const one = await enter('one', 1, url);
    const two = await enter('two', 2, url);
    expect(await one.evaluate(() => isSecureContext)).toBe(false);
    const epoch = await untilLed(two, 'one', 2);
    await expect
      .poll(async () => (await logOf(one)).includes('fault no-web-locks'), WITHIN)
      .toBe(true);
    const refused = await one.evaluate(() => page.tabKey().catch(({ code }) => code));
    expect(refused).toBe('unsupported');
    await one.close({ runBeforeUnload: true });
    expect(await untilLed(two, 'two', 1)).toBeGreaterThan(epoch);
    expect(await logOf(two)).toContain('leave one');
  });

  it('B1: fifty joins and leaves leave no lock, channel, timer, worker or listener behind', async () => {
    const other = await enter('other', 1);
    const tab = await lab.open();
    await tab.evaluate(() => page.countPlatform());
    const counts = () => tab.evaluate(() => baseline.counts());
    const before = await counts();
    for (let round = 0; round < 50; round += 1) {
      await tab.evaluate(async (id) => {
        await page.enter({ cluster: 'c', id });
        await page.nodes[0]?.ready();
        await page.nodes.pop()?.leave();
      }, `n${round}`);
    }
    await expect.poll(counts, WITHIN).toEqual(before);
    await untilLed(other, 'other', 1);
    const { held, pending } = await other.evaluate(() => navigator.locks.query());
    expect([held?.length, pending?.length]).toEqual([1, 0]);
  });

  it('M7: join, leave and join in one turn leave one member', async () => {
    const other = await enter('other', 1);
    const tab = await lab.open();
    await tab.evaluate(async () => {
      const first = new AbortController();
      const { signal } = first;
      const joining = page.join({ cluster: 'c', id: 'first', transport: page.tabs(), signal });
      first.abort();
      await page.enter({ cluster: 'c', id: 'second', startedAt: 2 });
      await (await joining).leave();
    });
    await untilLed(tab, 'other', 2);
    await untilLed(other, 'other', 2);
    const { held } = await other.evaluate(() => navigator.locks.query());
    expect(held).toHaveLength(2);
  });

  it('B1: one roster and one leader over tabs of two browsers', async () => {
    const join = async (id: string, startedAt: number, profile: string): Promise<Page> => {
      const tab = await lab.open(lab.url(), profile);
      await tab.evaluate(
        ({ signaling, ...options }) => {
          const transport = page.combine(page.tabs(), page.webrtc({ signaling }));
          return page.enter({ cluster: 'wide', transport, ...options });
        },
        { id, startedAt, signaling: lab.signaling },
      );
      return tab;
    };
    const [a1, a2] = [await join('a1', 1, 'a'), await join('a2', 2, 'a')];
    const [b1, b2] = [await join('b1', 3, 'b'), await join('b2', 4, 'b')];
    for (const tab of [a1, a2, b1, b2]) await untilLed(tab, 'a1', 4);
    await lab.crash(a1);
    const epochs = await Promise.all([a2, b1, b2].map((tab) => untilLed(tab, 'a2')));
    expect(new Set(epochs).size).toBe(1);
    // In the other browser it is only suspected yet.
    expect(await a2.evaluate(() => page.nodes[0]?.members.map(({ id }) => id))).toEqual([
      'a2',
      'b1',
      'b2',
    ]);
    await a2.close({ runBeforeUnload: true });
    for (const tab of [b1, b2]) await untilLed(tab, 'b1');
  });
});
