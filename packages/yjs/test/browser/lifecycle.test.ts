import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Chromium, launchChromium, type Tab } from '../../../webrtc/test/browser/chromium.ts';
import { CLOSE } from '../../src/gate-protocol.ts';
import { NO_STATUS, type RealServer, until } from '../real-server.ts';
import type { TestPage } from './app/main.ts';
import { eventually, Meeting } from './meeting.ts';
import { AWAY, openSite } from './site.ts';

declare const page: TestPage;

describe('tabs that browsers put to sleep', { timeout: 150_000 }, () => {
  let server: RealServer;
  let browser: Chromium;
  let meeting: Meeting<Tab>;

  beforeAll(async () => {
    server = await openSite();
    browser = await launchChromium({ throttleAfterS: 600 });
  });

  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });

  afterEach(async () => {
    await browser.closeTabs();
    await until(() => server.open === 0);
    expect(browser.pageErrors.splice(0)).toEqual([]);
  });

  /** Three tabs of one window; the first leads, hidden by the others, and all are in step. */
  async function openThree(): Promise<readonly [one: Tab, two: Tab]> {
    meeting = new Meeting(server);
    const one = await enter('one');
    await meeting.leader();
    const two = await enter('two', one);
    await enter('three', one);
    expect(await meeting.leader()).toBe('one');
    await meeting.write('one', '<one>');
    await meeting.share(['<one>']);
    expect(await one.page.evaluate(() => page.writeAsLeader())).toBe('admitted 1');
    return [one, two];
  }

  async function enter(name: string, beside?: Tab): Promise<Tab> {
    const tab = await browser.open(`http://127.0.0.1:${server.port}`, beside);
    await tab.until(() => 'page' in globalThis);
    await meeting.enter(name, tab, { isLocked: true });
    return tab;
  }

  /** Of the others, who write at once, one leads, and has brought everything to the server. */
  async function untilSucceeded(...pieces: readonly string[]): Promise<string> {
    const others = ['two', 'three'];
    for (const name of others) await meeting.write(name, `<${name}>`);
    const heir = await meeting.leader(others);
    await meeting.share(['<one>', '<two>', '<three>', ...pieces], others);
    const asLeader = await meeting.at(heir).page.evaluate(() => page.writeAsLeader());
    expect(asLeader).toBe('admitted 2');
    return heir;
  }

  /** The former leader follows, its late words are refused, and only the new one has connected. */
  async function expectDeposed(
    one: Tab,
    heir: string,
    ...pieces: readonly string[]
  ): Promise<void> {
    expect(await one.page.evaluate(() => page.writeAsLeader())).toBe('stale 1');
    expect(await meeting.leader()).toBe(heir);
    await meeting.share(['<one>', '<two>', '<three>', ...pieces]);
    await expectCalm('one', heir);
    expect(await one.page.evaluate(() => page.log)).toContain('end 1 false');
  }

  /** Edits go both ways for longer than a lost socket needs to come back, and none does. */
  async function expectCalm(former: string, heir: string): Promise<void> {
    const endMs = performance.now() + COMING_BACK_MS;
    for (let round = 0; performance.now() < endMs; round += 1) {
      const pieces = [former, heir].map((name) => `<${name}-calm-${round}>`);
      await meeting.write(former, pieces[0] ?? '');
      await meeting.write(heir, pieces[1] ?? '');
      await meeting.share(pieces);
    }
    expect(meeting.admitted).toEqual(['epoch 1: 1', 'epoch 2: 1']);
    expect(meeting.visits).toHaveLength(2);
    expect(server.open).toBe(1);
  }

  it('B2, B5, X2, Y1, Y2: a leader that is frozen is succeeded, and follows when it is thawed', async () => {
    const [one] = await openThree();
    await meeting.write('one', '<one-last>');
    await one.freeze();
    const heir = await untilSucceeded('<one-last>');
    // By itself, in the event: not by the gate, nor by the browser.
    expect(meeting.visits.map(({ closeCode }) => closeCode)).toEqual([NO_STATUS, 0]);
    await one.thaw();
    await expectDeposed(one, heir, '<one-last>');
  });

  it('B2, B5, Y1, Y2: a tab that is opened while the only other one is frozen leads, and has its text', async () => {
    meeting = new Meeting(server);
    const one = await enter('one');
    await meeting.leader();
    await meeting.write('one', '<one>');
    await one.hide();
    await one.freeze();
    await enter('late', one);
    expect(await meeting.leader(['late'])).toBe('late');
    await meeting.write('late', '<late>');
    await meeting.share(['<one>', '<late>'], ['late']);
    await one.thaw();
    expect(await meeting.leader()).toBe('late');
    await expectCalm('one', 'late');
    await meeting.share(['<one>', '<late>']);
  });

  it('B5, X2, Y2, Y6: a leader that hangs is robbed, its socket closed for good, and its last word kept', async () => {
    const [one] = await openThree();
    const hanging = one.page.evaluate(() => page.hang(30_000, '<one-last>'));
    const heir = await untilSucceeded();
    expect(meeting.visits.map(({ closeCode }) => closeCode)).toEqual([CLOSE.fenced, 0]);
    expect(await hanging).toBe(false);
    await expectDeposed(one, heir, '<one-last>');
  });

  it('B5, X2, Y2, Y6: a leader whose process is stopped is robbed, and follows when it goes on', async () => {
    const [one] = await openThree();
    await one.stop();
    const heir = await untilSucceeded();
    expect(meeting.visits.map(({ closeCode }) => closeCode)).toEqual([CLOSE.fenced, 0]);
    one.resume();
    await expectDeposed(one, heir);
  });

  it('B5, Y1, Y2: a leader whose process is killed is succeeded, and no edit of the others is lost', async () => {
    const [one] = await openThree();
    await meeting.write('two', '<two-before>');
    await one.kill();
    meeting.lose('one');
    await meeting.write('three', '<three-after>');
    await untilSucceeded('<two-before>', '<three-after>');
    expect(meeting.admitted).toEqual(['epoch 1: 1', 'epoch 2: 1']);
    expect(server.open).toBe(1);
  });

  it('B2, B5, Y1, Y2: tabs that go into the cache, with or without the socket, come back in step', async () => {
    const [one] = await openThree();
    await one.page.goto(`http://127.0.0.1:${server.port}${AWAY}`);
    const heir = await untilSucceeded();
    expect(meeting.visits.map(({ closeCode }) => closeCode)).toEqual([NO_STATUS, 0]);
    await one.page.goBack();
    await eventually(() => one.page.evaluate(() => page.restored), 1, 'comes out of the cache');
    await expectDeposed(one, heir);
    // Now it has no socket.
    await one.page.goto(`http://127.0.0.1:${server.port}${AWAY}`);
    await meeting.write(heir, '<heir-alone>');
    await one.page.goBack();
    await eventually(() => one.page.evaluate(() => page.restored), 2, 'comes out of the cache');
    await meeting.share(['<heir-alone>']);
    expect(await meeting.leader()).toBe(heir);
    expect(meeting.visits).toHaveLength(2);
  });
});

