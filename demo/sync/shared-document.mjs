import { gate } from '@doyen/yjs/server';
import { docs, getYDoc, setupWSConnection } from '@y/websocket-server/utils';
import { encodeStateAsUpdate } from 'yjs';

/** Years of typing; a demo's memory has an end. */
export const DOCUMENT_BYTES_MAX = 4 * 1024 * 1024;

/** A close code that y-websocket takes as final: it does not come back at once. */
const TOO_LARGE = 4413;

/**
 * @typedef {object} SocketCounts
 * @property {number} sockets that are open, and those that are only closing
 * @property {number} leaders that the gate has let in
 * @property {number} guests that the gate has let in
 * @property {number} fenced refused or closed for a newer leader, since the document is here
 */

/** One document at the server, in memory only, with a gate and all sockets of its own. */
export class SharedDocument {
  #name;
  // One for each document, so that what it counts is of this one.
  #guard = gate();
  /** @type {Set<import('ws').WebSocket>} */
  #sockets = new Set();
  #bytes = 0;

  /** @param {string} name */
  constructor(name) {
    this.#name = name;
    getYDoc(name).on('update', (/** @type {Uint8Array} */ update) => this.#grow(update.length));
  }

  /**
   * @param {import('ws').WebSocket} socket
   * @param {import('node:http').IncomingMessage} request
   */
  take(socket, request) {
    this.#sockets.add(socket);
    socket.on('close', () => this.#sockets.delete(socket));
    if (this.#bytes > DOCUMENT_BYTES_MAX) return socket.close(TOO_LARGE, 'document too large');
    if (!this.#guard.admit(socket, request)) return;
    setupWSConnection(/** @type {any} */ (socket), request, { docName: this.#name });
  }

  get isIdle() {
    return this.#sockets.size === 0;
  }

  /** @returns {SocketCounts} */
  get counts() {
    const { leaders, guests, fenced } = this.#guard.counts;
    return { sockets: this.#sockets.size, leaders, guests, fenced };
  }

  /** Ends every connection and forgets the text. */
  close() {
    for (const socket of this.#sockets) socket.terminate();
    docs.get(this.#name)?.destroy();
    docs.delete(this.#name);
  }

  /** @param {number} bytes */
  #grow(bytes) {
    this.#bytes += bytes;
    if (this.#bytes <= DOCUMENT_BYTES_MAX) return;
    // What was deleted or overwritten takes no room.
    this.#bytes = encodeStateAsUpdate(getYDoc(this.#name)).length;
    if (this.#bytes <= DOCUMENT_BYTES_MAX) return;
    for (const socket of this.#sockets) socket.close(TOO_LARGE, 'document too large');
  }
}
