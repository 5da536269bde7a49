import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../real-server.ts';
import type { TestPage } from './app/main.ts';
import { type Lab, openLab } from './lab.ts';

declare const page: TestPage;

const WITHIN = { timeout: 30_000, polling: 20 };

describe('tabs of one browser', () => {
  let lab: Lab;
  let tabs: Map<string, Page>;
  /** Another for each test: what the server remembers of the last one is none of its business. */
  let room = 'room-0';

  beforeAll(async () => {
    lab = await openLab();
  });

  afterAll(() => lab.close());

  afterEach(async () => {
    await lab.closeTabs();
    await until(() => lab.server.open === 0);
    expect(lab.pageErrors.splice(0)).toEqual([]);
  });

  async function open(...names: readonly string[]): Promise<void> {
    room = `room-${Number(room.slice(5)) + 1}`;
    const opened = names.map(async (name) => [name, await lab.open(name, room)] as const);
    tabs = new Map(await Promise.all(opened));
    await everywhere();
  }

  async function write(name: string, text: string): Promise<void> {
    await tabs.get(name)?.evaluate((piece) => page.write(piece), text);
  }

  /** Until every tab has each of `pieces` once, and knows that the server has them. */
  async function everywhere(...pieces: readonly string[]): Promise<void> {
    const has = (expected: readonly string[]) =>
      page.isSaved && expected.every((piece) => page.text.split(piece).length === 2);
    for (const tab of tabs.values()) await tab.waitForFunction(has, pieces, WITHIN);
    for (const piece of pieces) expect(lab.server.text(room).split(piece)).toHaveLength(2);
  }

  /** The tab that leads is taken out of `tabs`. */
  async function takeLeader(): Promise<Page> {
    for (const [name, tab] of tabs) {
      if (!(await tab.evaluate(() => page.isLeader))) continue;
      tabs.delete(name);
      return tab;
    }
    throw new Error('nobody leads');
  }

  async function crash(tab: Page): Promise<void> {
    const crashed = new Promise((resolve) => tab.once('crash', resolve));
    const session = await tab.context().newCDPSession(tab);
    void session.send('Page.crash').catch(() => undefined);
    await crashed;
  }

  it('Y1, Y2, Y3: ten tabs have one socket, one text and all cursors', async () => {
    const names = Array.from({ length: 10 }, (_, at) => `t${at}`);
    await open(...names);
    for (const name of names) await write(name, `<a-${name}>`);
    await everywhere(...names.map((name) => `<a-${name}>`));
    expect(lab.server.open).toBe(1);
    await until(() => String(lab.server.names(room)) === String(names));
    for (const tab of tabs.values()) {
      await tab.waitForFunction((all) => String(page.names) === all, String(names), WITHIN);
    }
  });

  it('Y1, Y2, Y3: closing the leader moves the socket, and loses neither edit nor cursor', async () => {
    await open('b1', 'b2', 'b3');
    const leader = await takeLeader();
    await leader.evaluate(() => page.write('<b-last>'));
    await leader.close({ runBeforeUnload: true });
    const names = [...tabs.keys()];
    for (const name of names) await write(name, `<b-${name}>`);
    await everywhere('<b-last>', ...names.map((name) => `<b-${name}>`));
    await until(() => lab.server.open === 1 && lab.server.guard.counts.leaders === 1);
    await until(() => String(lab.server.names(room)) === String(names));
  });

  it('Y1, Y2, Y3: the leader’s crash moves the socket, and loses neither edit nor cursor', async () => {
    await open('c1', 'c2', 'c3');
    await crash(await takeLeader());
    const names = [...tabs.keys()];
    for (const name of names) await write(name, `<c-${name}>`);
    await everywhere(...names.map((name) => `<c-${name}>`));
    await until(() => lab.server.open === 1 && lab.server.guard.counts.leaders === 1);
    await until(() => String(lab.server.names(room)) === String(names));
  });

  it('Y6: a lone tab that is reloaded is connected again at once', async () => {
    await open('d1');
    await write('d1', '<d-kept>');
    await everywhere('<d-kept>');
    const tab = tabs.get('d1');
    await tab?.reload();
    await tab?.waitForFunction(() => 'page' in globalThis);
    const begun = Date.now();
    await tab?.evaluate((name) => page.enter('d1', name), room);
    await everywhere('<d-kept>');
    // Far from the 10 s for which the gate remembers one that did not say goodbye.
    expect(Date.now() - begun).toBeLessThan(5_000);
  });

  it('Y8: what is typed in the last task of a page’s life reaches the others', async () => {
    await open('e1', 'e2');
    const leader = await takeLeader();
    await leader.evaluate(() => {
      page.bye = '<e-bye>';
    });
    await leader.close({ runBeforeUnload: true });
    await everywhere('<e-bye>');
  });
});
