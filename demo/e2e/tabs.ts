import { type BrowserContext, test as base, expect } from '@playwright/test';
import { type DemoServer, startDemo } from '../server.mjs';
import { type Leadership, Tab } from './tab.ts';

/** Some seconds of work for one tab: enough to interrupt it. */
const QUERY = '?picture=small&iterations=20000';

/** The tabs of one test: a cluster of their own, and a context each, so that only WebRTC links them. */
export class Tabs {
  /** Errors that the test itself provokes. */
  expectedErrors: RegExp | null = null;
  readonly errors: string[] = [];
  readonly #newContext: () => Promise<BrowserContext>;
  readonly #origin: string;
  readonly #cluster: string;

  constructor(newContext: () => Promise<BrowserContext>, origin: string, cluster: string) {
    this.#newContext = newContext;
    this.#origin = origin;
    this.#cluster = cluster;
  }

  url({ origin = this.#origin, query = QUERY, cluster = this.#cluster } = {}): string {
    return `${origin}${query}#${cluster}`;
  }

  /** Opens one tab; in a context of its own unless one is given. */
  async open(
    options: {
      context?: BrowserContext;
      origin?: string;
      query?: string;
      cluster?: string;
      script?: () => void;
    } = {},
  ): Promise<Tab> {
    const context = options.context ?? (await this.#newContext());
    const page = await context.newPage();
    if (options.script) await page.addInitScript(options.script);
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') this.#note(message.text());
    });
    page.on('pageerror', (error) => this.#note(String(error.stack)));
    await page.goto(this.url(options));
    return new Tab(page).opened();
  }

  /** Opens several, one after the other, so that the first is the oldest. */
  async openMany(count: number): Promise<Tab[]> {
    const tabs: Tab[] = [];
    for (let index = 0; index < count; index += 1) tabs.push(await this.open());
    await agree(tabs);
    return tabs;
  }

  #note(error: string): void {
    if (!this.expectedErrors?.test(error)) this.errors.push(error);
  }
}

/** Waits until all see each other, and name the same leader and epoch. */
export async function agree(tabs: readonly Tab[]): Promise<Leadership> {
  const ids = await Promise.all(tabs.map((tab) => tab.id()));
  const view = async (tab: Tab) => ({
    members: await tab.members(),
    ...(await tab.leadership()),
  });
  let views: Awaited<ReturnType<typeof view>>[] = [];
  await expect(async () => {
    views = await Promise.all(tabs.map(view));
    for (const seen of views) {
      expect(seen).toEqual(views[0]);
      expect(seen.members).toEqual([...ids].sort());
      expect(ids).toContain(seen.leader);
    }
  }).toPass({ timeout: 40_000, intervals: [50, 100, 200] });
  const [{ leader, epoch } = { leader: null, epoch: 0 }] = views;
  return { leader, epoch };
}

/** The tab that leads, and the others. */
export async function split(tabs: readonly Tab[]): Promise<{ leader: Tab; others: Tab[] }> {
  const leads = await Promise.all(tabs.map((tab) => tab.isLeader()));
  const leader = tabs[leads.indexOf(true)];
  if (!leader || leads.filter(Boolean).length !== 1) throw new Error(`leaders: ${leads}`);
  return { leader, others: tabs.filter((tab) => tab !== leader) };
}

export const test = base.extend<{ tabs: Tabs }, { demo: DemoServer }>({
  demo: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright asks for a pattern here.
    async ({}, use) => {
      const demo = await startDemo({ port: 0 });
      await use(demo);
      await demo.close();
    },
    { scope: 'worker' },
  ],
  tabs: async ({ browser, demo }, use, { testId }) => {
    const contexts: BrowserContext[] = [];
    const newContext = async () => {
      const context = await browser.newContext();
      contexts.push(context);
      return context;
    };
    const tabs = new Tabs(newContext, `http://localhost:${demo.port}/`, testId);
    await use(tabs);
    for (const context of contexts) await context.close();
    expect(tabs.errors).toEqual([]);
  },
});

export { expect } from '@playwright/test';
