import type { Health } from './health.ts';
import { MISSES_MAX, Watch } from './watch.ts';

/** One transport connection, from `linkUp` to `linkDown`. */
export interface Link {
  readonly peer: string;
  /** What messages over it cost beside others of the same node. */
  readonly cost: number;
  /** Whom the other end says that it is; `null` until its hello. Never changes afterwards. */
  instance: string | null;
  /** The other end has had this node's hello. */
  known: boolean;
  /** Breaks a rule of the cluster: nothing more is exchanged. */
  refused: boolean;
  helloAt: number;
  readonly watch: Watch;
  /** When there is something to do about it, unless something wakes the detector before. */
  dueAt: number;
  /** When the roster, and a claim, last went over it unasked; bounds the answers to stale input. */
  recordsSentAt: number;
  /** Pings in a row that showed another roster behind it. */
  mismatches: number;
  claimSentAt: number;
  /** The first claim of a link may be of any height (E11). */
  claimSeen: boolean;
  /** So may the first that its other end makes itself. */
  ownClaimSeen: boolean;
}

/** How a link begins. */
export interface Opening {
  readonly now: number;
  readonly firstPingAt: number;
  readonly cost: number;
}

/** The links of this node, by key and by the instance behind them. */
export class Links {
  readonly #health: Health;
  readonly #byPeer = new Map<string, Link>();
  readonly #byInstance = new Map<string, Link[]>();

  constructor(health: Health) {
    this.#health = health;
  }

  /** `firstPingAt` spreads the pings of links that come up together. */
  open(peer: string, { now, firstPingAt, cost }: Opening): Link {
    const link: Link = {
      peer,
      cost,
      instance: null,
      known: false,
      refused: false,
      helloAt: now,
      dueAt: now,
      watch: new Watch(firstPingAt, this.#health),
      recordsSentAt: Number.NEGATIVE_INFINITY,
      mismatches: 0,
      claimSentAt: Number.NEGATIVE_INFINITY,
      claimSeen: false,
      ownClaimSeen: false,
    };
    this.#byPeer.set(peer, link);
    return link;
  }

  bind(link: Link, instance: string): void {
    link.instance = instance;
    const links = this.#byInstance.get(instance);
    if (links) links.push(link);
    else this.#byInstance.set(instance, [link]);
  }

  close(peer: string): Link | undefined {
    const link = this.#byPeer.get(peer);
    if (!link) return undefined;
    this.#byPeer.delete(peer);
    if (link.instance === null) return link;
    const rest = this.of(link.instance).filter((other) => other !== link);
    if (rest.length > 0) this.#byInstance.set(link.instance, rest);
    else this.#byInstance.delete(link.instance);
    return link;
  }

  get(peer: string): Link | undefined {
    return this.#byPeer.get(peer);
  }

  get size(): number {
    return this.#byPeer.size;
  }

  all(): IterableIterator<Link> {
    return this.#byPeer.values();
  }

  of(instance: string): readonly Link[] {
    return this.#byInstance.get(instance) ?? NONE;
  }

  /** Of the cheapest links that answer both ways the fastest (M4). */
  best(instance: string): Link | undefined {
    let best: Link | undefined;
    for (const link of this.of(instance)) {
      if (isUsable(link) && (!best || isBetter(link, best))) best = link;
    }
    return best;
  }
}

function isBetter(link: Link, than: Link): boolean {
  if (link.cost !== than.cost) return link.cost < than.cost;
  return (link.watch.rttMs ?? 0) < (than.watch.rttMs ?? 0);
}

/** Heard both ways: the other end answers. */
export function isUsable(link: Link): boolean {
  return link.instance !== null && !link.refused && link.watch.misses < MISSES_MAX;
}

const NONE: readonly Link[] = [];
