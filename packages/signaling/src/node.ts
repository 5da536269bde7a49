/** The signaling server for Node, alone or on a server that is already there. */
import { createHash, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { type ServerOptions, type WebSocket, WebSocketServer } from 'ws';
import { addressKey, isOriginAllowed, pathOf, roomOf } from './gate.ts';
import { type Effect, Hub, type HubMetrics, type Verdict } from './hub.ts';
import { resolveLimits, type SignalingLimits } from './limits.ts';
import { CLOSE, type HelloMessage, parseIceServers, SUBPROTOCOL } from './protocol.ts';
import {
  type AuthorizeRequest,
  type CloseOptions,
  checkCloseOptions,
  checkHttpServer,
  checkListenOptions,
  checkServerOptions,
  type ErrorSource,
  type ListenOptions,
  type SignalingServerOptions,
} from './server-options.ts';

export type { Origins } from './gate.ts';
export type { HubMetrics } from './hub.ts';
export { DEFAULT_LIMITS, type SignalingLimits } from './limits.ts';
export type {
  AuthorizeRequest,
  CloseOptions,
  ErrorSource,
  ListenOptions,
  SignalingServerOptions,
} from './server-options.ts';

const SWEEP_MS = 1_000;
// A peer that does not answer a close is cut off, so that closing sockets cannot pile up.
const CLOSE_TIMEOUT_MS = 2_000;
// Signals are small: an honest client sends them in one frame, and in few network chunks.
const FRAGMENTS_MAX = 64;
const CHUNKS_MAX = 1_024;
// One server takes about a thousand handshakes a second.
const SPREAD_MS_PER_SOCKET = 1;
const SPREAD_MIN_MS = 1_000;
const SPREAD_MAX_MS = 30_000;

/** A signaling server; see {@link createSignalingServer}. */
export interface SignalingServer {
  /**
   * Serves rooms on an http server, whose other requests and upgrades are left alone.
   * @throws TypeError when it is none.
   */
  attach(server: Server): void;
  /** Starts an http server of its own. Rejects with a TypeError or RangeError naming the option. */
  listen(options?: ListenOptions): Promise<{
    readonly port: number;
    /** What clients are given as `url`. */
    readonly url: string;
  }>;
  /** Answers `/healthz`; false when the request is something else. */
  handle(request: IncomingMessage, response: ServerResponse): boolean;
  /** Counts of the live state. */
  metrics(): HubMetrics;
  /**
   * Tells clients to come back later, closes their sockets with 1012, and detaches. Resolves when
   * the sockets and the server's own listener are closed. Idempotent.
   * @throws TypeError or RangeError naming the option.
   */
  close(options?: CloseOptions): Promise<void>;
}

/** @throws TypeError or RangeError naming the option that is wrong. */
export function createSignalingServer(options: SignalingServerOptions = {}): SignalingServer {
  return new NodeSignalingServer(options);
}

class NodeSignalingServer implements SignalingServer {
  readonly #options: SignalingServerOptions;
  readonly #limits: SignalingLimits;
  readonly #path: string;
  readonly #hub: Hub<WebSocket>;
  readonly #sockets: WebSocketServer;
  readonly #requests = new WeakMap<WebSocket, Omit<AuthorizeRequest, 'token'>>();
  readonly #attached = new Map<Server, (...args: UpgradeArguments) => void>();
  #own: Server | undefined;
  #sweeper: NodeJS.Timeout | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: SignalingServerOptions) {
    checkServerOptions(options);
    this.#options = options;
    this.#path = options.path ?? '/v1';
    this.#limits = resolveLimits(options.limits);
    this.#hub = new Hub({
      limits: this.#limits,
      randomId: () => randomBytes(16).toString('base64url'),
      digest: (text) => createHash('sha256').update(text).digest('base64url'),
    });
    this.#sockets = new WebSocketServer(socketOptions(this.#limits));
  }

  attach(server: Server): void {
    checkHttpServer(server);
    if (this.#attached.has(server) || this.#closing !== undefined) return;
    const onUpgrade = (...args: UpgradeArguments): void => this.#upgrade(server, ...args);
    this.#attached.set(server, onUpgrade);
    server.on('upgrade', onUpgrade);
  }

  async listen(options: ListenOptions = {}): Promise<{ port: number; url: string }> {
    checkListenOptions(options);
    const { port = 0, host = '127.0.0.1' } = options;
    if (this.#own !== undefined) throw new Error('A signaling server listens once only.');
    const server = createServer((request, response) => {
      if (!this.handle(request, response)) response.writeHead(404).end();
    });
    server.on('clientError', (_error, socket) => rejectUpgrade(socket, '400 Bad Request'));
    this.#own = server;
    this.attach(server);
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, host, () => resolve());
    });
    // Accepting can fail later too, for want of file descriptors; that must not end the process.
    server.on('error', (error) => this.#report(error, 'server'));
    const bound = (server.address() as AddressInfo).port;
    const name = host.includes(':') ? `[${host}]` : host;
    return { port: bound, url: `ws://${name}:${bound}${this.#path}` };
  }

  handle(request: IncomingMessage, response: ServerResponse): boolean {
    if (pathOf(request) !== '/healthz') return false;
    const isHealthy = this.#closing === undefined;
    response.writeHead(isHealthy ? 200 : 503, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ status: isHealthy ? 'ok' : 'draining', ...this.metrics() }));
    return true;
  }

  metrics(): HubMetrics {
    return this.#hub.metrics();
  }

  close(options: CloseOptions = {}): Promise<void> {
    checkCloseOptions(options);
    this.#closing ??= this.#shutdown(options);
    return this.#closing;
  }

  async #shutdown({ spreadMs }: CloseOptions): Promise<void> {
    const share = this.#sockets.clients.size * SPREAD_MS_PER_SOCKET;
    const spread = spreadMs ?? Math.min(Math.max(share, SPREAD_MIN_MS), SPREAD_MAX_MS);
    for (const [server, onUpgrade] of this.#attached) server.off('upgrade', onUpgrade);
    this.#attached.clear();
    clearInterval(this.#sweeper);
    const closed = [...this.#sockets.clients].map(
      (socket) => new Promise<void>((resolve) => socket.once('close', () => resolve())),
    );
    const own = this.#own;
    const stopped = new Promise<void>((resolve) => {
      if (own === undefined) resolve();
      else own.close(() => resolve());
    });
    this.#apply(this.#hub.shutdown(spread));
    await Promise.all(closed);
    own?.closeAllConnections();
    await stopped;
  }

  #upgrade(server: Server, request: IncomingMessage, socket: Duplex, head: Buffer): void {
    // Node ends the process on an error of a socket that nobody listens to.
    const onError = (): void => void socket.destroy();
    socket.on('error', onError);
    const room = roomOf(request, this.#path);
    if (room === undefined) {
      const isOurs = pathOf(request).startsWith(`${this.#path}/`);
      // Another listener may know what to do with a path that is not ours.
      if (isOurs || server.listenerCount('upgrade') === 1) rejectUpgrade(socket, '404 Not Found');
      else socket.off('error', onError);
      return;
    }
    const { socketsMax, pendingHelloMax } = this.#limits;
    if (this.#sockets.clients.size >= socketsMax + pendingHelloMax) {
      rejectUpgrade(socket, '503 Service Unavailable');
      return;
    }
    this.#sockets.handleUpgrade(request, socket, head, (webSocket) => {
      socket.off('error', onError);
      this.#open(webSocket, request, room);
    });
  }

  #open(socket: WebSocket, request: IncomingMessage, room: string): void {
    // Before anything else: what a peer sends must never surface as an unhandled error. `ws` has
    // already begun to close the socket with the fitting code.
    socket.on('error', () => this.#apply(this.#hub.close(socket, CLOSE.goingAway, now())));
    socket.on('close', (code) => this.#apply(this.#hub.close(socket, code, now())));
    if (!isOriginAllowed(request, this.#options.origins)) {
      socket.close(CLOSE.policy, 'origin not allowed');
      return;
    }
    const address = this.#addressOf(request);
    this.#requests.set(socket, { room, address, origin: request.headers.origin });
    socket.on('message', (data, isBinary) => {
      const refusal = { code: CLOSE.binary, reason: 'text only', now: now() };
      if (isBinary) this.#apply(this.#hub.refuse(socket, refusal));
      else this.#apply(this.#hub.message(socket, data.toString(), now()));
    });
    this.#apply(this.#hub.open(socket, { room, address: addressKey(address), now: now() }));
    this.#sweeper ??= setInterval(() => this.#sweep(), SWEEP_MS).unref();
  }

  #addressOf(request: IncomingMessage): string {
    const own = request.socket.remoteAddress ?? '';
    if (this.#options.address === undefined) return own;
    try {
      return String(this.#options.address(request));
    } catch (error) {
      this.#report(error, 'address');
      return own;
    }
  }

  #sweep(): void {
    this.#apply(this.#hub.sweep(now()));
    if (!this.#hub.isEmpty) return;
    clearInterval(this.#sweeper);
    this.#sweeper = undefined;
  }

  #apply(effects: readonly Effect<WebSocket>[]): void {
    for (const effect of effects) {
      const { socket } = effect;
      if (effect.type === 'send') this.#send(socket, effect.text);
      else if (effect.type === 'close') socket.close(effect.code, effect.reason);
      else void this.#authorize(socket, effect.hello);
    }
  }

  #send(socket: WebSocket, text: string): void {
    if (socket.readyState !== socket.OPEN) return;
    // What cannot be written is told by the socket's close.
    socket.send(text);
    if (socket.bufferedAmount <= this.#limits.bufferedBytesMax) return;
    const refusal = { code: CLOSE.overloaded, reason: 'slow reader', now: now() };
    this.#apply(this.#hub.refuse(socket, refusal));
  }

  async #authorize(socket: WebSocket, hello: HelloMessage): Promise<void> {
    const verdict = await this.#judge(socket, hello.token);
    this.#apply(this.#hub.authorized(socket, verdict, now()));
  }

  async #judge(socket: WebSocket, token: string | undefined): Promise<Verdict> {
    const known = this.#requests.get(socket);
    if (known === undefined) return { isAllowed: false };
    const request = { ...known, token };
    if (!(await this.#isAuthorized(request))) return { isAllowed: false };
    try {
      const { iceServers } = this.#options;
      const given = typeof iceServers === 'function' ? await iceServers(request) : iceServers;
      return { isAllowed: true, ...(given && { iceServers: parseIceServers(given) }) };
    } catch (error) {
      // Peers of one network need none.
      this.#report(error, 'iceServers');
      return { isAllowed: true };
    }
  }

  async #isAuthorized(request: AuthorizeRequest): Promise<boolean> {
    const { authorize } = this.#options;
    if (authorize === undefined) return true;
    if (request.origin === undefined && request.token === undefined) return false;
    try {
      return (await authorize(request)) === true;
    } catch (error) {
      this.#report(error, 'authorize');
      return false;
    }
  }

  #report(error: unknown, where: ErrorSource): void {
    if (this.#options.onError !== undefined) this.#options.onError(error, where);
    else console.error(`doyen-signaling: ${where} failed:`, error);
  }
}

type UpgradeArguments = [request: IncomingMessage, socket: Duplex, head: Buffer];

const now = (): number => performance.now();

function socketOptions(limits: SignalingLimits): ServerOptions {
  // The published types do not know `closeTimeout` yet.
  const options: ServerOptions & { closeTimeout: number } = {
    noServer: true,
    maxPayload: limits.messageBytesMax,
    maxFragments: FRAGMENTS_MAX,
    maxBufferedChunks: CHUNKS_MAX,
    // Compression costs 240 kB a socket and gains nothing on messages of this size.
    perMessageDeflate: false,
    closeTimeout: CLOSE_TIMEOUT_MS,
    handleProtocols: (offered) => (offered.has(SUBPROTOCOL) ? SUBPROTOCOL : false),
  };
  return options;
}

function rejectUpgrade(socket: Duplex, status: string): void {
  if (!socket.writable) return void socket.destroy();
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}
