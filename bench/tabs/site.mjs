import { createServer } from 'node:http';
import path from 'node:path';
import { gate } from '@doyen/yjs/server';
import { docs, setupWSConnection } from '@y/websocket-server/utils';
import { build } from 'esbuild';
import { WebSocketServer } from 'ws';
import { root } from '../../scripts/workspace.mjs';

const PAGES = ['election', 'document'];

/** Serves the pages, and under the same address a y-websocket server behind Doyen's gate. */
export async function openSite() {
  const scripts = await buildScripts();
  const http = createServer(({ url }, response) => {
    const [page] = url.slice(1).split('?');
    const script = scripts.get(page);
    response.setHeader('content-type', script ? 'text/javascript' : 'text/html');
    const tag = PAGES.includes(page) ? `<script type="module" src="/${page}.js"></script>` : '';
    response.end(script ?? `<!doctype html><title>${page}</title>${tag}`);
  });
  const sockets = new WebSocketServer({ server: http });
  const guard = gate();
  sockets.on('connection', (socket, request) => {
    if (guard.admit(socket, request)) setupWSConnection(socket, request);
  });
  await new Promise((resolve) => http.listen(0, '127.0.0.1', resolve));
  return new Site({ http, sockets });
}

class Site {
  #http;
  #sockets;
  #mostOpen = 0;

  constructor({ http, sockets }) {
    this.#http = http;
    this.#sockets = sockets;
    sockets.on('connection', () => {
      this.#mostOpen = Math.max(this.#mostOpen, this.open);
    });
  }

  /** Of a page, or of an empty one; `params` go to its script. */
  url(page, params = {}) {
    const { port } = this.#http.address();
    return `http://localhost:${port}/${page}?${new URLSearchParams(params)}`;
  }

  /** How many sockets there are, those that are ending included. */
  get open() {
    return this.#sockets.clients.size;
  }

  /** The most that there were since this was last asked. */
  takeMostOpen() {
    const most = this.#mostOpen;
    this.#mostOpen = 0;
    return most;
  }

  async close() {
    for (const socket of this.#sockets.clients) socket.terminate();
    this.#http.closeAllConnections();
    await new Promise((resolve) => this.#http.close(resolve));
    // Their timers would keep the process.
    for (const doc of docs.values()) doc.destroy();
    docs.clear();
  }
}

/** Of the built packages, as a user's bundler makes them. */
async function buildScripts() {
  const { outputFiles } = await build({
    entryPoints: PAGES.map((page) => path.join(root, `bench/tabs/page/${page}.mjs`)),
    bundle: true,
    minify: true,
    write: false,
    outdir: '/',
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
  });
  return new Map(outputFiles.map(({ path: file, contents }) => [path.basename(file), contents]));
}
