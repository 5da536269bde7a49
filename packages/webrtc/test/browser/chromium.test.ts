import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Chromium, launchChromium, type Tab } from './chromium.ts';

// What other tests rely on: that a tab really is what they have made of it.

describe('a tab of Chromium', () => {
  let chromium: Chromium;

  beforeAll(async () => {
    chromium = await launchChromium();
  });

  afterAll(() => chromium.close());

  afterEach(() => chromium.closeTabs());

  it('has timers once a minute when it was hidden for some seconds', async () => {
    const tab = await openTicking(chromium);
    await tab.hide();
    await tab.until(() => performance.now() - ticking.lastMs > 3_000);
    await tab.show();
    await tab.until(() => performance.now() - ticking.lastMs < 500);
  });

  it('runs nothing while it is frozen, and goes on when it is thawed', async () => {
    const tab = await openTicking(chromium);
    await expect(tab.freeze()).rejects.toThrow('hide it first');
    await tab.hide();
    await tab.freeze();
    await tab.until(() => ticking.events.at(-1) === 'freeze');
    await tab.thaw();
    await tab.until(() => ticking.events.at(-1) === 'resume');
  });

  it('stops with its process, which is its own, and is killed', async () => {
    const tab = await openTicking(chromium);
    const other = await openTicking(chromium);
    await tab.stop();
    const answered = tab.page.evaluate(() => 'answered');
    const isAnswered = () => Promise.race([answered, other.page.evaluate(() => 'other answered')]);
    expect(await isAnswered()).toBe('other answered');
    tab.resume();
    expect(await answered).toBe('answered');
    // Resolves when the browser tells that the tab has crashed.
    await tab.kill();
    expect(await other.page.evaluate(() => 1)).toBe(1);
  });
});

declare const ticking: { lastMs: number; events: string[] };

/** A tab that writes down when its timers came last, and how its life goes. */
async function openTicking(chromium: Chromium): Promise<Tab> {
  const tab = await chromium.open('about:blank');
  await tab.page.evaluate(() => {
    const state = { lastMs: performance.now(), events: [] as string[] };
    Object.assign(globalThis, { ticking: state });
    const tick = () => {
      state.lastMs = performance.now();
      setTimeout(tick, 100);
    };
    tick();
    for (const type of ['freeze', 'resume'])
      document.addEventListener(type, () => state.events.push(type));
  });
  return tab;
}
