import type { Lane, Transport } from '@doyen/core';
import type { WebSocketConstructor } from '@doyen/signaling';
import { createSignalingServer, type SignalingServer } from '@doyen/signaling/node';
import wrtc from '@roamhq/wrtc';
import { WebSocket } from 'ws';
import { Recorder } from '../../core/src/testing/recorder.ts';
import { type WebRtcOptions, webrtc } from '../src/index.ts';

/** A signaling server and transports that meet on it, with WebRTC as Chromium has it. */
export class Room {
  readonly cluster = 'room';
  #server: SignalingServer;
  readonly #port: number;
  readonly #ends: End[] = [];

  constructor(server: SignalingServer, port: number) {
    this.#server = server;
    this.#port = port;
  }

  get url(): string {
    return `ws://127.0.0.1:${this.#port}/v1`;
  }

  transport(_id: string, options: Partial<WebRtcOptions> = {}): Transport {
    return webrtc({ signaling: this.url, rtc: wrtc, WebSocket, ...options });
  }

  /** A started transport. Of two instances the greater one offers. */
  start(id: string, { instance = id, ...options }: StartOptions = {}): End {
    const end = new End(this.transport(id, options), instance);
    const { signal } = new AbortController();
    end.transport.start(end.recorder, { cluster: this.cluster, id, instance, signal });
    this.#ends.push(end);
    return end;
  }

  /** Two linked ends; `b` is the one that offered. */
  async pair(a: StartOptions = {}, b: StartOptions = {}): Promise<readonly [End, End]> {
    const ends = [this.start('a', a), this.start('b', b)] as const;
    await Promise.all(ends.map((end) => end.untilLinks(1)));
    return ends;
  }

  /** The server goes, with every socket and all that it knew. */
  async stopServer(): Promise<void> {
    await this.#server.close({ spreadMs: 0 });
  }

  /** A new server at the same address. */
  async startServer(): Promise<void> {
    this.#server = createSignalingServer();
    await this.#server.listen({ port: this.#port });
  }

  async close(): Promise<void> {
    await Promise.all(this.#ends.map(({ transport }) => transport.close()));
    await this.stopServer();
  }
}

type StartOptions = Partial<WebRtcOptions> & { readonly instance?: string };

export async function openRoom(): Promise<Room> {
  const server = createSignalingServer();
  const { port } = await server.listen();
  return new Room(server, port);
}

/** A transport with what it reported. */
export class End {
  readonly recorder = new Recorder();
  readonly transport: Transport;
  readonly instance: string;

  constructor(transport: Transport, instance: string) {
    this.transport = transport;
    this.instance = instance;
  }

  get links(): readonly string[] {
    return this.recorder.links;
  }

  /** Key of the only link. */
  get key(): string {
    const [key, second] = this.links;
    if (key === undefined || second !== undefined) throw new Error(`links: ${this.links.join()}`);
    return key;
  }

  get faults(): readonly string[] {
    return this.recorder.of('fault').map(({ code }) => code);
  }

  send(bytes: Uint8Array, lane: Lane = 'control') {
    return this.transport.send(this.key, bytes, lane);
  }

  untilLinks(count: number): Promise<void> {
    return this.until(`${count} links`, () => this.links.length === count);
  }

  until(what: string, met: () => boolean, withinMs = 10_000): Promise<void> {
    return this.recorder.until(`${this.instance}: ${what}`, met, withinMs);
  }

  /** Resolves when a message that equals `bytes` has come in. */
  untilMessage(bytes: Uint8Array): Promise<void> {
    return this.until(`a message of ${bytes.length} bytes`, () =>
      this.recorder.of('message').some((report) => Buffer.compare(report.bytes, bytes) === 0),
    );
  }
}

let exchanges = 0;

/** Proves that the only link of each end carries both lanes both ways. */
export async function exchange(one: End, two: End): Promise<void> {
  for (const lane of ['control', 'data'] as const) {
    for (const [from, to] of [
      [one, two],
      [two, one],
    ] as const) {
      exchanges += 1;
      const bytes = new TextEncoder().encode(`exchange ${exchanges}`);
      from.send(bytes, lane);
      await to.untilMessage(bytes);
    }
  }
}

/** WebRTC that remembers the connections that it made. */
export function watchedRtc() {
  const connections: RTCPeerConnection[] = [];
  class Watched extends wrtc.RTCPeerConnection {
    constructor(configuration?: RTCConfiguration) {
      super(configuration);
      connections.push(this);
    }
  }
  return { connections, rtc: { ...wrtc, RTCPeerConnection: Watched } };
}

/** The same, with an ICE state that a test can set: real networks take seconds to fail. */
export function scriptedRtc() {
  const { connections, rtc } = watchedRtc();
  let iceState: string | undefined;
  const RTCPeerConnection = new Proxy(rtc.RTCPeerConnection, {
    construct: (target, parameters) =>
      new Proxy(Reflect.construct(target, parameters), {
        get: (connection, name) => {
          const value = Reflect.get(connection, name, connection);
          if (name === 'iceConnectionState') return iceState ?? value;
          return typeof value === 'function' ? value.bind(connection) : value;
        },
        set: (connection, name, value) => Reflect.set(connection, name, value, connection),
      }),
  });
  const setIceState = (state: string) => {
    iceState = state;
  };
  return { connections, rtc: { ...rtc, RTCPeerConnection }, setIceState };
}

interface WatchedSockets {
  readonly WebSocket: WebSocketConstructor;
  readonly sockets: readonly WebSocket[];
  readonly signals: readonly string[];
  resend(): void;
}

/** WebSockets that remember the signals that they sent, and can send them again. */
export function watchedSockets(): WatchedSockets {
  const sockets: WebSocket[] = [];
  const signals: string[] = [];
  class Watched extends WebSocket {
    constructor(url: string, protocol?: string) {
      super(url, protocol);
      sockets.push(this);
    }

    override send(data: string): void {
      if (data.includes('"type":"signal"')) signals.push(data);
      super.send(data);
    }
  }
  const resend = () => {
    for (const signal of [...signals]) sockets.at(-1)?.send(signal);
  };
  return { WebSocket: Watched, sockets, signals, resend };
}
