import type { Health } from './health.ts';
import { MISSES_MAX, Watch } from './watch.ts';

/** One transport connection, from `linkUp` to `linkDown`. */
export interface Link {
  readonly peer: string;
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

/** The links of this node, by key and by the instance behind them. */
export class Links {
  readonly #health: Health;
  readonly #byPeer = new Map<string, Link>();
  readonly #byInstance = new Map<string, Link[]>();

  constructor(health: Health) {
    this.#health = health;
  }

  /** `firstPingAt` spreads the pings of links that come up together. */
  open(peer: string, now: number, firstPingAt: number): Link {
    const link: Link = {
      peer,
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

  /** The fastest link that answers both ways (M4). */
  best(instance: string): Link | undefined {
    let best: Link | undefined;
    for (const link of this.of(instance)) {
      if (!isUsable(link)) continue;
      if (!best || (link.watch.rttMs ?? 0) < (best.watch.rttMs ?? 0)) best = link;
    }
    return best;
  }
}

/** Heard both ways: the other end answers. */
export function isUsable(link: Link): boolean {
  return link.instance !== null && !link.refused && link.watch.misses < MISSES_MAX;
}

const NONE: readonly Link[] = [];
