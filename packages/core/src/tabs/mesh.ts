import type { Lane, SendResult, TransportHandler } from '../transport/transport.ts';
import { Link, type LinkHost } from './link.ts';
import { hold, LockNames, type Locks, whenFree } from './locks.ts';
import { type HereMessage, parseHere } from './message.ts';

export interface MeshOptions {
  /** What the names of channels and locks begin with. */
  readonly root: string;
  readonly id: string;
  readonly instance: string;
  /** Counts the meshes of the instance. */
  readonly number: number;
  readonly linksMax: number;
  readonly BroadcastChannel: typeof BroadcastChannel;
  /** `null`: there are none. */
  readonly locks: Locks | null;
  readonly handler: TransportHandler;
  /** Gives a key for a link that was never given before. */
  mintKey(): string;
  /** The lock of the seat was taken away. */
  lost(): void;
}

/**
 * Links to everybody of the cluster in this browser, from one appearance there to the end. Each
 * appearance has a name of its own, its seat: the lock of that name is never taken again once it
 * was let go of, since others take that for a death.
 */
export class Mesh implements LinkHost {
  readonly id: string;
  readonly #seat: string;
  readonly handler: TransportHandler;
  readonly #options: MeshOptions;
  readonly #names: LockNames;
  /** By seat. */
  readonly #links = new Map<string, Link>();
  readonly #byKey = new Map<string, Link>();
  #lobby: BroadcastChannel | null = null;
  #locks: Locks | null;
  #release: (() => void) | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #pending = -1;
  #isSettled = false;
  #problem = '';
  #isFull = false;
  #isClosed = false;

  constructor(options: MeshOptions) {
    this.#options = options;
    this.id = options.id;
    this.#seat = `${options.instance}/${options.number}`;
    this.handler = options.handler;
    this.#locks = options.locks;
    this.#names = new LockNames(options.root);
    void this.#open();
  }

  get isHeld(): boolean {
    return this.#release !== null;
  }

  /** Keys of the links that are up. */
  get keys(): readonly string[] {
    return [...this.#byKey.keys()];
  }

  send(key: string, bytes: Uint8Array, lane: Lane): SendResult {
    return this.#byKey.get(key)?.send(bytes, lane) ?? 'dropped';
  }

  /** All within this very task, which may be the last of the page. Reports nothing. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    for (const link of this.#links.values()) link.close();
    this.#links.clear();
    this.#byKey.clear();
    this.#lobby?.close();
    this.#lobby = null;
    // Last: whoever waits for it shall have heard the goodbyes.
    this.#release?.();
    this.#release = null;
  }

  bind(link: Link): string {
    const key = this.#options.mintKey();
    if (link.key !== null) this.#byKey.delete(link.key);
    this.#byKey.set(key, link);
    return key;
  }

  openChannel(seat: string): BroadcastChannel {
    // Both ends find the same name, and no two pairs do.
    const ends = [this.#seat, seat].sort().map(encodeURIComponent);
    return this.#channel(`link/${ends.join('/')}`);
  }

  whenFree(seat: string, signal: AbortSignal, free: () => void): boolean {
    if (this.#locks) whenFree(this.#locks, this.#names.of(seat), signal, free);
    return this.#locks !== null;
  }

  announce(to?: string): void {
    const here: HereMessage = { type: 'here', seat: this.#seat, isHeld: this.isHeld, to };
    this.#lobby?.postMessage(here);
  }

  changed(link: Link): void {
    if (this.#isClosed) return;
    if (link.isOver) this.#forget(link);
    if (this.#isSettled) this.#reportDiscovery();
  }

  #forget(link: Link): void {
    this.#links.delete(link.seat);
    if (link.key !== null) this.#byKey.delete(link.key);
    if (!this.#isFull) return;
    // Whoever found no room before may come now.
    this.#isFull = false;
    this.announce();
  }

  async #open(): Promise<void> {
    await this.#takeLock();
    if (this.#isClosed) return;
    this.#lobby = this.#channel('lobby');
    this.#lobby.onmessage = ({ data }) => this.#heard(data);
    this.announce();
    await this.#lookAround();
  }

  /** Its own lock first: who hears of this node may wait for it at once. */
  async #takeLock(): Promise<void> {
    if (!this.#locks) return;
    const lost = () => this.#isClosed || this.#options.lost();
    try {
      const release = await hold(this.#locks, this.#names.of(this.#seat), lost);
      if (this.#isClosed) release();
      else this.#release = release;
    } catch (error) {
      this.#locks = null;
      this.#problem = `None is granted: ${String(error)}.`;
    }
  }

  /** The locks name everybody who is there, so that a node that is alone knows at once. */
  async #lookAround(): Promise<void> {
    if (!this.#locks) return this.#listen();
    try {
      for (const seat of await this.#names.holders(this.#locks)) this.#meet(seat, true);
      this.#settle();
    } catch {
      this.#listen();
    }
  }

  /** Without locks only silence shows that nobody is there. */
  #listen(): void {
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => {
      if (!this.isHeld) this.handler.fault('no-web-locks', `${NO_LOCKS} ${this.#problem}`.trim());
      this.#settle();
    }, ANSWER_MS);
  }

  #heard(data: unknown): void {
    const here = this.#isClosed ? null : parseHere(data);
    if (!here || (here.to !== undefined && here.to !== this.#seat)) return;
    if (!this.#links.has(here.seat)) this.#meet(here.seat, here.isHeld);
    else if (here.to === undefined) this.announce(here.seat);
  }

  /** A link to a seat that was not known answers it too. */
  #meet(seat: string, isHeld: boolean): void {
    const { instance, linksMax } = this.#options;
    // The browser may still show the lock that this instance has just let go of.
    const isOwn = seat.slice(0, seat.lastIndexOf('/')) === instance;
    if (this.#isClosed || isOwn || this.#links.has(seat)) return;
    if (this.#links.size < linksMax) {
      this.#links.set(seat, new Link(this, seat, isHeld));
    } else if (!this.#isFull) {
      this.#isFull = true;
      const message = `No more than ${linksMax} links between tabs; see linksMax.`;
      this.handler.fault('links-exhausted', message);
    }
  }

  #settle(): void {
    if (this.#isClosed) return;
    this.#isSettled = true;
    this.#reportDiscovery();
  }

  #reportDiscovery(): void {
    const pending = [...this.#links.values()].filter((link) => link.isPending).length;
    if (pending === this.#pending) return;
    this.#pending = pending;
    this.handler.discovery(pending);
  }

  #channel(name: string): BroadcastChannel {
    return new this.#options.BroadcastChannel(`${this.#options.root}/${name}`);
  }
}

const NO_LOCKS =
  'No Web Locks here, so that the death of a tab shows by its silence only, in seconds. Browsers ' +
  'have them on https: and on localhost.';

/** Answers of tabs come in milliseconds, also when they are hidden; of busy ones a little later. */
const ANSWER_MS = 200;
