import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import type { RealServer } from '../real-server.ts';
import { openSite } from './site.ts';

/** Tabs of one profile that stay visible, and a y-websocket server under the address of their page. */
export class Lab {
  readonly server: RealServer;
  readonly pageErrors: string[] = [];
  readonly #browser: Browser;
  #profile: Promise<BrowserContext> | null = null;

  constructor(parts: { readonly browser: Browser; readonly server: RealServer }) {
    this.#browser = parts.browser;
    this.server = parts.server;
  }

  /** The site under a name for which browsers make an exception, and one for which they do not. */
  url(host: 'localhost' | 'insecure.test' = 'localhost'): string {
    return `http://${host}:${this.server.port}`;
  }

  /** One more tab. */
  async open(url = this.url()): Promise<Page> {
    this.#profile ??= this.#browser.newContext();
    const tab = await (await this.#profile).newPage();
    this.watch(tab);
    await tab.goto(url);
    await this.untilLoaded(tab);
    return tab;
  }

  /** What is thrown in it and caught by nobody goes to `pageErrors`. */
  watch(tab: Page): void {
    tab.on('pageerror', ({ message }) => this.pageErrors.push(message));
  }

  async untilLoaded(tab: Page): Promise<void> {
    await tab.waitForFunction(() => 'page' in globalThis);
  }

  async closeTabs(): Promise<void> {
    await (await this.#profile)?.close();
    this.#profile = null;
  }

  async close(): Promise<void> {
    await this.#browser.close();
    await this.server.close();
  }
}

export async function openLab(): Promise<Lab> {
  const server = await openSite();
  const browser = await chromium.launch({
    executablePath: process.env['DOYEN_CHROMIUM'] ?? '/usr/bin/chromium',
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--no-first-run',
      '--disable-background-networking',
      '--host-resolver-rules=MAP localhost 127.0.0.1, MAP insecure.test 127.0.0.1',
    ],
  });
  return new Lab({ browser, server });
}
