import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { createSignalingServer, type SignalingServer } from '../../../../signaling/src/node.ts';

/** A browser with profiles that know nothing of each other, and a site of one page. */
export class Lab {
  readonly pageErrors: string[] = [];
  readonly #browser: Browser;
  readonly #server: Server;
  readonly #signaling: SignalingServer;
  readonly #profiles = new Map<string, Promise<BrowserContext>>();

  constructor(parts: { browser: Browser; server: Server; signaling: SignalingServer }) {
    this.#browser = parts.browser;
    this.#server = parts.server;
    this.#signaling = parts.signaling;
  }

  /** The site under a name for which browsers make an exception, and one for which they do not. */
  url(path = '/', host: 'localhost' | 'insecure.test' = 'localhost'): string {
    return `http://${host}:${(this.#server.address() as AddressInfo).port}${path}`;
  }

  get signaling(): string {
    return `${this.url('/v1').replace('http', 'ws')}`;
  }

  /** One more tab of a profile. */
  async open(url = this.url(), profile = 'own'): Promise<Page> {
    const context = this.#profiles.get(profile) ?? this.#browser.newContext();
    this.#profiles.set(profile, context);
    const tab = await (await context).newPage();
    this.watch(tab);
    await this.load(tab, url);
    return tab;
  }

  /** What is thrown in it and caught by nobody goes to `pageErrors`. */
  watch(tab: Page): void {
    tab.on('pageerror', ({ message }) => this.pageErrors.push(message));
  }

  async load(tab: Page, url = this.url()): Promise<void> {
    await tab.goto(url);
    await tab.waitForFunction(() => 'page' in globalThis);
  }

  /** Ends the tab's process; gives when that began. */
  async crash(tab: Page): Promise<number> {
    const crashed = new Promise((resolve) => tab.once('crash', resolve));
    const session = await tab.context().newCDPSession(tab);
    const startedAt = Date.now();
    void session.send('Page.crash').catch(() => undefined);
    await crashed;
    return startedAt;
  }

  async closeTabs(): Promise<void> {
    const profiles = [...this.#profiles.values()];
    this.#profiles.clear();
    await Promise.all(profiles.map(async (context) => (await context).close()));
  }

  async close(): Promise<void> {
    await this.#browser.close();
    await this.#signaling.close();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

export async function openLab(): Promise<Lab> {
  const scripts = await buildScripts();
  const server = createServer((request, response) => {
    const path = request.url ?? '/';
    const script = scripts.get(path);
    // Under this address pages may not make workers from blobs.
    if (path === '/strict') response.setHeader('content-security-policy', "worker-src 'self'");
    response.setHeader('content-type', script ? 'text/javascript' : 'text/html');
    response.end(script ?? '<!doctype html><title>Doyen</title><script src="/main.js"></script>');
  });
  const signaling = createSignalingServer();
  signaling.attach(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const browser = await chromium.launch({
    executablePath: process.env['DOYEN_CHROMIUM'] ?? '/usr/bin/chromium',
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--no-first-run',
      '--disable-background-networking',
      '--host-resolver-rules=MAP insecure.test 127.0.0.1, MAP localhost 127.0.0.1',
    ],
  });
  return new Lab({ browser, server, signaling });
}

async function buildScripts(): Promise<Map<string, Uint8Array>> {
  const { outputFiles } = await build({
    entryPoints: ['main', 'worker'].map((name) => {
      return fileURLToPath(new URL(`app/${name}.ts`, import.meta.url));
    }),
    bundle: true,
    write: false,
    outdir: '/',
    format: 'iife',
    conditions: ['doyen-source'],
  });
  return new Map(outputFiles.map(({ path, contents }) => [path, contents]));
}
