import { setTimeout } from 'node:timers/promises';
import puppeteer from 'puppeteer-core';
import { CHROMIUM_ADVICE, ensureChromium } from '../../scripts/chromium.mjs';

const ARGS = ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-component-update'];

/** Without these flags of Puppeteer's a tab behind another is hidden, and its timers are slow. */
const UNWANTED = [
  '--disable-background-timer-throttling',
  '--disable-backgrounding-occluded-windows',
  '--disable-renderer-backgrounding',
];

/** A busy machine starts a page within seconds. */
const LIMIT_MS = 30_000;
const POLL_MS = 5;

/** A browser with a profile of its own on the disk, whose tabs are in one window. */
export async function launchBrowser() {
  const executablePath = await ensureChromium();
  if (!executablePath) throw new Error(CHROMIUM_ADVICE);
  const options = { executablePath, args: ARGS, ignoreDefaultArgs: UNWANTED };
  return new Browser(await puppeteer.launch({ ...options, protocolTimeout: LIMIT_MS }));
}

class Browser {
  #browser;
  #tabs = [];

  constructor(browser) {
    this.#browser = browser;
  }

  version() {
    return this.#browser.version();
  }

  /** In front of all others. `told` is called with the tab and what its page tells. */
  async open(url, told) {
    const page = await this.#browser.newPage();
    const tab = new Tab(page);
    this.#tabs.push(tab);
    await page.exposeFunction('told', (what, at) => told(tab, what, at));
    await page.goto(url, { timeout: LIMIT_MS });
    return tab;
  }

  /** All at once, as a browser does that restores its tabs. */
  openAll(url, { count, told }) {
    return Promise.all(Array.from({ length: count }, () => this.open(url, told)));
  }

  async closeTabs() {
    await Promise.all(this.#tabs.splice(0).map((tab) => tab.close()));
  }

  close() {
    return this.#browser.close();
  }
}

/** One tab, in a process of its own. */
class Tab {
  #page;
  #isOpen = true;
  #crashed;

  constructor(page) {
    this.#page = page;
    this.#crashed = new Promise((resolve) => page.once('error', resolve));
  }

  evaluate(work, ...args) {
    return this.#page.evaluate(work, ...args);
  }

  /** Puts it in front of the others of its window. */
  async show() {
    await this.#page.bringToFront();
    await until(() => this.evaluate(() => !document.hidden));
  }

  async untilHidden() {
    await until(() => this.evaluate(() => document.hidden));
  }

  /** As a user does it: the page hears of it. */
  async close() {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    await this.#page.close();
  }

  /** Gives how to end the process by itself, without a word to the page. */
  async crashing() {
    const session = await this.#page.createCDPSession();
    return async () => {
      // The page dies before it can answer; the event proves that it did.
      session.send('Page.crash').catch(() => undefined);
      await this.#crashed;
    };
  }

  /** Gives how to kill the process. */
  async killing() {
    const pid = await this.#pid();
    return async () => {
      process.kill(pid, 'SIGKILL');
      await this.#crashed;
    };
  }

  /** Gives how to freeze the page, which has to be hidden, and to thaw it. */
  async freezing() {
    const session = await this.#page.createCDPSession();
    const set = (state) => session.send('Page.setWebLifecycleState', { state });
    return { freeze: () => set('frozen'), thaw: () => set('active') };
  }

  /** Follows a link. */
  async leaveFor(url) {
    const navigated = this.#page.waitForNavigation({ timeout: LIMIT_MS });
    await this.#page.evaluate((to) => {
      location.href = to;
    }, url);
    await navigated;
  }

  async goBack() {
    await this.#page.goBack({ timeout: LIMIT_MS, waitUntil: 'domcontentloaded' });
  }

  /** Which process shows which frame is told at the beginning of a trace only. */
  async #pid() {
    const session = await this.#page.createCDPSession();
    const pids = [];
    session.on('Tracing.dataCollected', ({ value }) => {
      for (const { args } of value) {
        for (const { isOutermostMainFrame, processId } of args?.data?.frames ?? []) {
          if (isOutermostMainFrame) pids.push(processId);
        }
      }
    });
    const complete = new Promise((resolve) => session.once('Tracing.tracingComplete', resolve));
    const includedCategories = ['disabled-by-default-devtools.timeline'];
    await session.send('Tracing.start', { traceConfig: { includedCategories } });
    await session.send('Tracing.end');
    await complete;
    await session.detach();
    if (pids.length !== 1) throw new Error(`Expected one process of a tab, got ${pids.length}.`);
    return pids[0];
  }
}

/** Waits until `isMet` gives something true. Rejects when that takes too long. */
export async function until(isMet, { withinMs = LIMIT_MS, what = isMet } = {}) {
  for (const endMs = performance.now() + withinMs; ; await setTimeout(POLL_MS)) {
    if (await isMet()) return;
    if (performance.now() > endMs) throw new Error(`Not within ${withinMs} ms: ${what}`);
  }
}
