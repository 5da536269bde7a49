import type {
  Hint,
  Lane,
  SendResult,
  Transport,
  TransportHandler,
  TransportStartOptions,
} from '../transport/transport.ts';
import type { Scheduler } from './scheduler.ts';
import type { SimHost } from './sim-host.ts';
import { between, type Random } from './sim-random.ts';

/** What the network has carried for one node; sizes are of payloads, without any framing. */
export interface SimStats {
  readonly messagesSent: number;
  readonly bytesSent: number;
  readonly messagesReceived: number;
  readonly bytesReceived: number;
  /** Messages that this node sent and that cuts, loss or dead hosts swallowed. */
  readonly messagesLost: number;
}

/** Who watches the network, for the trace and the checkers. */
export interface SimNetworkWatcher {
  delivered(to: SimTransport, from: SimTransport, lane: Lane, bytes: Uint8Array): void;
  closed(transport: SimTransport): void;
}

/**
 * A simulated network: links between all nodes that run, with latency and faults. Faults are silent,
 * as real ones are: messages vanish, links stay up.
 */
export class SimNetwork {
  readonly scheduler: Scheduler;
  readonly random: Random;
  readonly watcher: SimNetworkWatcher;
  latencyMs: readonly [number, number];
  lossRate = 0;
  duplicateRate = 0;
  reorderRate = 0;
  /** Who is not heard by whom. */
  readonly #cuts = new Map<string, Set<string>>();
  readonly #present = new Map<string, SimTransport>();
  readonly #stats = new Map<string, Mutable<SimStats>>();
  #linkCount = 0;

  constructor(parts: {
    readonly scheduler: Scheduler;
    readonly random: Random;
    readonly latencyMs: readonly [number, number];
    readonly watcher: SimNetworkWatcher;
  }) {
    this.scheduler = parts.scheduler;
    this.random = parts.random;
    this.latencyMs = parts.latencyMs;
    this.watcher = parts.watcher;
  }

  transport(id: string, host: SimHost): SimTransport {
    return new SimTransport(this, id, host);
  }

  stats(id: string): Mutable<SimStats> {
    const known = this.#stats.get(id);
    if (known !== undefined) return known;
    const stats = { ...NO_STATS };
    this.#stats.set(id, stats);
    return stats;
  }

  latency(): number {
    return between(this.random, this.latencyMs);
  }

  isCut(from: string, to: string): boolean {
    return this.#cuts.get(from)?.has(to) ?? false;
  }

  cut(from: string, to: string, oneWay: boolean): void {
    this.#cuts.set(from, (this.#cuts.get(from) ?? new Set()).add(to));
    if (!oneWay) this.cut(to, from, true);
  }

  join(one: string, two: string): void {
    this.#cuts.get(one)?.delete(two);
    this.#cuts.get(two)?.delete(one);
    this.redial();
  }

  uncut(): void {
    this.#cuts.clear();
  }

