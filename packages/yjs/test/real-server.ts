import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { docs, setupWSConnection } from '@y/websocket-server/utils';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Awareness } from 'y-protocols/awareness';
import type * as Y from 'yjs';
import { readClaim, roomOf } from '../src/gate-request.ts';
import { type Gate, gate } from '../src/server.ts';

/** A connection, as the server has seen it. */
export interface Visit {
  readonly room: string;
  /** In which it says that it leads; 0 where it says nothing of the kind. */
  readonly epoch: number;
  /** Whether the gate has let it in. */
  isAdmitted: boolean;
  /** How many in its room were listened to once it had come, itself included. */
  company: number;
  /** With which its end began; 0 before. */
  closeCode: number;
}

/** The y-websocket server, with a gate, on a free port. */
export class RealServer {
  readonly guard: Gate;
  readonly #http: Server;
  readonly #sockets: WebSocketServer;
  readonly #visits = new Map<WebSocket, Visit>();

  constructor(parts: { readonly http: Server; readonly sockets: WebSocketServer; guard: Gate }) {
    this.guard = parts.guard;
    this.#http = parts.http;
    this.#sockets = parts.sockets;
    this.#sockets.on('connection', (socket, request) => this.#receive(socket, request));
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

  /** All that have ever come to the room, in their order. */
  visits(room = 'room'): Visit[] {
    return [...this.#visits.values()].filter((visit) => visit.room === room);
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

  #receive(socket: WebSocket, request: IncomingMessage): void {
    const claim = readClaim(request);
    const epoch = 'token' in claim ? claim.token.epoch : 0;
    const visit = { room: roomOf(request), epoch, isAdmitted: false, company: 0, closeCode: 0 };
    this.#visits.set(socket, visit);
    const { close } = socket;
    // The library, too, ends what the other side has ended by this method.
    socket.close = (code, reason) => {
      visit.closeCode ||= code ?? NO_STATUS;
      close.call(socket, code, reason);
    };
    visit.isAdmitted = this.guard.admit(socket, request);
    if (visit.isAdmitted) setupWSConnection(socket as never, request as never);
    for (const [other, { room }] of this.#visits) {
      if (room === visit.room && other.readyState === other.OPEN) visit.company += 1;
    }
  }

  #doc(room: string): (Y.Doc & { readonly awareness: Awareness }) | undefined {
    return docs.get(room);
  }
}

export async function serve(pages?: RequestListener): Promise<RealServer> {
  const http = createServer(pages);
  const sockets = new WebSocketServer({ server: http });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  return new RealServer({ http, sockets, guard: gate() });
}

/** Waits for what only the state of the other side tells. */
export async function until(isMet: () => boolean, withinMs = 10_000): Promise<void> {
  const end = performance.now() + withinMs;
  while (!isMet()) {
    if (performance.now() > end) throw new Error(`not within ${withinMs} ms: ${isMet}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Of a close frame that says no code, as when a page closes its socket. */
export const NO_STATUS = 1005;
