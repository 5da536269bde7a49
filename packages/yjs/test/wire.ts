import { EventEmitter } from 'node:events';
import { runAs } from './virtual-platform.ts';

/** A server that takes WebSockets: what `ws` gives to its `connection` listeners. */
export type Accept = (socket: ServerSocket, request: { readonly url: string }) => void;

/** Connections in virtual time: the timers of the test make them slow, lossless and ordered. */
export class Wires {
  readonly all = new Set<Wire>();
  /** Addresses that clients have asked for. */
  readonly urls: string[] = [];
  /** The server throws away every change that comes. */
  dropsUpdates = false;
  /** How often the server was asked for what it has. */
  questions = 0;
  /** Whether a client reaches the server at all. */
  isReachable: (client: string) => boolean = () => true;
  readonly #accept: Accept;
  readonly #latencyMs: () => number;

  constructor(accept: Accept, latencyMs: () => number) {
    this.#accept = accept;
    this.#latencyMs = latencyMs;
  }

  /** A `WebSocket` class for one client. */
  socketClass(client: string): new (url: string) => object {
    const open = (socket: ClientSocket): Wire => {
      const wire = new Wire(client, socket, this.#latencyMs);
      this.all.add(wire);
      this.#connect(wire, socket.url);
      return wire;
    };
    return class extends ClientSocket {
      constructor(url: string) {
        super(url, open);
      }
    };
  }

  of(client: string): Wire[] {
    return [...this.all].filter((wire) => wire.client === client);
  }

  get open(): number {
    return [...this.all].filter((wire) => wire.server.readyState === OPEN).length;
  }

  #takes([type, subtype]: Uint8Array): boolean {
    if (type !== 0) return true;
    if (subtype === 0) this.questions += 1;
    return subtype === 0 || !this.dropsUpdates;
  }

  #connect(wire: Wire, url: string): void {
    this.urls.push(url);
    const { host, pathname, search } = new URL(url);
    wire.server.once('close', () => this.all.delete(wire));
    wire.toServer(() => {
      if (!this.isReachable(wire.client)) return wire.server.terminate();
      if (host !== 'server') throw new Error(`no such server: ${host}`);
      wire.toClient(() => wire.near.opened());
      wire.server.takes = (data) => this.#takes(data);
      this.#accept(wire.server, { url: pathname + search });
    });
  }
}

/** One connection: two ends, and what is on its way. */
export class Wire {
  readonly client: string;
  readonly near: ClientSocket;
  readonly server: ServerSocket;
  #latencyMs: () => number;
  #dueAt = { client: 0, server: 0 };
  /** While the client stands still nothing reaches it and nothing leaves it. */
  #held: (() => void)[] | null = null;
  #unheard: (() => void)[] | null = null;

  constructor(client: string, near: ClientSocket, latencyMs: () => number) {
    this.client = client;
    this.near = near;
    this.#latencyMs = latencyMs;
    this.server = new ServerSocket(this);
  }

  toServer(happen: () => void): void {
    if (this.#held) this.#held.push(() => this.#later('server', happen));
    else this.#later('server', happen);
  }

  toClient(happen: () => void): void {
    this.#later('client', () => {
      if (this.#unheard) this.#unheard.push(() => runAs(this.client, happen));
      else if (this.#held) this.#held.push(() => runAs(this.client, happen));
      else runAs(this.client, happen);
    });
  }

  hold(): void {
    this.#held ??= [];
  }

  release(): void {
    const held = this.#held ?? [];
    this.#held = null;
    for (const happen of held) happen();
  }

  /** Nothing reaches the client any more, though the server hears it. */
  deafen(): void {
    this.#unheard = [];
  }

  hear(): void {
    const unheard = this.#unheard ?? [];
    this.#unheard = null;
    for (const happen of unheard) happen();
  }

  /** The connection breaks: the client notices, the server does not. */
  lose(): void {
    this.#unheard = [];
    this.near.readyState = CLOSED;
    runAs(this.client, () => this.near.onclose?.({ code: 1006, reason: '' }));
  }

  /** The client's process is gone: the server is told, the client never. */
  cut(): void {
    this.#held = [];
    this.#later('server', () => this.server.terminate());
  }

  #later(end: 'client' | 'server', happen: () => void): void {
    const due = Math.max(Date.now() + this.#latencyMs(), this.#dueAt[end]);
    this.#dueAt[end] = due;
    runAs('', () => setTimeout(happen, due - Date.now()));
  }
}

/** What a browser's WebSocket is to y-websocket. */
export class ClientSocket {
  readonly OPEN = OPEN;
  readonly url: string;
  binaryType = 'arraybuffer';
  readyState = CONNECTING;
  onopen: ((event: object) => void) | null = null;
  onmessage: ((event: { readonly data: ArrayBuffer }) => void) | null = null;
  onclose: ((event: { readonly code: number; readonly reason: string }) => void) | null = null;
  onerror: ((event: object) => void) | null = null;
  readonly #wire: Wire;

  constructor(url: string, open: (socket: ClientSocket) => Wire) {
    this.url = url;
    this.#wire = open(this);
  }

  send(data: Uint8Array): void {
    if (this.readyState !== OPEN) return;
    const copy = data.slice();
    this.#wire.toServer(() => this.#wire.server.heard(copy));
  }

  close(code = 1005): void {
    if (this.readyState >= CLOSING) return;
    this.readyState = CLOSING;
    this.#wire.toServer(() => this.#wire.server.ended(code));
  }

  opened(): void {
    if (this.readyState !== CONNECTING) return;
    this.readyState = OPEN;
    this.onopen?.({});
  }

  heard(data: Uint8Array): void {
    if (this.readyState === OPEN) this.onmessage?.({ data: data.slice().buffer });
  }

  ended(code: number, reason = ''): void {
    if (this.readyState === CLOSED) return;
    this.readyState = CLOSED;
    this.onclose?.({ code, reason });
  }
}

/** What the server's end of `ws` is to `@y/websocket-server`. */
export class ServerSocket extends EventEmitter {
  readonly wire: Wire;
  readyState = OPEN;
  takes: (data: Uint8Array) => boolean = () => true;

  constructor(wire: Wire) {
    super();
    this.wire = wire;
  }

  send(data: Uint8Array, _options: object, sent: (error?: Error) => void): void {
    if (this.readyState !== OPEN) return sent(new Error('not open'));
    const copy = data.slice();
    this.wire.toClient(() => this.wire.near.heard(copy));
  }

  ping(): void {
    this.wire.toClient(() => this.wire.toServer(() => this.emit('pong')));
  }

  close(code = 1005, reason = ''): void {
    if (this.readyState !== OPEN) return;
    this.readyState = CLOSING;
    this.wire.toClient(() => {
      this.wire.toServer(() => this.ended(code));
      this.wire.near.ended(code, reason);
    });
  }

  terminate(): void {
    this.ended(1006);
    this.wire.toClient(() => this.wire.near.ended(1006));
  }

  /** Like `ws`, it hands over what comes until the other end has closed, too. */
  heard(data: Uint8Array): void {
    if (this.readyState !== CLOSED && this.takes(data)) this.emit('message', data);
  }

  ended(code: number): void {
    if (this.readyState === CLOSED) return;
    const wasOpen = this.readyState === OPEN;
    this.readyState = CLOSED;
    this.emit('close', code);
    if (wasOpen) this.wire.toClient(() => this.wire.near.ended(code));
  }
}

const CONNECTING = 0;
const OPEN = 1;
const CLOSING = 2;
const CLOSED = 3;
