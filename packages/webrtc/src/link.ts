import type { Lane, LinkDownReason, SendResult } from '@doyen/core';
import { Alarm } from '@doyen/signaling';
import SimplePeer, { type PeerSignal } from 'simple-peer/simplepeer.min.js';
import { Joiner } from './chunk.ts';
import { type FrameChannel, Lanes } from './lanes.ts';
import { type Candidate, parseCandidate } from './signal.ts';

/** A checked signal for, or from, the connection, in the form that simple-peer has for it. */
export type LinkSignal =
  | { readonly type: 'offer' | 'answer'; readonly sdp: string }
  | { readonly type: 'candidate'; readonly candidate: Candidate };

export interface LinkOptions {
  readonly initiator: boolean;
  readonly iceServers: () => Promise<readonly object[]>;
  /** `RTCPeerConnection` and its kin where the platform has none. */
  readonly rtc: object | undefined;
}

export interface LinkEvents {
  signal(signal: LinkSignal): void;
  /** Once, before any message. */
  open(): void;
  message(bytes: Uint8Array): void;
  /** ICE hears nothing: it may recover by itself. */
  unreachable(): void;
  /** Once, at the end, unless the end was `close()`. */
  down(why: LinkDownReason): void;
}

/**
 * One connection. The only place that knows simple-peer, whose methods throw when they come too
 * late, whose errors mean anything from "the other end left" to "broken", and which stops working
 * for good on a signal that it did not expect. None of that gets out of here.
 */
export class Link {
  readonly #events: LinkEvents;
  readonly #joiner = new Joiner();
  readonly #lanes: Lanes;
  #timeout: Alarm;
  readonly #inbox: LinkSignal[] = [];
  #peer: SimplePeer | null = null;
  #state: 'connecting' | 'open' | 'closed' = 'connecting';
  #ice = 'new';
  #heardAtMs = 0;
  #busyUntilMs = 0;

