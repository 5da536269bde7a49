import { networkInterfaces } from 'node:os';
import { chromium } from '@playwright/test';
import { startDemo } from '../server.mjs';
import { expectAccessible } from './accessibility.ts';
import { agree, expect, test } from './tabs.ts';

for (const colorScheme of ['dark', 'light'] as const) {
  test(`the page is accessible in ${colorScheme}`, async ({ tabs }) => {
    const [first, second] = await tabs.openMany(2);
    if (!first || !second) throw new Error('two tabs');
    await expectAccessible(first.page, colorScheme);
    await second.click('Crash');
    await expectAccessible(second.page, colorScheme);
  });

  test(`the page fits a phone in ${colorScheme}`, async ({ tabs }) => {
    const [tab, other] = await tabs.openMany(2);
    if (!tab || !other) throw new Error('two tabs');
    await tab.page.emulateMedia({ colorScheme });
    await tab.page.setViewportSize({ width: 390, height: 844 });
    await other.click('Crash');
    // The longest row that there is.
    await expect(tab.page.getByText('suspect', { exact: true })).toBeVisible();
    const width = await tab.page.evaluate(() => document.documentElement.scrollWidth);
    expect(width).toBe(390);
    // Wider than any name, whatever this tab's and the other's happen to be.
    const overflow = await tab.page.locator('.members').evaluate((list) => {
      for (const name of list.querySelectorAll('b')) name.textContent = 'Mellow Wombat Wren';
      const edge = list.getBoundingClientRect().right;
      const inner = [...list.querySelectorAll('.who, .how, .badge, button')];
      return Math.max(...inner.map((part) => part.getBoundingClientRect().right)) - edge;
    });
    expect(overflow).toBeLessThanOrEqual(0);
  });
}

test('B6: tabs elect on the address of the local network, an insecure context', async ({
  tabs,
  demo,
}) => {
  const address = Object.values(networkInterfaces())
    .flatMap((infos) => infos ?? [])
    .find(({ family, internal }) => family === 'IPv4' && !internal)?.address;
  expect(address, 'this machine has an address on a network').toBeDefined();
  const origin = `http://${address}:${demo.port}/`;
  const both = [await tabs.open({ origin }), await tabs.open({ origin })];
  for (const { page } of both) expect(await page.evaluate(() => isSecureContext)).toBe(false);
  await agree(both);
  for (const tab of both) await tab.hasCompleted();
});

test('a browser without a route for WebRTC says so', async ({ tabs, launchOptions }) => {
  const policy = '--webrtc-ip-handling-policy=disable_non_proxied_udp';
  const args = [...(launchOptions.args ?? []), policy];
  const browser = await chromium.launch({ ...launchOptions, args });
  const context = await browser.newContext();
  const tab = await tabs.open({ context });
  await expect(tab.page.locator('#hint')).toContainText('no network address for WebRTC');
  await expect.poll(() => tab.isLeader()).toBe(true);
  await browser.close();
});

test('a browser without WebRTC says so, and can try again', async ({ page, demo }) => {
  await page.addInitScript(() => Reflect.deleteProperty(globalThis, 'RTCPeerConnection'));
  await page.goto(`http://localhost:${demo.port}/#nobody`);
  await expect(page.getByRole('status')).toHaveText('This tab cannot take part.');
  await expect(page.locator('#hint')).toContainText('no RTCPeerConnection');
  await expect(page.getByRole('button', { name: 'Join again' })).toBeVisible();
});

test('a tab whose signaling server is away says so, leads alone, and meets the others later', async ({
  tabs,
  demo,
}) => {
  tabs.expectedErrors = /WebSocket connection to/;
  await demo.stopSignaling();
  const first = await tabs.open();
  await expect(first.page.locator('#hint')).toContainText('No way to ws://');
  await expect.poll(() => first.isLeader()).toBe(true);
  demo.startSignaling();
  await agree([first, await tabs.open()]);
  await expect(first.page.locator('#hint')).not.toContainText('No way to');
});

test('the title, the roster and the history tell who leads', async ({ tabs }) => {
  const [first, second] = await tabs.openMany(2);
  if (!first || !second) throw new Error('two tabs');
  await expect(first.page).toHaveTitle(/^♛ .* epoch 1/);
  await expect(second.page.getByRole('status')).toContainText('This tab follows');
  await expect(second.page.locator('#roster')).toHaveAttribute('aria-label', /leads/);
  await first.page.close();
  await expect(second.page.getByRole('status')).toContainText('This tab leads');
  await expect(second.page.locator('#history li').first()).toContainText('leads epoch 2');
});

test('the dev server shows the same', async ({ tabs }) => {
  const demo = await startDemo({ port: 0, dev: true });
  const origin = `http://localhost:${demo.port}/`;
  const both = [await tabs.open({ origin }), await tabs.open({ origin })];
  await agree(both);
  await both[1]?.hasCompleted();
  for (const { page } of both) await page.close();
  await demo.close();
});
