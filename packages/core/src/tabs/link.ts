import type { Lane, SendResult, TransportHandler } from '../transport/transport.ts';
import { type LinkMessage, type OpenMessage, parseLinkMessage } from './message.ts';

/** What a link needs of the transport that it belongs to. */
export interface LinkHost {
  /** Id of this node. */
  readonly id: string;
  /** Whether this node holds the lock of its seat. */
  readonly isHeld: boolean;
  readonly handler: TransportHandler;
  /** A key that was never given before, under which the link is found from now on. */
  bind(link: Link): string;
  /** A channel that only the two ends of a link open. */
  openChannel(seat: string): BroadcastChannel;
  /**
   * Calls back once `seat` has let go of its lock, in whatever way, unless `signal` aborts. False
   * when this node has no locks to wait for.
   */
  whenFree(seat: string, signal: AbortSignal, free: () => void): boolean;
  /** Tells one seat, or everybody and asks for answers, that this node is there. */
  announce(seat?: string): void;
  /** The link is up, or given up, or at its end (`isOver`). */
  changed(link: Link): void;
}

/**
 * One other seat of the cluster, and the link to it. The two ends share a channel of their own, so
 * that what one sends is copied to nobody else, and a page that is frozen collects nothing that was
 * not meant for it. There is no offer and no answer: whoever knows of the other opens the channel
 * and says `open`; who hears that says it too, and the link is up.
 */
export class Link {
  readonly seat: string;
  readonly #host: LinkHost;
  readonly #attempt = randomName();
  readonly #channel: BroadcastChannel;
  readonly #end = new AbortController();
  #key: string | null = null;
  #theirAttempt: string | null = null;
  #isWatched = false;
  #calls = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #heardAtMs = performance.now();
  #sentBytes = 0;
  #ackedBytes = 0;
  #receivedBytes = 0;
  #toldBytes = 0;

  /** `isHeld`: the other end holds its lock. */
  constructor(host: LinkHost, seat: string, isHeld: boolean) {
    this.seat = seat;
    this.#host = host;
    this.#channel = host.openChannel(seat);
    this.#channel.onmessage = ({ data }) => this.#receive(data);
    if (isHeld) this.#watch();
    this.#call();
  }

  /** `null` until the link is up. */
  get key(): string | null {
    return this.#key;
  }

  /** Known of, not linked, and not given up. */
  get isPending(): boolean {
    return this.#key === null && this.#calls <= CALLS_MAX && !this.isOver;
  }

  get isOver(): boolean {
    return this.#end.signal.aborted;
  }