  constructor(options: LinkOptions, events: LinkEvents) {
    this.#events = events;
    this.#lanes = new Lanes(this.#channel());
    this.#timeout = new Alarm(() => this.#fail(), CONNECT_TIMEOUT_MS);
    void options.iceServers().then((iceServers) => this.#connect(options, iceServers));
  }

  /** Open, but silent or cut off: the other end may know better that it is no more. */
  get isStale(): boolean {
    return this.#ice === 'disconnected' || performance.now() - this.#heardAtMs > SILENT_MS;
  }

  signal(signal: LinkSignal): void {
    const peer = this.#peer;
    if (peer) attempt(() => peer.signal(signal));
    else this.#inbox.push(signal);
  }

  send(bytes: Uint8Array, lane: Lane): SendResult {
    if (this.#state !== 'open') return 'dropped';
    this.#busyUntilMs = Math.max(this.#busyUntilMs, performance.now() + SETTLE_MS[lane]);
    return this.#lanes.send(bytes, lane);
  }

  /**
   * Ends the link and reports nothing. What was handed to the network is given `lingerMs` to leave;
   * with 0 the connection closes in this task, which is all that a closing page has.
   */
  async close(lingerMs: number): Promise<void> {
    const peer = this.#peer;
    this.#state = 'closed';
    this.#timeout.cancel();
    if (!peer) return;
    // An empty buffer is not enough: implementations keep a second one that they do not tell of.
    const endMs = performance.now() + lingerMs;
    for (let nowMs = performance.now(); nowMs < endMs; nowMs = performance.now()) {
      if (nowMs > this.#busyUntilMs && peer.bufferSize === 0) break;
      await new Promise((resolve) => setTimeout(resolve, LINGER_STEP_MS));
    }
    peer.destroy();
  }

  #connect(options: LinkOptions, iceServers: readonly object[]): void {
    if (this.#state === 'closed') return;
    const { initiator, rtc } = options;
    try {
      const peer = new SimplePeer({ initiator, config: { iceServers }, ...(rtc && { wrtc: rtc }) });
      this.#peer = peer;
      this.#listen(peer);
      for (const signal of this.#inbox.splice(0)) this.signal(signal);
    } catch {
      // Out of connections, or refused ICE servers: the same as a connection that failed.
      this.#fail();
    }
  }

  #listen(peer: SimplePeer): void {
    let error: string | undefined;
    peer.on('signal', (data) => this.#emitSignal(data));
    peer.on('connect', () => this.#open());
    peer.on('data', (chunk) => this.#receive(chunk));
    peer.on('error', ({ code }) => {
      error = code ?? 'unknown';
    });
    peer.on('close', () => this.#down(this.#isClean(error) ? 'closed' : 'failed'));
    peer.on('iceStateChange', (ice) => {
      const isNews = ice === 'disconnected' && this.#ice !== ice && this.#state === 'open';
      this.#ice = ice;
      if (!isNews) return;
      this.#events.unreachable();
      this.#awaitLoss();
    });
  }

  /**
   * Not left to ICE alone: an implementation that tells of a change before its state has changed
   * never shows the last one, `failed`.
   */
  #awaitLoss(): void {
    const heardAtMs = this.#heardAtMs;
    this.#timeout.cancel();
    this.#timeout = new Alarm(() => {
      if (this.#ice !== 'disconnected') return;
      if (heardAtMs === this.#heardAtMs) this.#fail();
      else this.#awaitLoss();
    }, LOST_MS);
  }

  /** The other end's close shows as a closed or aborted channel while ICE still hears it. */
  #isClean(error: string | undefined): boolean {
    if (this.#state !== 'open' || this.#ice === 'disconnected' || this.#ice === 'failed')
      return false;
    return error === undefined || CLEAN_ERRORS.includes(error);
  }

  /** simple-peer also has requests to negotiate again, which a lone data channel never needs. */
  #emitSignal({ type, sdp, candidate }: PeerSignal): void {
    if (this.#state !== 'connecting') return;
    const parsed = parseCandidate(candidate);
    if (parsed) this.#events.signal({ type: 'candidate', candidate: parsed });
    else if (sdp && type) this.#events.signal({ type, sdp });
  }

  #open(): void {
    if (this.#state !== 'connecting') return;
    this.#state = 'open';
    this.#heardAtMs = performance.now();
    this.#timeout.cancel();
    this.#events.open();
  }

  #receive(chunk: Uint8Array): void {
    // The other end may see the channel open first: what it sends is as good as our own "connect".
    this.#open();
    if (this.#state !== 'open') return;
    this.#heardAtMs = performance.now();
    const message = chunk instanceof Uint8Array ? this.#joiner.push(chunk) : 'malformed';
    if (message === 'malformed') this.#fail();
    else if (message !== 'partial') this.#events.message(message);
  }

  #fail(): void {
    const peer = this.#peer;
    this.#down('failed');
    peer?.destroy();
  }

  #down(why: LinkDownReason): void {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    this.#timeout.cancel();
    this.#events.down(why);
  }

  #channel(): FrameChannel {
    const live = () => (this.#peer && this.#state === 'open' ? this.#peer : null);
    return {
      get bufferedBytes() {
        return live()?.bufferSize ?? 0;
      },
      send: (frame) => attempt(() => live()?.send(frame)),
      sendThen: (frame, drained) => {
        attempt(() => live()?.write(frame, drained));
      },
    };
  }
}

/** simple-peer throws when it is already destroyed; the `close` event that follows says the rest. */
function attempt(act: () => void): boolean {
  try {
    act();
    return true;
  } catch {
    return false;
  }
}

/** Enough for TURN over TCP on a slow network, and for a hidden tab's one timer a second. */
const CONNECT_TIMEOUT_MS = 10_000;

/** What Chromium takes from `disconnected` to `failed`; an outage of 9 s, told after 7, has healed. */
const LOST_MS = 10_000;

/** Three heartbeats of the core. */
const SILENT_MS = 3_000;

const LINGER_STEP_MS = 10;
/** A few messages leave at once; the tail of a stream waits for an acknowledgement, up to 200 ms. */
const SETTLE_MS = { control: 20, data: 300 };

const CLEAN_ERRORS = ['ERR_DATA_CHANNEL', 'ERR_ICE_CONNECTION_CLOSED'];
