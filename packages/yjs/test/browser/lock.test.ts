import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Baseline } from '../../../core/test/tabs/browser/baseline.ts';
import { until } from '../real-server.ts';
import type { TestPage } from './app/main.ts';
import { type Lab, openLab } from './lab.ts';
import { type Editor, eventually, Meeting } from './meeting.ts';

declare const page: TestPage;
declare const baseline: Baseline;

const LOCKED = { isLocked: true };

describe('tabs of one browser, of which the holder of the Web Lock leads', () => {
  let lab: Lab;
  let meeting: Meeting<Editor>;

  beforeAll(async () => {
    lab = await openLab();
  });

  afterAll(() => lab?.close());

  afterEach(async () => {
    await lab.closeTabs();
    await until(() => lab.server.open === 0);
    expect(lab.pageErrors.splice(0)).toEqual([]);
  });

  /** The first of them leads, and all are in step. */
  async function open(...names: readonly string[]): Promise<Page[]> {
    meeting = new Meeting(lab.server);
    const tabs: Page[] = [];
    for (const name of names) {
      const tab = await lab.open();
      tabs.push(tab);
      await meeting.enter(name, tab, LOCKED);
      expect(await meeting.leader()).toBe(names[0]);
    }
    await writeAll('first');
    return tabs;
  }

  /** Everybody writes, and has what everybody has written. */
  async function writeAll(what: string): Promise<void> {
    const pieceOf = (name: string) => `<${what}-${name}>`;
    await Promise.all(meeting.names.map((name) => meeting.write(name, pieceOf(name))));
    await meeting.share(meeting.names.map(pieceOf));
  }

  const logsOf = () =>
    Promise.all(meeting.names.map((name) => meeting.at(name).evaluate(() => page.log, null)));

  it('B5, Y1, Y2: twelve tabs that are opened at once have one leader, one socket and one text', async () => {
    meeting = new Meeting(lab.server);
    const tabs = await Promise.all(Array.from({ length: 12 }, () => lab.open()));
    await Promise.all(tabs.map((tab, at) => meeting.enter(`t${at}`, tab, LOCKED)));
    await writeAll('crowd');
    await meeting.leader();
    expect(meeting.visits).toHaveLength(1);
    expect(meeting.admitted).toEqual(['epoch 1: 1']);
    expect(lab.server.open).toBe(1);
    const texts = meeting.names.map((name) => meeting.at(name).evaluate(() => page.text, null));
    expect(new Set(await Promise.all(texts))).toEqual(new Set([meeting.text]));
  });

  it('B2, Y1: a click on a download changes nothing', async () => {
    const tabs = await open('one', 'two');
    const before = await logsOf();
    for (const tab of tabs) {
      for (const link of ['#download', '#attachment']) {
        const download = tab.waitForEvent('download');
        await tab.click(link);
        await (await download).delete();
      }
    }
    await writeAll('then');
    expect(await meeting.leader()).toBe('one');
    expect(await logsOf()).toEqual(before);
    expect(meeting.visits.map(({ closeCode }) => closeCode)).toEqual([0]);
  });

  it('B4, Y1, Y2: a tab that is duplicated is a member of its own, and both write', async () => {
    meeting = new Meeting(lab.server);
    const tab = await lab.open();
    await meeting.enter('one', tab, { ...LOCKED, isKeyed: true });
    await meeting.leader();
    // An opened page gets a copy of the session storage, as a duplicated one does.
    const opening = tab.waitForEvent('popup');
    await tab.evaluate(() => void window.open(location.href));
    const copy = await opening;
    lab.watch(copy);
    await lab.untilLoaded(copy);
    expect(await copy.evaluate(() => sessionStorage.length)).toBe(1);
    await meeting.enter('copy', copy, { ...LOCKED, isKeyed: true });
    expect(await meeting.leader()).toBe('one');
    await writeAll('both');
    expect(await copy.evaluate(() => page.memberCount)).toBe(2);
    expect(await copy.evaluate(() => page.id)).not.toBe(await tab.evaluate(() => page.id));
    expect(meeting.admitted).toEqual(['epoch 1: 1']);
  });

  it('B5, Y1, Y2: when the leader is reloaded its socket moves once, and the text is whole', async () => {
    const [one] = await open('one', 'two', 'three');
    await meeting.write('one', '<last>');
    const tab = meeting.lose('one');
    await one?.reload();
    await lab.untilLoaded(one as Page);
    const heir = await meeting.leader();
    await meeting.enter('one', tab, LOCKED);
    await writeAll('again');
    await meeting.share(['<last>', '<first-one>', '<first-two>', '<first-three>']);
    expect(await meeting.leader()).toBe(heir);
    expect(meeting.admitted).toEqual(['epoch 1: 1', 'epoch 2: 1']);
    expect(meeting.visits).toHaveLength(2);
  });

  it('B1, Y1, Y2: a worker opens the document as a page does, and has the socket when it leads', async () => {
    meeting = new Meeting(lab.server);
    const [host, tab] = [await lab.open(), await lab.open()];
    await meeting.enter('tab', tab, LOCKED);
    await meeting.leader();
    const starting = host.waitForEvent('worker');
    await host.evaluate(() => void new Worker('/main.js'));
    await meeting.enter('worker', await starting, LOCKED);
    expect(await meeting.leader()).toBe('tab');
    await writeAll('with');
    await meeting.write('tab', '<last>');
    meeting.lose('tab');
    await tab.close({ runBeforeUnload: true });
    expect(await meeting.leader()).toBe('worker');
    await meeting.enter('late', await lab.open(), LOCKED);
    await writeAll('after');
    await meeting.share(['<last>']);
    expect(await meeting.leader()).toBe('worker');
    expect(meeting.admitted).toEqual(['epoch 1: 1', 'epoch 2: 1']);
  });

  it('B6, Y1, Y2: in an insecure page, without locks, the oldest has the socket', async () => {
    meeting = new Meeting(lab.server);
    for (const name of ['one', 'two']) {
      const tab = await lab.open(lab.url('insecure.test'));
      expect(await tab.evaluate(() => isSecureContext)).toBe(false);
      const refused = await tab.evaluate(
        (room) => page.enter({ name: 'x', room, isLocked: true }).catch(({ code }) => code),
        meeting.room,
      );
      expect(refused).toBe('unsupported');
      await meeting.enter(name, tab);
      expect(await meeting.leader()).toBe('one');
    }
    await writeAll('both');
    await (meeting.lose('one') as Page).close({ runBeforeUnload: true });
    await writeAll('alone');
    expect(meeting.admitted).toEqual(['epoch 1: 1', 'epoch 2: 1']);
  });

  it('B1, Y8: fifty joins and leaves leave nothing behind, neither in the pages nor at the server', async () => {
    meeting = new Meeting(lab.server);
    const tabs = [await lab.open(), await lab.open()];
    for (const tab of tabs) await tab.evaluate(() => page.countPlatform());
    const counts = () => Promise.all(tabs.map((tab) => tab.evaluate(() => baseline.counts())));
    const round = async (what: string) => {
      await Promise.all(tabs.map((tab, at) => meeting.enter(`t${at}`, tab, LOCKED)));
      await Promise.all(tabs.map((tab) => tab.evaluate(() => page.useWorker())));
      await writeAll(what);
      const during = await counts();
      await Promise.all(tabs.map((tab) => tab.evaluate(() => page.leave())));
      return during;
    };
    const before = await counts();
    const during = await round('0');
    // There is something to count of everything.
    for (const what of Object.keys(before[0] ?? {})) {
      expect(
        during.some((counted, at) => (counted[what] ?? 0) > (before[at]?.[what] ?? 0)),
        what,
      ).toBe(true);
    }
    for (let at = 1; at < 25; at += 1) await round(`${at}`);
    await eventually(counts, before, 'what the pages have');
    await until(() => lab.server.open === 0);
    expect(lab.server.guard.counts).toMatchObject({ leaders: 0, guests: 0 });
  });
});