describe('hidden tabs whose timers come once a minute', { timeout: 150_000 }, () => {
  let server: RealServer;
  let browser: Chromium;
  let meeting: Meeting<Tab>;

  beforeAll(async () => {
    server = await openSite();
    meeting = new Meeting(server);
    browser = await launchChromium();
  });

  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });

  it('B3, Y1, Y2: what is written in one is everywhere at once, and is so when the leader is killed', async () => {
    let cover: Tab | undefined;
    for (const name of ['one', 'two', 'three']) {
      cover = await browser.open(`http://127.0.0.1:${server.port}`, cover);
      await cover.until(() => 'page' in globalThis);
      await cover.tick();
      await meeting.enter(name, cover, { isLocked: true });
      expect(await meeting.leader()).toBe('one');
    }
    await cover?.hide();
    // The leader has a socket, and therefore a timer a second.
    for (const name of ['two', 'three']) await meeting.at(name).untilThrottled();
    for (const name of meeting.names) await writeInTime(name, `<${name}>`);
    await meeting.lose('one').kill();
    for (const name of meeting.names) await writeInTime(name, `<${name}-after>`);
    expect(meeting.admitted).toEqual(['epoch 1: 1', 'epoch 2: 1']);
    expect(browser.pageErrors).toEqual([]);
  });

  async function writeInTime(name: string, piece: string): Promise<void> {
    const beganMs = performance.now();
    await meeting.write(name, piece);
    await until(() => meeting.text.includes(piece));
    expect(performance.now() - beganMs).toBeLessThan(AT_SERVER_MS);
    await meeting.share([piece]);
    expect(performance.now() - beganMs).toBeLessThan(EVERYWHERE_MS);
  }
});

/** y-websocket tries again after 100 ms, doubled with each failure. */
const COMING_BACK_MS = 1_000;
/** Far from a minute. Tens of milliseconds are usual, on a machine that has time. */
const AT_SERVER_MS = 2_000;
/** Everybody's knowing that the server has it included: a timer of a hidden page takes a second. */
const EVERYWHERE_MS = 5_000;
