import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createSignalingServer, type SignalingServer } from '@doyen/signaling/node';
import { build as bundle } from 'esbuild';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { build, defaultClientConditions, type InlineConfig } from 'vite';

/** A page's own network process and no two pages in one: real connections between all of them. */
export class Lab {
  readonly #browser: Browser;
  readonly #server: Server;
  readonly #folder: string;
  readonly #contexts: BrowserContext[] = [];
  readonly pageErrors: string[] = [];
  #signaling: SignalingServer;

  constructor(parts: {
    browser: Browser;
    server: Server;
    folder: string;
    signaling: SignalingServer;
  }) {
    this.#browser = parts.browser;
    this.#server = parts.server;
    this.#folder = parts.folder;
    this.#signaling = parts.signaling;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get signaling(): string {
    return `${this.origin.replace('http', 'ws')}/v1`;
  }

  /** A page of the built app, in a browser profile of its own. */
  async open(): Promise<Page> {
    const context = await this.#browser.newContext();
    this.#contexts.push(context);
    const page = await context.newPage();
    page.on('pageerror', ({ message }) => this.pageErrors.push(message));
    await page.goto(this.origin);
    await page.waitForFunction(() => 'page' in globalThis);
    return page;
  }

  async stopSignaling(): Promise<void> {
    await this.#signaling.close({ spreadMs: 0 });
  }

  startSignaling(): void {
    this.#signaling = createSignalingServer();
    this.#signaling.attach(this.#server);
  }

  async closePages(): Promise<void> {
    await Promise.all(this.#contexts.splice(0).map((context) => context.close()));
  }

  async close(): Promise<void> {
    await this.#browser.close();
    await this.#signaling.close();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
    await rm(this.#folder, { recursive: true });
  }
}

/** Builds the app as any Vite user would, serves it and the signaling server from one address. */
export async function openLab(): Promise<Lab> {
  const folder = await mkdtemp(join(tmpdir(), 'doyen-webrtc-'));
  await build({
    ...APP,
    build: { outDir: folder, emptyOutDir: true, reportCompressedSize: false },
  });
  const server = createServer(async (request, response) => {
    const path = request.url === '/' ? '/index.html' : (request.url ?? '');
    const body = await readFile(join(folder, path)).catch(() => null);
    const type = TYPES[extname(path)];
    response.writeHead(body && type ? 200 : 404, type ? { 'content-type': type } : {}).end(body);
  });
  const signaling = createSignalingServer();
  signaling.attach(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return new Lab({ browser: await launch(), server, folder, signaling });
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

export function launch(): Promise<Browser> {
  return chromium.launch({
    executablePath: process.env['DOYEN_CHROMIUM'] ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'],
  });
}

/** Nothing but the condition under which this workspace names its sources: no shims, no aliases. */
export const APP: InlineConfig = {
  configFile: false,
  root: fileURLToPath(new URL('app', import.meta.url)),
  logLevel: 'error',
  resolve: { conditions: ['doyen-source', ...defaultClientConditions] },
};

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
};
