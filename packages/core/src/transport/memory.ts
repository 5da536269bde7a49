import { checkOptions, type Rules } from '../option-check.ts';
import type {
  Lane,
  SendResult,
  Transport,
  TransportHandler,
  TransportStartOptions,
} from './transport.ts';

/** Options of {@link memory}. */
export interface MemoryOptions {
  /** Nodes meet on one network. @defaultValue one network shared by the whole process */
  readonly network?: MemoryNetwork;
}

/**
 * A transport between nodes of one process: for tests, examples, and several nodes in one page.
 * Everything started with the same cluster name on the same network is linked with everything else.
 * @throws TypeError that names a wrong option.
 */
export function memory(options: MemoryOptions = {}): Transport {
  checkOptions(RULES, options);
  return new MemoryTransport(options.network ?? processNetwork);
}

const RULES: Rules<MemoryOptions> = {
  network: ['MemoryNetwork', 'a MemoryNetwork', (value) => value instanceof MemoryNetwork],
};

/** A place where memory transports meet. Two networks know nothing of each other. */
export class MemoryNetwork {
  readonly #clusters = new Map<string, Set<MemoryTransport>>();
  #linkCount = 0;

  /** Adds a transport and links it with all that are there. @internal */
  attach(transport: MemoryTransport, cluster: string): void {
    const present = this.#clusters.get(cluster) ?? new Set();
    this.#clusters.set(cluster, present);
    for (const other of present) this.#link(transport, other);
    present.add(transport);
    queueMicrotask(() => transport.discovered());
  }

  /** @internal */
  detach(transport: MemoryTransport, cluster: string): void {
    const present = this.#clusters.get(cluster);
    present?.delete(transport);
    if (present?.size === 0) this.#clusters.delete(cluster);
  }

  #link(one: MemoryTransport, other: MemoryTransport): void {
    this.#linkCount += 1;
    const near = new LinkEnd(`memory-${this.#linkCount}a`, one);
    const far = new LinkEnd(`memory-${this.#linkCount}b`, other);
    near.connect(far);
    far.connect(near);
    one.addLink(near, other.id);
    other.addLink(far, one.id);
  }
}

/** @internal */
class MemoryTransport implements Transport {
  readonly scope = 'browser';
  readonly #network: MemoryNetwork;
  readonly #links = new Map<string, LinkEnd>();
  #handler: TransportHandler | null = null;
  #cluster: string | null = null;
  #id = '';

  constructor(network: MemoryNetwork) {
    this.#network = network;
  }

  get id(): string {
    return this.#id;
  }

  start(handler: TransportHandler, options: TransportStartOptions): void {
    if (this.#cluster !== null) throw new TypeError('A memory transport can be started once only.');
    this.#cluster = options.cluster;
    this.#id = options.id;
    if (options.signal.aborted) return;
    this.#handler = handler;
    options.signal.addEventListener('abort', () => void this.close(), { once: true });
    this.#network.attach(this, options.cluster);
  }

  send(peer: string, bytes: Uint8Array, _lane: Lane): SendResult {
    return this.#links.get(peer)?.send(bytes) ?? 'dropped';
  }

  async close(): Promise<void> {
    if (this.#handler === null || this.#cluster === null) return;
    this.#handler = null;
    this.#network.detach(this, this.#cluster);
    for (const link of this.#links.values()) link.close();
    this.#links.clear();
  }

  addLink(link: LinkEnd, remoteId: string): void {
    this.#links.set(link.key, link);
    link.enqueue({ type: 'up', remoteId });
  }

  discovered(): void {
    this.#handler?.discovery(0);
  }

  /** What came out of a link's queue; nothing is reported of a link that this end has closed. */
  arrived(link: LinkEnd, item: Item): void {
    if (!this.#links.has(link.key)) return;
    if (item.type === 'up') this.#handler?.linkUp(link.key, { id: item.remoteId });
    else if (item.type === 'message') this.#handler?.message(link.key, item.bytes);
    else this.#closed(link);
  }

  #closed(link: LinkEnd): void {
    this.#handler?.hint(link.key, 'closed-cleanly');
    this.#links.delete(link.key);
    this.#handler?.linkDown(link.key, 'closed');
  }
}

/** One end of a link, with the queue of what is on its way to this end. */
class LinkEnd {
  readonly key: string;
  readonly #owner: MemoryTransport;
  #remote: LinkEnd | null = null;
  #queue: Item[] = [];
  #queuedBytes = 0;

  constructor(key: string, owner: MemoryTransport) {
    this.key = key;
    this.#owner = owner;
  }

  connect(remote: LinkEnd): void {
    this.#remote = remote;
  }

  send(bytes: Uint8Array): SendResult {
    return this.#remote === null ? 'dropped' : this.#remote.#accept(bytes);
  }

  close(): void {
    this.#remote?.enqueue({ type: 'close' });
    this.#remote = null;
  }

  /** One queue for both lanes: order across lanes is more than the contract asks for. */
  enqueue(item: Item): void {
    this.#queue.push(item);
    if (this.#queue.length === 1) queueMicrotask(() => this.#deliver());
  }

  #accept(bytes: Uint8Array): SendResult {
    if (this.#queuedBytes + bytes.byteLength > BUFFER_MAX_BYTES) return 'dropped';
    this.#queuedBytes += bytes.byteLength;
    // A copy: two nodes must not see each other's memory, as they would not over a network.
    this.enqueue({ type: 'message', bytes: bytes.slice() });
    return this.#queuedBytes > BUFFER_HIGH_BYTES ? 'queued' : 'sent';
  }

  #deliver(): void {
    const items = this.#queue;
    this.#queue = [];
    this.#queuedBytes = 0;
    for (const item of items) this.#owner.arrived(this, item);
  }
}

type Item =
  | { readonly type: 'up'; readonly remoteId: string }
  | { readonly type: 'message'; readonly bytes: Uint8Array }
  | { readonly type: 'close' };

/** Over this a sender is told `queued`: as with data channels, a megabyte is ample pipelining. */
const BUFFER_HIGH_BYTES = 1024 * 1024;
/** Over this messages are dropped: room for a few of the largest channel messages (16 MiB). */
const BUFFER_MAX_BYTES = 64 * 1024 * 1024;

const processNetwork = new MemoryNetwork();
