import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../real-server.ts';
import type { TestPage } from './app/main.ts';
import { type Lab, openLab } from './lab.ts';
import { Meeting } from './meeting.ts';

declare const page: TestPage;

const WITHIN = { timeout: 30_000, polling: 20 };

describe('tabs of one browser', () => {
  let lab: Lab;
  let meeting: Meeting<Page>;

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
    meeting = new Meeting(lab.server);
    await Promise.all(names.map(async (name) => meeting.enter(name, await lab.open())));
    await meeting.share([]);
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
    for (const name of names) await meeting.write(name, `<a-${name}>`);
    await meeting.share(names.map((name) => `<a-${name}>`));
    expect(lab.server.open).toBe(1);
    await until(() => String(lab.server.names(meeting.room)) === String(names));
    for (const tab of meeting.editors.values()) {
      await tab.waitForFunction((all) => String(page.names) === all, String(names), WITHIN);
    }
  });

  it('Y1, Y2, Y3: closing the leader moves the socket, and loses neither edit nor cursor', async () => {
    await open('b1', 'b2', 'b3');
    const leader = meeting.lose(await meeting.leader());
    await leader.evaluate(() => page.write('<b-last>'));
    await leader.close({ runBeforeUnload: true });
    const { names } = meeting;
    for (const name of names) await meeting.write(name, `<b-${name}>`);
    await meeting.share(['<b-last>', ...names.map((name) => `<b-${name}>`)]);
    await until(() => lab.server.open === 1 && lab.server.guard.counts.leaders === 1);
    await until(() => String(lab.server.names(meeting.room)) === String(names));
  });

  it('Y1, Y2, Y3: the leader’s crash moves the socket, and loses neither edit nor cursor', async () => {
    await open('c1', 'c2', 'c3');
    await crash(meeting.lose(await meeting.leader()));
    const { names } = meeting;
    for (const name of names) await meeting.write(name, `<c-${name}>`);
    await meeting.share(names.map((name) => `<c-${name}>`));
    await until(() => lab.server.open === 1 && lab.server.guard.counts.leaders === 1);
    await until(() => String(lab.server.names(meeting.room)) === String(names));
  });

  it('Y6: a lone tab that is reloaded is connected again at once', async () => {
    await open('d1');
    await meeting.write('d1', '<d-kept>');
    await meeting.share(['<d-kept>']);
    const tab = meeting.at('d1');
    await tab.reload();
    await lab.untilLoaded(tab);
    const begun = Date.now();
    await meeting.enter('d1', tab);
    await meeting.share(['<d-kept>']);
    // Far from the 10 s for which the gate remembers one that did not say goodbye.
    expect(Date.now() - begun).toBeLessThan(5_000);
  });

  it('Y8: what is typed in the last task of a page’s life reaches the others', async () => {
    await open('e1', 'e2');
    const leader = meeting.lose(await meeting.leader());
    await leader.evaluate(() => {
      page.bye = '<e-bye>';
    });
    await leader.close({ runBeforeUnload: true });
    await meeting.share(['<e-bye>']);
  });
});
