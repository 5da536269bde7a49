import type {
  Hint,
  Lane,
  Lifecycle,
  LinkDownReason,
  LinkInfo,
  SendResult,
  Transport,
  TransportHandler,
  TransportStartOptions,
} from '../transport/transport.ts';

/** A transport that can be made to fail, for demonstrations and tests. See {@link faults}. */
export interface FaultyTransport extends Transport {
  /** `crashed` is final; `frozen` ends with `thaw()`. */
  readonly condition: 'running' | 'frozen' | 'crashed';
  /** From now on nothing goes out and nothing comes in; the others are told nothing. Final. */
  crash(): void;
  /**
   * Drops, silently, what goes to a member and what comes from it, as a dead link does. Links that
   * are made later to the same member are cut too. `member`: its id, or the key of one link.
   * With `oneWay`, only what goes to it is dropped.
   */
  cut(member: string, options?: { readonly oneWay?: boolean }): void;
  /** Takes back a cut; what was dropped stays lost. */
  join(member: string): void;
  /**
   * Behaves as a page that the browser freezes: the node is told `freeze`, and what it sends in
   * answer still goes out; then what comes in and what goes out is held until `thaw()`.
   */
  freeze(): void;
  /** The node is told `resume`, then gets what was held, in order; then its own held sends go. */
  thaw(): void;
}

/** Wraps a transport so that it can be crashed, cut and frozen. Without a fault it changes nothing. */
export function faults(transport: Transport): FaultyTransport {
  return new Faulty(transport);
}

class Faulty implements FaultyTransport, TransportHandler {
  readonly scope?: 'browser';
  readonly timer?: NonNullable<Transport['timer']>;
  readonly #inner: Transport;
  #handler: TransportHandler | null = null;
  #condition: 'running' | 'frozen' | 'crashed' = 'running';
  /** Member id of each link, where the transport knows it. */
  readonly #members = new Map<string, string>();
  readonly #cuts = new Map<string, 'oneWay' | 'bothWays'>();
  #held: (() => void)[] = [];
  #outbox: (() => void)[] = [];
  #heldBytes = 0;
  #lostCount = 0;

  constructor(inner: Transport) {
    this.#inner = inner;
    if (inner.scope) this.scope = inner.scope;
    if (inner.timer) this.timer = inner.timer.bind(inner);
  }

  get condition(): 'running' | 'frozen' | 'crashed' {
    return this.#condition;
  }

  start(handler: TransportHandler, options: TransportStartOptions): void {
    this.#handler = handler;
    this.#inner.start(this, options);
  }

  send(peer: string, bytes: Uint8Array, lane: Lane): SendResult {
    // The sender of a lost message learns nothing: neither a dead host nor a dead link says so.
    if (this.#condition === 'crashed' || this.#cutOf(peer) !== undefined) return 'sent';
    if (this.#condition === 'running') return this.#inner.send(peer, bytes, lane);
    if (!this.#hasRoom(bytes)) return 'dropped';
    this.#outbox.push(() => this.send(peer, bytes, lane));
    return 'queued';
  }

  async close(): Promise<void> {
    this.#handler = null;
    this.#forget();
    await this.#inner.close();
  }

  crash(): void {
    this.#condition = 'crashed';
    this.#forget();
  }

  cut(member: string, { oneWay = false }: { readonly oneWay?: boolean } = {}): void {
    this.#cuts.set(member, oneWay ? 'oneWay' : 'bothWays');
  }

  join(member: string): void {
    this.#cuts.delete(member);
  }

  freeze(): void {
    if (this.#condition !== 'running') return;
    this.#handler?.lifecycle('freeze');
    this.#condition = 'frozen';
  }

  thaw(): void {
    if (this.#condition !== 'frozen') return;
    this.#condition = 'running';
    const [held, outbox, lostCount] = [this.#held, this.#outbox, this.#lostCount];
    this.#forget();
    this.#handler?.lifecycle('resume');
    for (const report of [...held, ...outbox]) report();
    if (lostCount > 0) {
      this.#handler?.fault('held-overflow', `${lostCount} messages were lost while frozen.`);
    }
  }

  // What the wrapped transport reports.

  linkUp(peer: string, info?: LinkInfo): void {
    if (info?.id !== undefined) this.#members.set(peer, info.id);
    this.#report(() => this.#handler?.linkUp(peer, info));
  }

  linkDown(peer: string, why: LinkDownReason): void {
    this.#report(() => {
      this.#members.delete(peer);
      this.#handler?.linkDown(peer, why);
    });
  }

  message(peer: string, bytes: Uint8Array): void {
    // A cut counts when the message arrives, not when it is released.
    if (this.#cutOf(peer) === 'bothWays') return;
    if (this.#condition === 'frozen' && !this.#hasRoom(bytes)) return;
    this.#report(() => this.#handler?.message(peer, bytes));
  }

  hint(peer: string, kind: Hint): void {
    this.#report(() => this.#handler?.hint(peer, kind));
  }

  discovery(pending: number): void {
    this.#report(() => this.#handler?.discovery(pending));
  }

  lifecycle(kind: Lifecycle): void {
    this.#report(() => this.#handler?.lifecycle(kind));
  }

  fault(code: string, message: string): void {
    this.#report(() => this.#handler?.fault(code, message));
  }

  #report(report: () => void): void {
    if (this.#condition === 'running') report();
    else if (this.#condition === 'frozen') this.#held.push(report);
  }

  #cutOf(peer: string): 'oneWay' | 'bothWays' | undefined {
    const member = this.#members.get(peer);
    return this.#cuts.get(peer) ?? (member === undefined ? undefined : this.#cuts.get(member));
  }

  #hasRoom({ byteLength }: Uint8Array): boolean {
    const count = this.#held.length + this.#outbox.length;
    if (count < HELD_MAX_COUNT && this.#heldBytes + byteLength <= HELD_MAX_BYTES) {
      this.#heldBytes += byteLength;
      return true;
    }
    this.#lostCount += 1;
    return false;
  }

  #forget(): void {
    this.#held = [];
    this.#outbox = [];
    this.#heldBytes = 0;
    this.#lostCount = 0;
  }
}

/** A frozen minute of a busy cluster; more is lost, as it is in a browser's own buffers. */
const HELD_MAX_COUNT = 16_384;
/** Four of the largest messages. */
const HELD_MAX_BYTES = 64 * 1024 * 1024;
