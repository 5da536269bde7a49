// A y-websocket server behind a gate: `/sync/NAME` is a document for WebSockets, and for others what
// is connected to it.
import { setPersistence } from '@y/websocket-server/utils';
import { WebSocketServer } from 'ws';
import { DOCUMENT_BYTES_MAX, SharedDocument } from './shared-document.mjs';

/** The page's own rule for names. */
const PATH = /^\/sync\/([\w.-]{1,64})(?:\?|$)/;
/** One message can hold a whole document. */
const MESSAGE_BYTES_MAX = DOCUMENT_BYTES_MAX + 1024;
/** Of all documents together: one is enough for many tabs. */
const SOCKETS_MAX = 256;
/** The oldest that nobody is connected to goes first. */
const DOCUMENTS_MAX = 32;

// Whatever the environment says.
setPersistence(null);

/** Serves documents while it is started; what it holds is gone when it stops. */
export class SyncServer {
  #isStarted = true;
  /** @type {Map<string, SharedDocument>} */
  #documents = new Map();
  #sockets = new WebSocketServer({
    noServer: true,
    maxPayload: MESSAGE_BYTES_MAX,
    perMessageDeflate: false,
  });

  /** @param {import('node:http').Server} server */
  attach(server) {
    server.on('upgrade', (request, socket, head) => this.#upgrade(request, socket, head));
  }

  /**
   * Answers with the counts of a document.
   * @param {import('node:http').IncomingMessage} request
   * @param {import('node:http').ServerResponse} response
   * @returns {boolean} whether the request was its own
   */
  handle(request, response) {
    const name = nameIn(request);
    if (name === undefined) return false;
    const headers = { 'content-type': 'application/json', 'cache-control': 'no-store' };
    response.writeHead(this.#isStarted ? 200 : 503, headers);
    response.end(JSON.stringify(this.#isStarted ? this.counts(name) : null));
    return true;
  }

  /**
   * @param {string} name
   * @returns {import('./shared-document.mjs').SocketCounts}
   */
  counts(name) {
    return this.#documents.get(name)?.counts ?? { sockets: 0, leaders: 0, guests: 0, fenced: 0 };
  }

  start() {
    this.#isStarted = true;
  }

  /** At once, as if its process had died. */
  stop() {
    this.#isStarted = false;
    for (const document of this.#documents.values()) document.close();
    this.#documents.clear();
  }

  /**
   * @param {import('node:http').IncomingMessage} request
   * @param {import('node:stream').Duplex} socket
   * @param {Buffer} head
   */
  #upgrade(request, socket, head) {
    const name = nameIn(request);
    if (name === undefined) return;
    // Node ends the process on an error of a socket that nobody listens to.
    socket.on('error', () => socket.destroy());
    if (!isOfThisSite(request)) return refuse(socket, '403 Forbidden');
    const document = this.#document(name);
    if (!document) return refuse(socket, '503 Service Unavailable');
    this.#sockets.handleUpgrade(request, socket, head, (webSocket) => {
      // It closes itself; what a peer sends wrong must not end the process.
      webSocket.on('error', () => undefined);
      document.take(webSocket, request);
    });
  }

  /**
   * @param {string} name
   * @returns {SharedDocument | null} null when there is no room
   */
  #document(name) {
    if (!this.#isStarted || this.#sockets.clients.size >= SOCKETS_MAX) return null;
    const known = this.#documents.get(name);
    if (known) return known;
    if (this.#documents.size >= DOCUMENTS_MAX && !this.#forgetOne()) return null;
    const document = new SharedDocument(name);
    this.#documents.set(name, document);
    return document;
  }

  #forgetOne() {
    for (const [name, document] of this.#documents) {
      if (!document.isIdle) continue;
      document.close();
      return this.#documents.delete(name);
    }
    return false;
  }
}

/** @param {import('node:http').IncomingMessage} request */
function nameIn({ url = '' }) {
  return PATH.exec(url)?.[1];
}

/**
 * A page of another site has no business with this one's documents; what is no page names no origin.
 * @param {import('node:http').IncomingMessage} request
 */
function isOfThisSite({ headers: { origin, host } }) {
  if (origin === undefined) return true;
  return URL.canParse(origin) && new URL(origin).host === host?.toLowerCase();
}

/**
 * @param {import('node:stream').Duplex} socket
 * @param {string} status
 */
function refuse(socket, status) {
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}
