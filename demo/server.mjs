// The demo on one address: the pages, the signaling server at /v1 with /healthz, and the
// y-websocket server of the editor at /sync/.
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { createSignalingServer } from '@doyen/signaling/node';
import { createServer, preview } from 'vite';
import { SyncServer } from './sync/sync-server.mjs';

const root = path.dirname(fileURLToPath(import.meta.url));

/** Many tabs of one machine are the usual case here, and they count as one address. */
const LIMITS = { joinsPerIpPerMin: 1_000, socketsPerIpMax: 256 };

/**
 * @typedef {object} DemoServer
 * @property {number} port
 * @property {readonly string[]} local URLs for this machine
 * @property {readonly string[]} network URLs for other machines
 * @property {() => void} startSignaling
 * @property {() => Promise<void>} stopSignaling the page is served on
 * @property {SyncServer} sync
 * @property {() => Promise<void>} close ends every connection
 */

/**
 * Serves the built pages, or with `dev` their sources, on `port` or the next free one; 0 = any.
 *
 * @param {{ port?: number, dev?: boolean }} [options]
 * @returns {Promise<DemoServer>}
 */
export async function startDemo({ port = 5173, dev = false } = {}) {
  const signaling = new SwitchableSignaling();
  const site = dev ? await developmentSite(port) : await builtSite(port);
  if (!site.httpServer) throw new Error('The site has no http server of its own.');
  const sync = new SyncServer();
  const server = /** @type {import('node:http').Server} */ (site.httpServer);
  signaling.attach(server);
  sync.attach(server);
  /** @type {import('vite').Connect.NextHandleFunction} */
  const handle = (request, response, next) => {
    if (!signaling.handle(request, response) && !sync.handle(request, response)) next();
  };
  // In front of all others, which would answer with a page.
  site.middlewares.stack.unshift({ route: '', handle });
  const address = site.httpServer.address();
  return {
    port: typeof address === 'object' && address ? address.port : 0,
    local: site.resolvedUrls?.local ?? [],
    network: site.resolvedUrls?.network ?? [],
    startSignaling: () => signaling.start(),
    stopSignaling: () => signaling.stop(),
    sync,
    close: async () => {
      sync.stop();
      await signaling.stop();
      await site.close();
    },
  };
}

/** @param {number} port */
async function builtSite(port) {
  const site = await preview({
    root,
    logLevel: 'warn',
    appType: 'mpa',
    // Other machines may know this one by any name, and only files that anybody may read are served.
    preview: { host: true, port, allowedHosts: true },
  });
  // No server takes what is for neither of them, and it would stay open.
  site.httpServer.on('upgrade', ({ url = '' }, socket) => {
    if (!/^\/(v1|sync)\//.test(url)) socket.destroy();
  });
  return site;
}

/** @param {number} port */
async function developmentSite(port) {
  const site = await createServer({
    root,
    logLevel: 'warn',
    appType: 'mpa',
    server: { host: true, port },
  });
  return site.listen();
}

/** A signaling server that can be stopped and started again while the page is served on. */
class SwitchableSignaling {
  /** @type {import('node:http').Server | null} */
  #server = null;
  #signaling = createSignalingServer({ limits: LIMITS });

  /** @param {import('node:http').Server} server */
  attach(server) {
    this.#server = server;
    this.#signaling.attach(server);
  }

  /**
   * @param {import('node:http').IncomingMessage} request
   * @param {import('node:http').ServerResponse} response
   */
  handle(request, response) {
    return this.#signaling.handle(request, response);
  }

  start() {
    this.#signaling = createSignalingServer({ limits: LIMITS });
    if (this.#server) this.#signaling.attach(this.#server);
  }

  /** Clients come back when they like: there is nobody to spare. */
  stop() {
    return this.#signaling.close({ spreadMs: 0 });
  }
}
