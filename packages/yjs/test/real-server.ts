import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { docs, setupWSConnection } from '@y/websocket-server/utils';
import { WebSocketServer } from 'ws';
import type { Awareness } from 'y-protocols/awareness';
import type * as Y from 'yjs';
import { type Gate, gate } from '../src/server.ts';

/** The y-websocket server, with a gate, on a free port. */
export class RealServer {
  readonly guard: Gate;
  readonly #http: Server;
  readonly #sockets: WebSocketServer;

  constructor(parts: { readonly http: Server; readonly sockets: WebSocketServer; guard: Gate }) {
    this.guard = parts.guard;
    this.#http = parts.http;
    this.#sockets = parts.sockets;
  }

  get port(): number {
    return (this.#http.address() as AddressInfo).port;
  }

  get url(): string {
    return `ws://127.0.0.1:${this.port}`;
  }

  /** How many connections there are, those that are ending included. */
  get open(): number {
    return this.#sockets.clients.size;
  }

  text(room = 'room'): string {
    return this.#doc(room)?.getText('text').toString() ?? '';
  }

  /** What the awareness states at the server call themselves. */
  names(room = 'room'): string[] {
    const states = this.#doc(room)?.awareness.getStates().values() ?? [];
    return [...states].map((state) => String(state['name'])).sort();
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets.clients) socket.terminate();
    this.#http.closeAllConnections();
    await new Promise((resolve) => this.#http.close(resolve));
    for (const doc of docs.values()) doc.destroy();
    docs.clear();
  }

  #doc(room: string): (Y.Doc & { readonly awareness: Awareness }) | undefined {
    return docs.get(room);
  }
}

export async function serve(pages?: RequestListener): Promise<RealServer> {
  const http = createServer(pages);
  const sockets = new WebSocketServer({ server: http });
  const guard = gate();
  sockets.on('connection', (socket, request) => {
    if (guard.admit(socket, request)) setupWSConnection(socket as never, request as never);
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  return new RealServer({ http, sockets, guard });
}

/** Waits for what only the state of the other side tells. */
export async function until(isMet: () => boolean, withinMs = 10_000): Promise<void> {
  const end = performance.now() + withinMs;
  while (!isMet()) {
    if (performance.now() > end) throw new Error(`not within ${withinMs} ms: ${isMet}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
