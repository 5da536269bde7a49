import { setTimeout as sleep } from 'node:timers/promises';
import puppeteer, { type Browser, type BrowserContext, type Page } from 'puppeteer-core';

/** When a timer of the page last came. */
declare const tickedAtMs: number;

/**
 * A browser whose tabs can be hidden, throttled, frozen, stopped and killed. Under Playwright every
 * page stays visible, whatever is in front of it.
 */
export class Chromium {
  /** What was thrown in pages and caught by nobody. */
  readonly pageErrors: string[] = [];
  readonly #browser: Browser;
  readonly #contexts: BrowserContext[] = [];
  readonly #tabs: Tab[] = [];

  constructor(browser: Browser) {
    this.#browser = browser;
  }

  /** A tab in a profile and a window of its own, or in front of `beside`, in its window. */
  async open(url: string, beside?: Tab): Promise<Tab> {
    const context = beside?.page.browserContext() ?? (await this.#browser.createBrowserContext());
    if (!beside) this.#contexts.push(context);
    const tab = new Tab(await context.newPage());
    this.#tabs.push(tab);
    tab.page.on('pageerror', (error) => this.pageErrors.push(String(error)));
    await tab.page.goto(url);
    return tab;
  }

  async closeTabs(): Promise<void> {
    for (const tab of this.#tabs.splice(0)) tab.resume();
    await Promise.all(this.#contexts.splice(0).map((context) => context.close()));
  }

  async close(): Promise<void> {
    for (const tab of this.#tabs.splice(0)) tab.resume();
    await this.#browser.close();
  }
}

/** One tab. What it does to the renderer happens to all tabs that share it: those it has opened. */
export class Tab {
  readonly page: Page;
  #stoppedPid: number | undefined;

  constructor(page: Page) {
    this.page = page;
  }

  /** Runs something in the page, also in a frozen one. */
  evaluate<Given, Result>(
    run: (given: Given) => Result | Promise<Result>,
    given: Given,
  ): Promise<Result> {
    return this.page.evaluate(run as (given: unknown) => Result | Promise<Result>, given);
  }

  /** Puts another tab in front. */
  async hide(): Promise<void> {
    const cover = await this.page.browserContext().newPage();
    await cover.bringToFront();
    await this.until(() => document.hidden);
  }

  async show(): Promise<void> {
    await this.page.bringToFront();
    await this.until(() => !document.hidden);
  }

  /** Lets timers follow from one another, as in any page that does something. */
  async tick(): Promise<void> {
    await this.page.evaluate(() => {
      const tick = () => {
        Object.assign(globalThis, { tickedAtMs: performance.now() });
        setTimeout(tick, 100);
      };
      tick();
    });
  }

  /** Until the timers of a hidden page that ticks come once a minute. */
  async untilThrottled(): Promise<void> {
    await this.until(() => performance.now() - tickedAtMs > 3_000);
  }

  /** As browsers freeze a hidden tab: the event, then nothing runs, and what comes in waits. */
  async freeze(): Promise<void> {
    if (!(await this.page.evaluate(() => document.hidden)))
      throw new Error('A visible tab is not frozen: hide it first.');
    await this.#setLifecycle('frozen');
  }

  async thaw(): Promise<void> {
    await this.#setLifecycle('active');
  }

  /** Stops the process without a word to the page, as a machine that is out of breath does. */
  async stop(): Promise<void> {
    this.#stoppedPid = await this.#rendererPid();
    process.kill(this.#stoppedPid, 'SIGSTOP');
  }

  /** Ends a stop; without one, nothing happens. */
  resume(): void {
    if (this.#stoppedPid !== undefined) process.kill(this.#stoppedPid, 'SIGCONT');
    this.#stoppedPid = undefined;
  }

  /** Ends the process: no event, no goodbye. */
  async kill(): Promise<void> {
    const pid = await this.#rendererPid();
    const crashed = new Promise((resolve) => this.page.once('error', resolve));
    process.kill(pid, 'SIGKILL');
    await crashed;
  }

  /** Waits until `isMet` holds in the page. Asked from outside: a hidden page has no timers for it. */
  async until(
    isMet: (...args: string[]) => boolean,
    { withinMs = 30_000, args = [] }: { withinMs?: number; args?: string[] } = {},
  ): Promise<void> {
    for (const endMs = performance.now() + withinMs; ; await sleep(POLL_MS)) {
      if (await this.page.evaluate(isMet, ...args)) return;
      if (performance.now() > endMs) throw new Error(`Not within ${withinMs} ms: ${isMet}`);
    }
  }

  async #setLifecycle(state: 'active' | 'frozen'): Promise<void> {
    const session = await this.page.createCDPSession();
    await session.send('Page.setWebLifecycleState', { state });
    await session.detach();
  }

  /** The browser tells which process shows which frame at the beginning of a trace only. */
  async #rendererPid(): Promise<number> {
    const session = await this.page.createCDPSession();
    const pids: number[] = [];
    session.on('Tracing.dataCollected', ({ value }) => {
      for (const { args } of value as TraceEvent[])
        for (const frame of args?.data?.frames ?? [])
          if (frame.isOutermostMainFrame) pids.push(frame.processId);
    });
    const complete = new Promise((resolve) => session.once('Tracing.tracingComplete', resolve));
    await session.send('Tracing.start', { traceConfig: { includedCategories: [TIMELINE] } });
    await session.send('Tracing.end');
    await complete;
    await session.detach();
    const [pid] = pids;
    if (pid === undefined) throw new Error('The browser did not tell the process of the tab.');
    return pid;
  }
}

/** Timers of a tab that was hidden for `throttleAfterS` come once a minute, unless it has a link. */
export async function launchChromium({ throttleAfterS = 2 } = {}): Promise<Chromium> {
  const browser = await puppeteer.launch({
    executablePath: process.env['DOYEN_CHROMIUM'] ?? '/usr/bin/chromium',
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--no-first-run',
      '--disable-background-networking',
      `--enable-features=IntensiveWakeUpThrottling:grace_period_seconds/${throttleAfterS}`,
      '--intensive-wake-up-throttling-policy=1',
    ],
    // With these a hidden page would be as good as a visible one.
    ignoreDefaultArgs: [
      '--disable-background-timer-throttling',
      '--disable-backgrounding-occluded-windows',
      '--disable-renderer-backgrounding',
    ],
  });
  return new Chromium(browser);
}

interface TraceEvent {
  readonly args?: {
    readonly data?: {
      readonly frames?: readonly { isOutermostMainFrame: boolean; processId: number }[];
    };
  };
}

const TIMELINE = 'disabled-by-default-devtools.timeline';
const POLL_MS = 20;