  /** Links that could not be made before are tried again: a cut has ended, or a host has resumed. */
  redial(): void {
    for (const transport of this.#present.values()) transport.redial();
  }

  /** A started transport can be found from here on, and finds the others one latency later. */
  announce(transport: SimTransport): void {
    this.#present.set(transport.id, transport);
    this.scheduler.schedule(this.scheduler.now + this.latency(), () => {
      transport.host.arrive(() => {
        transport.discovered([...this.#present.values()].filter((other) => other !== transport));
      });
    });
  }

  /** Nobody finds it any more, and nobody waits for a link to it. */
  forget(transport: SimTransport): void {
    if (this.#present.get(transport.id) === transport) this.#present.delete(transport.id);
    for (const other of this.#present.values()) other.giveUp(transport);
  }

  /** Both ends learn of the link in the same instant; an older link to the same node ends. */
  link(one: SimTransport, two: SimTransport): void {
    this.#linkCount += 1;
    const near = new LinkEnd(`${two.id}#${this.#linkCount}`, one);
    const far = new LinkEnd(`${one.id}#${this.#linkCount}`, two);
    near.remote = far;
    far.remote = near;
    one.open(near);
    two.open(far);
  }

  transmit(from: LinkEnd, bytes: Uint8Array, lane: Lane): void {
    const stats = this.stats(from.owner.id);
    stats.messagesSent += 1;
    stats.bytesSent += bytes.byteLength;
    if (this.lossRate > 0 && this.random() < this.lossRate) {
      stats.messagesLost += 1;
      return;
    }
    // A copy: two nodes must not see each other's memory.
    this.#carry(from, bytes.slice(), lane);
    if (this.duplicateRate > 0 && this.random() < this.duplicateRate) {
      this.#carry(from, bytes.slice(), lane);
    }
  }

  #carry(from: LinkEnd, bytes: Uint8Array, lane: Lane): void {
    const { now } = this.scheduler;
    const isLate = this.reorderRate > 0 && this.random() < this.reorderRate;
    // Late enough for several later messages to overtake it.
    const at = isLate
      ? now + this.latency() + this.random() * 4 * (this.latencyMs[1] + 1)
      : Math.max(now + this.latency(), from.arrivesAt[lane]);
    if (!isLate) from.arrivesAt[lane] = at;
    this.scheduler.schedule(at, () => this.#arrive(from, bytes, lane));
  }

  #arrive(from: LinkEnd, bytes: Uint8Array, lane: Lane): void {
    const to = from.remote as LinkEnd;
    // A cut also swallows what is on its way.
    if (this.isCut(from.owner.id, to.owner.id) || to.owner.host.condition === 'stopped') {
      this.stats(from.owner.id).messagesLost += 1;
      return;
    }
    to.owner.host.arrive(() => {
      if (!to.isUp) return;
      const stats = this.stats(to.owner.id);
      stats.messagesReceived += 1;
      stats.bytesReceived += bytes.byteLength;
      this.watcher.delivered(to.owner, from.owner, lane, bytes);
      to.owner.handler?.message(to.key, bytes);
    });
  }

  /** A clean close travels behind everything that was sent before it. */
  closeLink(end: LinkEnd): void {
    const remote = end.remote as LinkEnd;
    const { control, data } = end.arrivesAt;
    const at = Math.max(this.scheduler.now + this.latency(), control, data);
    this.scheduler.schedule(at, () => {
      if (this.isCut(end.owner.id, remote.owner.id)) return;
      remote.owner.host.arrive(() => remote.owner.closedByRemote(remote));
    });
  }
}

/** The transport of one started node. */
export class SimTransport implements Transport {
  readonly scope = 'browser';
  readonly id: string;
  readonly host: SimHost;
  readonly #network: SimNetwork;
  readonly #links = new Map<string, LinkEnd>();
  /** Nodes that were discovered and to which there is no link yet. */
  readonly #pending = new Set<SimTransport>();
  #handler: TransportHandler | null = null;
  #instance = '';
  #outbox: (() => void)[] = [];

  constructor(network: SimNetwork, id: string, host: SimHost) {
    this.#network = network;
    this.id = id;
    this.host = host;
  }

  get handler(): TransportHandler | null {
    return this.#handler;
  }

  get instance(): string {
    return this.#instance;
  }

  start(handler: TransportHandler, { instance, signal }: TransportStartOptions): void {
    if (signal.aborted) return;
    this.#handler = handler;
    this.#instance = instance;
    signal.addEventListener('abort', () => void this.close(), { once: true });
    this.#network.scheduler.schedule(this.host.startAt, () => {
      this.host.arrive(() => {
        if (this.#isRunning()) this.#network.announce(this);
      });
    });
  }

  send(peer: string, bytes: Uint8Array, lane: Lane): SendResult {
    const link = this.#links.get(peer);
    if (link === undefined || this.host.condition === 'stopped') return 'dropped';
    if (this.host.condition === 'running') {
      this.#network.transmit(link, bytes, lane);
      return 'sent';
    }
    // Nothing runs in a paused host; what its code still says is said when it resumes.
    if (this.#outbox.length >= OUTBOX_MAX_COUNT) return 'dropped';
    this.#outbox.push(() => void this.send(peer, bytes, lane));
    return 'queued';
  }

  async close(): Promise<void> {
    if (this.#handler === null) return;
    this.#handler = null;
    if (this.host.condition === 'stopped') return;
    this.#network.watcher.closed(this);
    this.#network.forget(this);
    for (const link of this.#links.values()) {
      link.isUp = false;
      this.#network.closeLink(link);
    }
    this.#links.clear();
  }

  /** The host stops without a word: links stay up at their other ends. */
  crash(): void {
    this.#handler = null;
    this.#network.forget(this);
  }

  resumed(): void {
    const outbox = this.#outbox;
    this.#outbox = [];
    for (const send of outbox) send();
  }

  /** Tells everybody who has a link to this node. */
  hintOthers(kind: Hint): void {
    for (const { remote } of this.#links.values()) {
      if (remote === null) continue;
      remote.owner.host.arrive(() => {
        if (remote.isUp) remote.owner.handler?.hint(remote.key, kind);
      });
    }
  }

  discovered(others: readonly SimTransport[]): void {
    if (!this.#isRunning()) return;
    for (const other of others) {
      if (!this.#isLinkedTo(other)) this.#pending.add(other);
    }
    this.#reportDiscovery();
    for (const other of [...this.#pending]) this.#dial(other);
  }

  redial(): void {
    for (const other of [...this.#pending]) this.#dial(other);
  }

  giveUp(other: SimTransport): void {
    if (this.#pending.delete(other)) this.#reportDiscovery();
  }

  open(link: LinkEnd): void {
    const other = (link.remote as LinkEnd).owner;
    const old = [...this.#links.values()].filter((end) => end.remote?.owner.id === other.id);
    this.#links.set(link.key, link);
    this.#handler?.linkUp(link.key, { id: other.id });
    for (const end of old) this.#down(end, 'replaced');
    if (this.#pending.delete(other)) this.#reportDiscovery();
  }

  closedByRemote(link: LinkEnd): void {
    if (!link.isUp) return;
    this.#handler?.hint(link.key, 'closed-cleanly');
    this.#down(link, 'closed');
  }

  #down(link: LinkEnd, why: 'closed' | 'replaced'): void {
    link.isUp = false;
    this.#links.delete(link.key);
    this.#handler?.linkDown(link.key, why);
  }

  #dial(other: SimTransport): void {
    const network = this.#network;
    network.scheduler.schedule(network.scheduler.now + network.latency(), () => {
      if (!this.#pending.has(other)) return;
      // Both ends must run and hear each other to make a link; otherwise it waits for a redial.
      if (!this.#isRunning() || !other.#isRunning()) return;
      if (network.isCut(this.id, other.id) || network.isCut(other.id, this.id)) return;
      network.link(this, other);
    });
  }

  #isRunning(): boolean {
    return this.#handler !== null && this.host.condition === 'running';
  }

  #isLinkedTo(other: SimTransport): boolean {
    return [...this.#links.values()].some((link) => link.remote?.owner === other);
  }

  #reportDiscovery(): void {
    this.host.arrive(() => this.#handler?.discovery(this.#pending.size));
  }
}

/** One end of a link. */
class LinkEnd {
  readonly key: string;
  readonly owner: SimTransport;
  remote: LinkEnd | null = null;
  isUp = true;
  /** When the latest message of each lane arrives at the other end: none overtakes it. */
  readonly arrivesAt: Record<Lane, number> = { control: 0, data: 0 };

  constructor(key: string, owner: SimTransport) {
    this.key = key;
    this.owner = owner;
  }
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

const NO_STATS: SimStats = {
  messagesSent: 0,
  bytesSent: 0,
  messagesReceived: 0,
  bytesReceived: 0,
  messagesLost: 0,
};

/** As much as a page could plausibly say before it notices that it is paused. */
const OUTBOX_MAX_COUNT = 4_096;
