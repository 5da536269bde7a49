import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Chromium,
  launchChromium,
  type Tab,
} from '../../../../webrtc/test/browser/chromium.ts';
import { openSite, type Site } from '../../store/browser/lab.ts';
import type { TestPage } from './app/main.ts';

declare const page: TestPage;
/** When a plain timer of the page last came. */
declare const tickedAtMs: number;
/** When the node of the page last had something to say. */
declare const sentAtMs: number[];

/** A ping and an answer a second. */
const BEATS = 10;
const BEATS_WITHIN_MS = 10_000;

describe('hidden tabs whose plain timers come once a minute', { timeout: 120_000 }, () => {
  let browser: Chromium;
  let site: Site;

  beforeAll(async () => {
    [browser, site] = await Promise.all([
      launchChromium(),
      openSite(new URL('app/main.ts', import.meta.url)),
    ]);
  }, 60_000);

  afterAll(async () => {
    await browser?.close();
    await site?.close();
  });

  /** A tab with a node, hidden and seen to be throttled. */
  async function enterHidden(id: string, beside?: Tab): Promise<Tab> {
    const tab = await browser.open(site.origin, beside);
    await tab.until(() => 'page' in globalThis);
    await tab.page.evaluate(async (name) => {
      const tick = () => {
        Object.assign(globalThis, { tickedAtMs: performance.now() });
        setTimeout(tick, 100);
      };
      tick();
      const sentAtMs: number[] = [];
      const transport = page.tabs();
      const send = transport.send.bind(transport);
      transport.send = (...message) => {
        sentAtMs.push(performance.now());
        return send(...message);
      };
      Object.assign(globalThis, { sentAtMs });
      await page.enter({ cluster: 'hidden', id: name, transport });
    }, id);
    await tab.hide();
    return tab;
  }

  /** From now on, by no more than it sends itself and answers. */
  async function untilBeating(tab: Tab): Promise<void> {
    const from = await tab.page.evaluate(() => performance.now());
    const hasSent = (since: string, count: string) =>
      sentAtMs.filter((at) => at > Number(since)).length >= Number(count);
    await tab.until(hasSent, { withinMs: BEATS_WITHIN_MS, args: [`${from}`, `${BEATS}`] });
  }

  it('B3: beat on at their pace, and suspect nobody', async () => {
    const one = await enterHidden('one');
    const two = await enterHidden('two', one);
    const hidden = [one, two];
    await Promise.all(hidden.map((tab) => tab.until(() => performance.now() - tickedAtMs > 3000)));
    await Promise.all(hidden.map(untilBeating));
    const logs = await Promise.all([one, two].map((tab) => tab.page.evaluate(() => page.log)));
    expect(logs.flat().filter((line) => !line.startsWith('leader'))).toEqual([]);
    expect(browser.pageErrors).toEqual([]);
  });
});
