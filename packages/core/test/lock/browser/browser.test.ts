import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { chromium } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  type Chromium,
  launchChromium,
  type Tab,
} from '../../../../webrtc/test/browser/chromium.ts';
import { openSite, type Site } from '../../store/browser/lab.ts';
import type { LockPage } from './app.ts';

declare const page: LockPage;

describe('webLock() in Chromium', { timeout: 120_000 }, () => {
  let site: Site;
  let browser: Chromium;

  beforeAll(async () => {
    site = await openSite(new URL('app.ts', import.meta.url));
    browser = await launchChromium({ throttleAfterS: 600 });
  }, 60_000);

  afterAll(async () => {
    await browser?.close();
    await site?.close();
  });

  afterEach(async () => {
    await browser.closeTabs();
    expect(browser.pageErrors.splice(0)).toEqual([]);
  });

  /** One more tab of the same profile as `beside`, which it covers. */
  async function open(id: string, beside?: Tab): Promise<Tab> {
    const tab = await browser.open(site.origin, beside);
    await tab.until(() => 'page' in globalThis);
    await tab.page.evaluate((name) => page.enter(name), id);
    return tab;
  }

  const led = (tab: Tab, id: string) => {
    return tab.until((leader) => page.app.node?.leadership.current?.id === leader, { args: [id] });
  };
  const epochOf = (tab: Tab) => tab.page.evaluate(() => page.app.node?.leadership.epoch ?? 0);
  const logOf = (tab: Tab) => tab.page.evaluate(() => page.log);
  const locked = (tab: Tab) => tab.page.evaluate(() => page.locked());

  it('B5: twelve tabs opened at once have one leader, and it stays', async () => {
    const first = await browser.open(site.origin);
    const more = Array.from({ length: 11 }, () => browser.open(site.origin, first));
    const tabs = [first, ...(await Promise.all(more))];
    for (const tab of tabs) await tab.until(() => 'page' in globalThis);
    await Promise.all(
      tabs.map((tab, index) => tab.page.evaluate((name) => page.enter(name), `t${index}`)),
    );
    for (const tab of tabs) await tab.until(() => page.app.node?.leadership.current != null);
    await expect.poll(() => locked(first), { timeout: 30_000 }).toEqual([1, 11]);
    const logs = (await Promise.all(tabs.map(logOf))).flat();
    expect(logs.filter((line) => line.startsWith('begin'))).toEqual(['begin 1']);
    expect(new Set(logs.filter((line) => line.startsWith('leader'))).size).toBe(1);
  });

  it('B5: a leader that is closed, then one that is killed, are followed by whoever waited longest', async () => {
    const one = await open('one');
    await led(one, 'one');
    const two = await open('two', one);
    // It waits in the queue before the next one does.
    await expect.poll(() => locked(one), { timeout: 30_000 }).toEqual([1, 1]);
    const three = await open('three', two);
    await expect.poll(() => locked(one), { timeout: 30_000 }).toEqual([1, 2]);
    for (const tab of [two, three]) await led(tab, 'one');
    await one.page.close();
    for (const tab of [two, three]) await led(tab, 'two');
    expect(await epochOf(three)).toBe(2);
    await two.kill();
    await led(three, 'three');
    expect(await epochOf(three)).toBe(3);
    await expect.poll(() => locked(three), { timeout: 30_000 }).toEqual([1, 0]);
  });

  it('B5: the epoch goes on after the whole browser has been closed and started again', async () => {
    const profile = await mkdtemp(path.join(tmpdir(), 'doyen-lock-'));
    try {
      const epochs: number[] = [];
      for (let round = 0; round < 2; round += 1) {
        const context = await chromium.launchPersistentContext(profile, {
          executablePath: process.env['DOYEN_CHROMIUM'] ?? '/usr/bin/chromium',
          args: ['--no-sandbox', '--disable-gpu', '--no-first-run'],
        });
        try {
          const tab = await context.newPage();
          await tab.goto(site.origin);
          await tab.waitForFunction(() => 'page' in globalThis);
          await tab.evaluate(() => page.enter('tab'));
          await tab.waitForFunction(() => page.app.node?.leadership.isSelf);
          epochs.push(await tab.evaluate(() => page.app.node?.leadership.epoch ?? 0));
        } finally {
          await context.close();
        }
      }
      expect(epochs).toEqual([1, 2]);
    } finally {
      await rm(profile, { recursive: true, force: true, maxRetries: 5 });
    }
  });

  it('B5: a page that hangs is robbed, knows it in the task in which it is back, and can do no more', async () => {
    const one = await open('one');
    const others = [await open('two', one)];
    others.push(await open('three', one));
    for (const tab of [one, ...others]) await led(tab, 'one');
    expect(await one.page.evaluate(() => page.write())).toBe('admitted 1');
    const hanging = one.page.evaluate(() => page.hang(12_000));
    for (const tab of others) await led(tab, 'two');
    expect(await others[0]?.page.evaluate(() => page.write())).toBe('admitted 2');
    expect(await others[1]?.page.evaluate(() => page.locked())).toEqual([1, 1]);
    expect(await hanging).toBe(false);
    expect(await one.page.evaluate(() => page.write())).toBe('stale 1');
    await led(one, 'two');
    // The work was told before anything else was.
    const log = await logOf(one);
    expect(log.slice(log.indexOf('hung') + 1)[0]).toBe('end 1 false');
    await expect.poll(() => locked(one)).toEqual([1, 2]);
  });

  it('B5: a frozen page has neither the lock nor a place in its queue, and waits again once it is thawed', async () => {
    const one = await open('one');
    const two = await open('two', one);
    const three = await open('three', two);
    for (const tab of [one, two, three]) await led(tab, 'one');
    // The last one covers the others.
    await two.freeze();
    await one.freeze();
    await led(three, 'three');
    expect(await locked(three)).toEqual([1, 0]);
    await Promise.all([one.thaw(), two.thaw()]);
    for (const tab of [one, two]) await led(tab, 'three');
    await expect.poll(() => locked(three)).toEqual([1, 2]);
    expect(await epochOf(one)).toBe(2);
    expect((await logOf(one)).includes('end 1 false')).toBe(true);
  });

  it('B5: whoever waits has the database open already, and leads also when it has lost that', async () => {
    const tabs = [await open('one')];
    for (const id of ['two', 'three', 'four']) {
      tabs.push(await open(id, tabs[0]));
      await expect.poll(() => locked(tabs[0] as Tab)).toEqual([1, tabs.length - 1]);
    }
    const opened = (tab: Tab | undefined) => tab?.page.evaluate(() => page.databases.length);
    for (const tab of tabs.slice(1)) await expect.poll(() => opened(tab)).toBe(1);
    const [one, two, three, four] = tabs as [Tab, Tab, Tab, Tab];
    await one.page.close();
    await led(two, 'two');
    expect(await opened(two)).toBe(1);
    // As when the browser takes it away: no event has told of it yet.
    await three.page.evaluate(() => page.databases[0]?.close());
    await two.page.close();
    await led(three, 'three');
    expect(await opened(three)).toBe(2);
    expect(await three.page.evaluate(() => page.forget())).toBe('done');
    await three.page.close();
    await led(four, 'four');
    expect(await epochOf(four)).toBe(4);
    expect((await logOf(four)).filter((line) => line.startsWith('fault'))).toEqual([]);
  });

  it('B5: a page that is frozen, or has left, has no database open that others may want to delete', async () => {
    const one = await open('one');
    const two = await open('two', one);
    for (const tab of [one, two]) await led(tab, 'one');
    await expect.poll(() => locked(one)).toEqual([1, 1]);
    await expect.poll(() => two.page.evaluate(() => page.databases.length)).toBe(1);
    const other = await browser.open(site.origin, one);
    await one.page.evaluate(() => page.app.node?.leave());
    await led(two, 'two');
    await two.freeze();
    expect(await other.page.evaluate(() => page.forget())).toBe('done');
    await two.thaw();
    await two.until(() => page.app.node?.leadership.isSelf === true);
    expect(await epochOf(two)).toBeGreaterThan(2);
  });

  it('B2: the lead goes to the tab that can be seen, and comes back with it, where that is asked for', async () => {
    const enter = async (id: string, beside?: Tab): Promise<Tab> => {
      const tab = await browser.open(site.origin, beside);
      await tab.until(() => 'page' in globalThis);
      const preferVisible = { afterMs: 500 };
      await tab.page.evaluate((name, options) => page.enter(name, options), id, { preferVisible });
      return tab;
    };
    const one = await enter('one');
    await led(one, 'one');
    const two = await enter('two', one);
    for (const tab of [one, two]) await led(tab, 'two');
    await one.show();
    for (const tab of [one, two]) await led(tab, 'one');
    expect(await epochOf(two)).toBe(3);
  });

  it('B5: a process that is stopped without a word is robbed, and follows when it goes on', async () => {
    const one = await open('one');
    const two = await open('two', one);
    for (const tab of [one, two]) await led(tab, 'one');
    await one.stop();
    await led(two, 'two');
    expect(await two.page.evaluate(() => page.write())).toBe('admitted 2');
    one.resume();
    await led(one, 'two');
    expect(await one.page.evaluate(() => page.write())).toBe('stale 1');
    expect(await one.page.evaluate(() => page.app.node?.leadership.isSelf)).toBe(false);
  });
});