  send(bytes: Uint8Array, lane: Lane): SendResult {
    if (this.#key === null || this.isOver) return 'dropped';
    if (this.#isLost()) queueMicrotask(() => this.#lose());
    const waitingBytes = this.#sentBytes - this.#ackedBytes + weight(bytes);
    if (waitingBytes > WAITING_MAX_BYTES[lane] || !this.#post(whole(bytes))) return 'dropped';
    this.#sentBytes += weight(bytes);
    return waitingBytes > WAITING_HIGH_BYTES ? 'queued' : 'sent';
  }

  /** Says so to the other end, and reports nothing. */
  close(): void {
    if (this.isOver) return;
    this.#post({ type: 'close' });
    this.#finish();
  }

  #receive(data: unknown): void {
    if (this.isOver) return;
    this.#heardAtMs = performance.now();
    if (data instanceof Uint8Array) return this.#payload(data);
    const message = parseLinkMessage(data);
    if (message?.type === 'open') this.#opened(message);
    else if (message?.type === 'ack') this.#acked(message.bytes);
    else if (message?.type === 'close') this.#closed();
    else if (message?.type === 'drained' && message.attempt === this.#attempt) this.#gone();
  }

  #opened({ attempt, id, isHeld, isUp }: OpenMessage): void {
    if (isHeld) this.#watch();
    if (attempt !== this.#theirAttempt) this.#up(attempt, id, isUp);
    else if (!isUp) this.#open();
  }

  /** Another attempt than before: the other end has lost the link that this end thought was up. */
  #up(attempt: string, id: string, isUp: boolean): void {
    const { handler } = this.#host;
    if (this.#key !== null) handler.linkDown(this.#key, 'replaced');
    if (this.isOver) return;
    clearTimeout(this.#timer);
    this.#theirAttempt = attempt;
    this.#sentBytes = this.#ackedBytes = this.#receivedBytes = this.#toldBytes = 0;
    this.#key = this.#host.bind(this);
    if (!isUp) this.#open();
    handler.linkUp(this.#key, { id, cost: COST });
    this.#host.changed(this);
  }

  #payload(bytes: Uint8Array): void {
    if (this.#key === null) return;
    this.#receivedBytes += weight(bytes);
    if (this.#receivedBytes - this.#toldBytes >= ACK_EVERY_BYTES) {
      this.#toldBytes = this.#receivedBytes;
      this.#post({ type: 'ack', bytes: this.#receivedBytes });
    }
    this.#host.handler.message(this.#key, bytes);
  }

  #acked(bytes: number): void {
    if (bytes > this.#ackedBytes && bytes <= this.#sentBytes) this.#ackedBytes = bytes;
  }

  #closed(): void {
    if (this.#key !== null) this.#host.handler.hint(this.#key, 'closed-cleanly');
    this.#down('closed');
  }

  /**
   * The lock of the other end is free. On a busy machine that may be known sooner than what it said
   * last, such as its goodbye: a message to itself along the same way comes after all of that.
   */
  #free(): void {
    if (this.isOver) return;
    const echo = this.#host.openChannel(this.seat);
    const message: LinkMessage = { type: 'drained', attempt: this.#attempt };
    echo.postMessage(message);
    echo.close();
  }

  #gone(): void {
    if (this.#key !== null) this.#host.handler.hint(this.#key, 'gone');
    this.#down('failed');
  }

  #down(why: 'closed' | 'failed'): void {
    if (this.isOver) return;
    this.#finish();
    if (this.#key !== null) this.#host.handler.linkDown(this.#key, why);
    this.#host.changed(this);
  }

  #finish(): void {
    this.#end.abort();
    clearTimeout(this.#timer);
    this.#channel.close();
  }

  #watch(): void {
    this.#isWatched ||= this.#host.whenFree(this.seat, this.#end.signal, () => this.#free());
  }

  /** Without a lock nothing tells that the other end is dead, so that its link would stay for ever. */
  #isLost(): boolean {
    return !this.#isWatched && performance.now() - this.#heardAtMs > LOST_MS;
  }

  /** Should the other end live all the same, it hears the call. */
  #lose(): void {
    this.#down('failed');
    this.#host.announce();
  }

  /** Calls a few times: the other end may only just be opening its channels. */
  #call(): void {
    this.#open();
    this.#host.announce(this.seat);
    this.#timer = setTimeout(() => this.#unanswered(), CALL_MS * 2 ** this.#calls);
    this.#calls += 1;
  }

  #unanswered(): void {
    if (this.#calls < CALLS_MAX) return this.#call();
    this.#calls += 1;
    // A lock shows that somebody is there, if only frozen, and will answer when it is back.
    if (this.#isWatched) this.#host.changed(this);
    else this.#down('failed');
  }

  #open(): void {
    const { id, isHeld } = this.#host;
    this.#post({ type: 'open', attempt: this.#attempt, id, isHeld, isUp: this.#key !== null });
  }

  #post(message: LinkMessage | Uint8Array): boolean {
    try {
      this.#channel.postMessage(message);
      return true;
    } catch {
      // Nothing that is sent here cannot be copied: the browser has no memory left for it.
      return false;
    }
  }
}

/** A copy of a view would take along all that lies around it. */
function whole(bytes: Uint8Array): Uint8Array {
  return bytes.byteLength === bytes.buffer.byteLength ? bytes : bytes.slice();
}

function weight(bytes: Uint8Array): number {
  return bytes.byteLength + MESSAGE_BYTES;
}

/** Unguessable is not needed, unique is. `crypto.randomUUID` is missing in insecure contexts. */
function randomName(): string {
  return crypto.getRandomValues(new Uint32Array(3)).join('-');
}

/** About what the browser adds to a message, so that empty ones are not for nothing. */
const MESSAGE_BYTES = 64;

/** The other end tells what has arrived often enough that a stream never waits for it. */
const ACK_EVERY_BYTES = 256 * 1024;

/** Over this a sender is told `queued`. */
const WAITING_HIGH_BYTES = 1024 * 1024;

/**
 * What a link may have on its way: two of the largest messages of the core (16 MiB and a header).
 * A frozen page takes nothing and its browser keeps everything: there has to be an end. Heartbeats
 * have some room of their own.
 */
const DATA_WAITING_MAX_BYTES = 33 * 1024 * 1024;
const CONTROL_WAITING_MAX_BYTES = DATA_WAITING_MAX_BYTES + 1024 * 1024;
const WAITING_MAX_BYTES: Readonly<Record<Lane, number>> = {
  control: CONTROL_WAITING_MAX_BYTES,
  data: DATA_WAITING_MAX_BYTES,
};

/** Calls after 0, 0.1, 0.3 and 0.7 s; after 1.5 s nobody waits for the other end any more. */
const CALLS_MAX = 4;
const CALL_MS = 100;

/** Long after a silent member has been evicted. */
const LOST_MS = 60_000;

/** Nothing leaves the browser over it. */
const COST = 0;
