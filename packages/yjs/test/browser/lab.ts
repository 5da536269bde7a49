import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { type RealServer, serve } from '../real-server.ts';
import type { TestPage } from './app/main.ts';

declare const page: TestPage;

/** Tabs of one profile, and a y-websocket server under the address of their page. */
export class Lab {
  readonly server: RealServer;
  readonly pageErrors: string[] = [];
  readonly #browser: Browser;
  #profile: Promise<BrowserContext> | null = null;

  constructor(parts: { readonly browser: Browser; readonly server: RealServer }) {
    this.#browser = parts.browser;
    this.server = parts.server;
  }

  /** One more tab, in which the document is open. */
  async open(name: string, room: string): Promise<Page> {
    this.#profile ??= this.#browser.newContext();
    const tab = await (await this.#profile).newPage();
    tab.on('pageerror', ({ message }) => this.pageErrors.push(message));
    await tab.goto(`http://localhost:${this.server.port}`);
    await tab.waitForFunction(() => 'page' in globalThis);
    await tab.evaluate((names) => page.enter(...names), [name, room] as const);
    return tab;
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
  const script = await buildScript();
  const server = await serve((request, response) => {
    const isScript = request.url === '/main.js';
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
    response.end(
      isScript ? script : '<!doctype html><title>Yjs</title><script src="main.js"></script>',
    );
  });
  const browser = await chromium.launch({
    executablePath: process.env['DOYEN_CHROMIUM'] ?? '/usr/bin/chromium',
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--no-first-run',
      '--disable-background-networking',
      '--host-resolver-rules=MAP localhost 127.0.0.1',
    ],
  });
  return new Lab({ browser, server });
}

async function buildScript(): Promise<Uint8Array | undefined> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('app/main.ts', import.meta.url))],
    bundle: true,
    write: false,
    format: 'iife',
    conditions: ['doyen-source'],
  });
  return outputFiles[0]?.contents;
}
