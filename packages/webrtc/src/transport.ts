import {
  DoyenError,
  type Lane,
  type SendResult,
  type Transport,
  type TransportHandler,
  type TransportStartOptions,
} from '@doyen/core';
import { Mesh } from './mesh.ts';
import { type CheckedOptions, checkOptions, type WebRtcOptions } from './options.ts';
import { watchPage } from './page.ts';

/**
 * Links between browsers, devices and processes over WebRTC data channels; the peers find each
 * other through a signaling server, which the open links do not need any more. The server can read
 * the signals and could put itself between two peers: trust it, or run your own.
 *
 * Throws `TypeError` or `RangeError` naming the option. The transport's `start` throws
 * `DoyenError` with code `unsupported` where the platform has no WebRTC or WebSocket and none was
 * given.
 */
export function webrtc(options: WebRtcOptions): Transport {
  return new WebRtcTransport(checkOptions(options));
}

class WebRtcTransport implements Transport {
  readonly #options: CheckedOptions;
  #mesh: Mesh | null = null;
  #end = new AbortController();
  #linkCount = 0;
  #lingerMs = LINGER_MS;

  constructor(options: CheckedOptions) {
    this.#options = options;
  }

  start(handler: TransportHandler, options: TransportStartOptions): void {
    checkPlatform(this.#options);
    if (options.signal.aborted) return;
    this.#end.abort();
    this.#end = new AbortController();
    const { cluster, id, instance, signal } = options;
    const mintKey = () => `webrtc:${++this.#linkCount}`;
    const open = () => new Mesh(this.#options, { cluster, id, instance }, handler, mintKey);
    this.#mesh = open();
    signal.addEventListener('abort', () => void this.close(), { signal: this.#end.signal });
    this.#watchPage(handler, open);
  }

  send(peer: string, bytes: Uint8Array, lane: Lane): SendResult {
    return this.#mesh?.send(peer, bytes, lane) ?? 'dropped';
  }

  async close(): Promise<void> {
    const mesh = this.#mesh;
    this.#mesh = null;
    this.#end.abort();
    await mesh?.close(this.#lingerMs);
  }

  /** A page that goes takes its links with it; one that comes back makes new ones. */
  #watchPage(handler: TransportHandler, open: () => Mesh): void {
    let cutKeys: readonly string[] = [];
    const hiding = () => {
      this.#lingerMs = 0;
    };
    const hide = () => {
      cutKeys = this.#mesh?.keys ?? [];
      void this.#mesh?.close(0);
      this.#mesh = null;
    };
    const show = () => {
      this.#lingerMs = LINGER_MS;
      // Not said when it happened: a page on its way out must not act on it.
      for (const key of cutKeys) handler.linkDown(key, 'closed');
      this.#mesh ??= open();
    };
    watchPage({ hiding, hide, show, online: () => this.#mesh?.nudge() }, this.#end.signal);
  }
}

function checkPlatform(options: CheckedOptions): void {
  const needs = [
    ['rtc', 'RTCPeerConnection', '@roamhq/wrtc'],
    ['WebSocket', 'WebSocket', 'ws'],
  ] as const;
  for (const [option, name, example] of needs) {
    if (options[option] || Reflect.get(globalThis, name)) continue;
    const remedy = `give one as option ${option}, in Node from ${example}`;
    throw new DoyenError('unsupported', `There is no ${name} here: ${remedy}. Nothing started.`);
  }
}

/** What close() gives the last messages to leave: half of what a leaving node waits in all. */
const LINGER_MS = 500;
