// The demo on one address: the page, the signaling server at /v1, and /healthz.
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { createSignalingServer } from '@doyen/signaling/node';
import { createServer, preview } from 'vite';

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
 * @property {() => Promise<void>} close ends every connection
 */

/**
 * Serves the built page, or with `dev` its sources, on `port` or the next free one; 0 = any.
 *
 * @param {{ port?: number, dev?: boolean }} [options]
 * @returns {Promise<DemoServer>}
 */
export async function startDemo({ port = 5173, dev = false } = {}) {
  const signaling = new SwitchableSignaling();
  const site = dev ? await developmentSite(port) : await builtSite(port);
  if (!site.httpServer) throw new Error('The site has no http server of its own.');
  signaling.attach(/** @type {import('node:http').Server} */ (site.httpServer));
  /** @type {import('vite').Connect.NextHandleFunction} */
  const handle = (request, response, next) => {
    if (!signaling.handle(request, response)) next();
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
    close: async () => {
      await signaling.stop();
      await site.close();
    },
  };
}

/** @param {number} port */
function builtSite(port) {
  return preview({
    root,
    logLevel: 'warn',
    appType: 'mpa',
    // Other machines may know this one by any name, and only files that anybody may read are served.
    preview: { host: true, port, allowedHosts: true },
  });
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
