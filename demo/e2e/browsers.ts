import type { Browser, BrowserContext, LaunchOptions } from '@playwright/test';
import { EditorTab } from './editor-tab.ts';
import { agree, test as base, expect, split } from './tabs.ts';

const TABS_EACH = 3;

/** A term may end while its socket is still being opened; Chromium has a word for that. */
const ENDED_EARLY = /WebSocket is closed before the connection is established/;

/** Browsers of one test, each a process of its own, with the editor's tabs in them. */
export class Browsers {
  readonly url: string;
  readonly errors: string[] = [];
  /** Errors that the test itself provokes. */
  expectedErrors: RegExp | null = null;
  readonly #launch: () => Promise<Browser>;
  readonly #open: Browser[] = [];

  constructor(launch: () => Promise<Browser>, url: string) {
    this.#launch = launch;
    this.url = url;
  }

  async launch(): Promise<BrowserContext> {
    const browser = await this.#launch();
    this.#open.push(browser);
    return browser.newContext();
  }

  async open(context: BrowserContext, url = this.url): Promise<EditorTab> {
    const page = await context.newPage();
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') this.#note(message.text());
    });
    page.on('pageerror', (error) => this.#note(String(error.stack)));
    await page.goto(url);
    return new EditorTab(page).opened();
  }

  /** Three tabs in each of two browsers, the oldest in the first one: that one leads. */
  async openPair(): Promise<Pair> {
    const [near, far] = await Promise.all([this.launch(), this.launch()]);
    const oldest = await this.open(near);
    const openMany = (context: BrowserContext, count: number) =>
      Promise.all(Array.from({ length: count }, () => this.open(context)));
    const [rest, second] = await Promise.all([
      openMany(near, TABS_EACH - 1),
      openMany(far, TABS_EACH),
    ]);
    const first = [oldest, ...rest];
    const tabs = [...first, ...second];
    await agree(tabs);
    return { tabs, first, second };
  }

  /** What tabs say while they are torn down, one leader after the other, is of no interest. */
  async close(): Promise<void> {
    this.expectedErrors = /.*/s;
    for (const browser of this.#open) await browser.close();
  }

  #note(error: string): void {
    if (ENDED_EARLY.test(error) || this.expectedErrors?.test(error)) return;
    this.errors.push(error);
  }
}

export interface Pair {
  readonly tabs: EditorTab[];
  readonly first: EditorTab[];
  readonly second: EditorTab[];
}

/** The tab that leads, and the others. */
export async function splitEditors(
  tabs: readonly EditorTab[],
): Promise<{ leader: EditorTab; others: EditorTab[] }> {
  const { leader } = await split(tabs);
  const others = tabs.filter((tab) => tab !== leader);
  return { leader: leader as EditorTab, others };
}

export const test = base.extend<{ browsers: Browsers; room: string }>({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright asks for a pattern here.
  room: async ({}, use, { testId, retry, repeatEachIndex }) => {
    await use(`${testId}.${retry}.${repeatEachIndex}`);
  },
  browsers: async ({ playwright, launchOptions, demo, room }, use) => {
    const launch = () => playwright.chromium.launch(launchOptions as LaunchOptions);
    const browsers = new Browsers(launch, `http://localhost:${demo.port}/editor.html#${room}`);
    await use(browsers);
    await browsers.close();
    expect(browsers.errors).toEqual([]);
  },
});

export { expect } from './tabs.ts';
