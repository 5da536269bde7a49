import type { Locator } from '@playwright/test';
import { expectAccessible } from './accessibility.ts';
import { expect, splitEditors, test } from './browsers.ts';
import type { EditorTab } from './editor-tab.ts';
import { agree } from './tabs.ts';

/** Each of six tabs writes letters that no other writes: an edit that is there twice is seen. */
const LETTERS = ['abcdefgh', 'ijklmnop', 'qrstuvwx', 'ABCDEFGH', 'IJKLMNOP', 'QRSTUVWX'];

test('Y1, Y2: six tabs in two browsers write one text over one socket', async ({
  browsers,
  demo,
  room,
}) => {
  const { tabs } = await browsers.openPair();
  await expectOneSocket(tabs, () => demo.sync.counts(room));
  for (const [at, tab] of tabs.entries()) {
    await tab.type(String(at));
    await expectLetters(tabs, '012345'.slice(0, at + 1));
  }
  await Promise.all(tabs.map((tab, at) => tab.type(LETTERS[at] ?? '')));
  await expectLetters(tabs, `012345${LETTERS.join('')}`);
  await expectOneSocket(tabs, () => demo.sync.counts(room));
});

test('Y1, Y2, Y3, M7: when the leader’s tab is closed its cursor goes, the socket moves, and no edit is lost', async ({
  browsers,
  demo,
  room,
}) => {
  const { tabs } = await browsers.openPair();
  const { epoch } = await agree(tabs);
  const { leader, others } = await splitEditors(tabs);
  const name = await leader.name();
  await leader.type('XYZ');
  for (const tab of others) await expect.poll(() => tab.cursors()).toEqual([name]);
  await leader.type('0');
  const closed = leader.page.close();
  await Promise.all(others.map((tab, at) => tab.type(LETTERS[at] ?? '')));
  await closed;

  expect((await agree(others)).epoch).toBeGreaterThan(epoch);
  await expectOneSocket(others, () => demo.sync.counts(room));
  await expectLetters(others, `XYZ0${LETTERS.slice(0, others.length).join('')}`);
  const names = await Promise.all(others.map((tab) => tab.name()));
  for (const [at, tab] of others.entries()) {
    const seen = names.filter((_, other) => other !== at);
    await expect.poll(async () => (await tab.cursors()).sort()).toEqual(seen.sort());
  }
});

test('Y1, Y2, M5: when the leader’s browser is closed the socket moves, and no edit is lost', async ({
  browsers,
  demo,
  room,
}) => {
  const { tabs, first, second } = await browsers.openPair();
  const { epoch } = await agree(tabs);
  const { leader } = await splitEditors(tabs);
  expect(first).toContain(leader);
  await leader.type('XYZ');
  await expectLetters(tabs, 'XYZ');
  const closed = leader.page.context().browser()?.close();
  await Promise.all(second.map((tab, at) => tab.type(LETTERS[at] ?? '')));
  await closed;
  await expect(second[0]?.page.getByRole('status') as Locator).toContainText('does not answer');

  expect((await agree(second)).epoch).toBeGreaterThan(epoch);
  await expectOneSocket(second, () => demo.sync.counts(room));
  await expectLetters(second, `XYZ${LETTERS.slice(0, second.length).join('')}`);
});

test('Y2, Y4: without the server the tabs sync on and say so, and it gets all when it is back', async ({
  browsers,
  demo,
  room,
}) => {
  browsers.expectedErrors = /WebSocket connection to|Failed to load resource/;
  const context = await browsers.launch();
  const tabs = [await browsers.open(context), await browsers.open(context)];
  await agree(tabs);
  await expectOneSocket(tabs, () => demo.sync.counts(room));
  demo.sync.stop();
  const [first, second] = tabs as [EditorTab, EditorTab];
  await first.type('abc');
  await expectSameText(tabs, (text) => text === 'abc');
  for (const { page } of tabs) {
    await expect(page.locator('#hint')).toContainText('The server does not answer');
    await expect(page.locator('#sockets')).toHaveText('?');
    await expect(page.locator('#role')).toHaveText('no way to the server');
  }
  await expect(first.page.locator('#unsynced')).toHaveText('3');
  expect(await second.isSaved()).toBe(false);

  demo.sync.start();
  await expectOneSocket(tabs, () => demo.sync.counts(room));
  await expectLetters(tabs, 'abc');
  await expect(first.page.locator('#unsynced')).toHaveText('0');
  for (const tab of tabs) await tab.page.close();
  await expectLetters([await browsers.open(context)], 'abc');
});

test('Y7: browsers that reach the server and not each other write one text, and two sockets are shown', async ({
  browsers,
  demo,
  room,
}) => {
  const far = await browsers.launch();
  await far.addInitScript(() => Reflect.deleteProperty(globalThis, 'RTCPeerConnection'));
  const near = await browsers.open(await browsers.launch());
  await expectOneSocket([near], () => demo.sync.counts(room));
  const guest = await browsers.open(far);
  await expect(guest.page.locator('#problem')).toContainText('no WebRTC');
  for (const tab of [near, guest]) {
    await expect.poll(() => tab.sockets()).toBe('2: 1 leader, 1 guest');
    await expect(tab.page.locator('#hint')).toContainText('as guests');
  }
  await expect(guest.page.locator('#complaints')).toContainText('fenced');
  await near.type('abc');
  await guest.type('def');
  await expectLetters([near, guest], 'abcdef');
  await expectAccessible(guest.page, 'dark');
});

/** At the server, and on every page. */
async function expectOneSocket(
  tabs: readonly EditorTab[],
  counts: () => { readonly sockets: number },
): Promise<void> {
  await expect.poll(counts).toMatchObject({ sockets: 1, leaders: 1, guests: 0 });
  for (const tab of tabs) await expect.poll(() => tab.sockets()).toBe('1: 1 leader, 0 guests');
}

/** All copies are equal, every letter is there once, and the server has it. */
async function expectLetters(tabs: readonly EditorTab[], letters: string): Promise<void> {
  const sorted = [...letters].sort().join('');
  await expectSameText(tabs, (text) => [...text].sort().join('') === sorted);
  for (const tab of tabs) await expect.poll(() => tab.isSaved()).toBe(true);
}

/** The same in all copies, and on all pages. */
async function expectSameText(
  tabs: readonly EditorTab[],
  isExpected: (text: string) => boolean,
): Promise<void> {
  await expect(async () => {
    const texts = await Promise.all(tabs.map((tab) => tab.text()));
    expect(texts.filter((text) => !isExpected(text))).toEqual([]);
    expect(new Set(texts).size).toBe(1);
    const shown = await Promise.all(tabs.map(async (tab) => (await tab.lines()).join('\n')));
    expect(new Set(shown)).toEqual(new Set(texts));
  }).toPass({ timeout: 40_000, intervals: [50, 100, 200] });
}
