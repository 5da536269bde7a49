import type { LockEffect } from '../machine/effect.ts';
import type { LockAnswer } from '../machine/input.ts';
import type { Lock, OpenLock } from '../machine/lock/lock.ts';
import type { SimHost } from './sim-host.ts';

/** What simulated locks need of their surroundings. */
export interface SimLockWorld {
  /** Who gets or loses the lock, for the trace. */
  told(id: string, what: string): void;
  /** Runs `happen` after a moment: another process has to be told, or a disk to be read. */
  later(what: 'message' | 'disk', happen: () => void): void;
}

/**
 * The one lock of the simulated cluster, and the count of its holders. As in a browser: a crash
 * releases it, a page that stands still keeps it and its place in the queue, and the count survives
 * everything.
 */
export class SimLocks {
  readonly #world: SimLockWorld;
  #queue: Seat[] = [];
  #holder: Seat | null = null;
  #count = 0;
  readonly #counts: (() => void)[] = [];

  constructor(world: SimLockWorld) {
    this.#world = world;
  }

  /** The lock as one start of a node has it. */
  for(id: string, host: SimHost): OpenLock {
    return ({ answer }): Lock => {
      const tell = (told: LockAnswer) => host.arrive(() => answer(told));
      return {
        carryOut: (effect) => this.#carryOut({ id, host, ticket: effect.ticket, tell }, effect),
        close: () => this.ended(host),
      };
    };
  }

  /** Everything of this host is given back. */
  ended(host: SimHost): void {
    this.#giveBack((seat) => seat.host === host);
  }

  #carryOut(seat: Seat, { act, above }: LockEffect): void {
    const { ticket, host } = seat;
    if (act === 'request') this.#queue.push(seat);
    else if (act === 'steal') this.#steal(seat);
    else if (act === 'count') this.#countOn(seat, above);
    else this.#giveBack((other) => other.host === host && other.ticket === ticket);
    this.#grant();
  }

  #steal(seat: Seat): void {
    const robbed = this.#holder;
    this.#holder = null;
    this.#queue.unshift(seat);
    if (robbed === null) return;
    this.#world.told(robbed.id, 'is robbed of the lock');
    this.#world.later('message', () => robbed.tell({ type: 'lost', ticket: robbed.ticket }));
  }

  #countOn({ ticket, tell }: Seat, above: number): void {
    this.#counts.push(() => {
      this.#count = Math.max(this.#count, above) + 1;
      tell({ type: 'counted', ticket, epoch: this.#count });
    });
    // One transaction after the other, as they were asked for.
    this.#world.later('disk', () => this.#counts.shift()?.());
  }

  #giveBack(isMeant: (seat: Seat) => boolean): void {
    this.#queue = this.#queue.filter((seat) => !isMeant(seat));
    if (this.#holder && isMeant(this.#holder)) this.#holder = null;
    this.#grant();
  }

  #grant(): void {
    const next = this.#holder === null ? this.#queue.shift() : undefined;
    if (next === undefined) return;
    this.#holder = next;
    this.#world.told(next.id, 'has the lock');
    this.#world.later('message', () => next.tell({ type: 'granted', ticket: next.ticket }));
  }
}

interface Seat {
  readonly id: string;
  readonly host: SimHost;
  readonly ticket: number;
  tell(answer: LockAnswer): void;
}
