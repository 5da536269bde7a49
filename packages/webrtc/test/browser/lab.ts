import { fileURLToPath } from 'node:url';
import { build as bundle } from 'esbuild';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { openSite, type Site } from './site.ts';

/** Visible pages, no two of one profile: real connections between all of them. */
export class Lab {
  readonly site: Site;
  readonly pageErrors: string[] = [];
  readonly #browser: Browser;
  readonly #contexts: BrowserContext[] = [];

  constructor(parts: { browser: Browser; site: Site }) {
    this.#browser = parts.browser;
    this.site = parts.site;
  }

  /** A page of the built app, in a browser profile of its own. */
  async open(): Promise<Page> {
    const context = await this.#browser.newContext();
    this.#contexts.push(context);
    const page = await context.newPage();
    page.on('pageerror', ({ message }) => this.pageErrors.push(message));
    await page.goto(this.site.origin);
    await page.waitForFunction(() => 'page' in globalThis);
    return page;
  }

  async closePages(): Promise<void> {
    await Promise.all(this.#contexts.splice(0).map((context) => context.close()));
  }

  async close(): Promise<void> {
    await this.#browser.close();
    await this.site.close();
  }
}

export async function openLab(): Promise<Lab> {
  return new Lab({ browser: await launch(), site: await openSite() });
}

/** The Node peer as one file, in a place from which it finds its native modules. */
export async function buildPeer(): Promise<string> {
  const outfile = fileURLToPath(new URL('../../node_modules/.cache/peer.mjs', import.meta.url));
  await bundle({
    entryPoints: [fileURLToPath(new URL('peer.ts', import.meta.url))],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    conditions: ['doyen-source'],
    external: ['@roamhq/wrtc', 'ws'],
  });
  return outfile;
}

function launch(): Promise<Browser> {
  return chromium.launch({
    executablePath: process.env['DOYEN_CHROMIUM'] ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'],
  });
}
