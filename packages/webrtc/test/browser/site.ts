import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createSignalingServer, type SignalingServer } from '@doyen/signaling/node';
import { build, defaultClientConditions, type InlineConfig } from 'vite';

/** The app of the tests and a signaling server, under one address. */
export class Site {
  readonly #server: Server;
  readonly #folder: string;
  #signaling: SignalingServer;

  constructor(parts: { server: Server; folder: string; signaling: SignalingServer }) {
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

  async stopSignaling(): Promise<void> {
    await this.#signaling.close({ spreadMs: 0 });
  }

  startSignaling(): void {
    this.#signaling = createSignalingServer();
    this.#signaling.attach(this.#server);
  }

  async close(): Promise<void> {
    await this.#signaling.close();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
    await rm(this.#folder, { recursive: true });
  }
}

/** Builds the app as any Vite user would. */
export async function openSite(): Promise<Site> {
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
  return new Site({ server, folder, signaling });
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
