import type { Kernel } from './kernel.ts';
import { hashText } from './record.ts';
import type { Entry } from './roster.ts';

/**
 * Who watches whom. Up to 12 members everybody watches everybody. Beyond, the members stand on K
 * rings, in an order that a hash gives and everybody computes alike; each watches its successor on
 * every ring (an expander, as in Rapid, Suresh et al. 2018, §4.1). The leader is watched by more.
 */
export class Rings {
  readonly #kernel: Kernel;
  /** What the cached answer is for. */
  #version = -1;
  #leader: string | null = null;
  #watched = new Set<string>();

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
  }

  /** Whether this node pings `entry` every interval. */
  watches(entry: Entry): boolean {
    // Whoever is in doubt is everybody's business: each judges for itself.
    return entry.suspectedAt !== null || entry.accusers.size > 0 || this.isWatcher(entry);
  }

  /** Whether the rings make this node one of those who watch `entry`, and who tell all others. */
  isWatcher(entry: Entry): boolean {
    const { roster, election } = this.#kernel;
    if (roster.size <= ALL_WATCH_MAX) return true;
    const leader = election.claim?.instance ?? null;
    if (roster.version !== this.#version || leader !== this.#leader) {
      this.#version = roster.version;
      this.#leader = leader;
      this.#watched = this.#compute(leader);
    }
    return this.#watched.has(entry.record.instance);
  }

  #compute(leader: string | null): Set<string> {
    const { roster, options } = this.#kernel;
    const others = [...roster.others()].map(({ record }) => record.instance);
    const watched = new Set<string>();
    for (let ring = 0; ring < RINGS; ring++) {
      const next = successor(others, options.instance, ring);
      if (next !== null) watched.add(next);
    }
    if (leader !== null && isWithin(others, options.instance, leader)) watched.add(leader);
    return watched;
  }
}

function successor(instances: readonly string[], own: string, ring: number): string | null {
  const start = place(own, ring);
  let next: string | null = null;
  let nearest = Number.POSITIVE_INFINITY;
  for (const instance of instances) {
    const distance = (place(instance, ring) - start) >>> 0;
    if (distance >= nearest) continue;
    next = instance;
    nearest = distance;
  }
  return next;
}

/** Whether fewer than `LEADER_WATCHERS_MAX` members stand between `own` and the leader. */
function isWithin(instances: readonly string[], own: string, leader: string): boolean {
  const start = place(own, 0);
  const distance = (place(leader, 0) - start) >>> 0;
  const between = instances.filter((one) => (place(one, 0) - start) >>> 0 < distance).length;
  return between < LEADER_WATCHERS_MAX;
}

function place(instance: string, ring: number): number {
  return hashText(`${ring}:${instance}`);
}

/** Up to here a full mesh of pings costs less than 1 kB/s a node (M13). */
export const ALL_WATCH_MAX = 12;
/** Watchers of one member: as many as Rapid's K needs for an expander at these sizes. */
const RINGS = 8;
/** The leader's silence is what users wait for; more watchers would only cost the leader. */
const LEADER_WATCHERS_MAX = 32;
