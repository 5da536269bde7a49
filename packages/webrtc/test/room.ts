import type { Transport } from '@doyen/core';
import { createSignalingServer, type SignalingServer } from '@doyen/signaling/node';
import wrtc from '@roamhq/wrtc';
import { WebSocket } from 'ws';
import { type WebRtcOptions, webrtc } from '../src/index.ts';

/** A signaling server and transports that meet on it, with WebRTC as Chromium has it. */
export class Room {
  readonly cluster = 'room';
  #server: SignalingServer;
  #port: number;

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
    await this.stopServer();
  }
}

export async function openRoom(): Promise<Room> {
  const server = createSignalingServer();
  const { port } = await server.listen();
  return new Room(server, port);
}
