import { startDemo } from '../server.mjs';
import { expectAccessible } from './accessibility.ts';
import { expect, splitEditors, test } from './browsers.ts';
import { agree } from './tabs.ts';

test('the editor tells who leads, is accessible, fits a phone, and leads to the other page', async ({
  browsers,
  room,
}) => {
  const context = await browsers.launch();
  const tabs = [await browsers.open(context), await browsers.open(context)];
  const { epoch } = await agree(tabs);
  const { leader, others } = await splitEditors(tabs);
  const [follower] = others as [(typeof tabs)[number]];
  await expect(leader.page.getByRole('status')).toHaveText('This tab leads, and holds the socket.');
  await expect(leader.page.locator('#role')).toHaveText('holds the socket');
  await expect(leader.page).toHaveTitle(new RegExp(`^♛ .* epoch ${epoch} `));
  const name = await leader.name();
  await expect(follower.page.locator('#role')).toHaveText(`syncs through ${name}`);
  await expect(follower.page.locator('#leader')).toContainText(name);
  await expect(follower.page.locator('#tab-count')).toHaveText('2 tabs in 1 browser');

  await leader.type('written\n\nand a line that is longer than a phone is wide, by some words.');
  await expect.poll(() => follower.cursors()).toEqual([name]);
  await expectAccessible(follower.page, 'light');
  await follower.page.setViewportSize({ width: 390, height: 844 });
  await expectAccessible(follower.page, 'dark');
  expect(await follower.page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);

  const { page } = follower;
  await page.getByRole('link', { name: 'The picture' }).click();
  await expect(page).toHaveURL(new RegExp(`/#${room}$`));
  await page.getByRole('link', { name: 'The editor' }).click();
  await expect(page).toHaveURL(browsers.url);
});

test('the dev server shows the same editor', async ({ browsers, room }) => {
  const demo = await startDemo({ port: 0, dev: true });
  const url = `http://localhost:${demo.port}/editor.html#${room}`;
  const context = await browsers.launch();
  const [first, second] = [await browsers.open(context, url), await browsers.open(context, url)];
  await agree([first, second]);
  await first.type('abc');
  await expect.poll(() => second.text()).toBe('abc');
  await expect.poll(() => second.sockets()).toBe('1: 1 leader, 0 guests');
  await browsers.close();
  await demo.close();
});
