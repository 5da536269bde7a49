import { decode, encode } from '../../src/machine/codec.ts';
import type { Machine } from '../../src/machine/machine.ts';
import type { Message } from '../../src/machine/message.ts';
import type { MemberRecord } from '../../src/machine/record.ts';
import { type Random, seededRandom } from '../../src/testing/sim-random.ts';
import { hello, lone } from './bench.ts';

interface Flight {
  readonly at: number;
  readonly from: string;
  readonly to: string;
  readonly bytes: Uint8Array;
}

// Far more than ten minutes of a small cluster take; a machine that is always due would not end.
const ROUNDS_MAX = 1_000_000;

/**
 * Machines in virtual time, linked one by one, and liars among them. Unlike in a simulation any two
 * may have no link at all, and a member may say whatever a test makes it say. Peers are named by
 * their instances.
 */
export class MachineNetwork {
  latencyMs = 10;
  #now = 0;
  readonly #random: Random = seededRandom(1, 0);
  readonly #machines = new Map<string, Machine>();
  readonly #liars = new Set<string>();
  #flights: Flight[] = [];

  get now(): number {
    return this.#now;
  }

  /** Starts a machine that is linked to nobody. */
  add(id: string, instance: string, startedAt: number): Machine {
    const { now } = this;
    const random = this.#random;
    const machine = lone({ id, instance, startedAt, restampable: false, random, now });
    this.#machines.set(instance, machine);
    return machine;
  }

  at(instance: string): Machine {
    const machine = this.#machines.get(instance);
    if (machine === undefined) throw new RangeError(`no machine ${instance}`);
    return machine;
  }

  link(instance: string, ...others: readonly string[]): void {
    for (const other of others) {
      this.at(instance).linkUp(other, this.now);
      this.at(other).linkUp(instance, this.now);
      this.#collect();
    }
  }

  /** A member without a machine: it answers pings, so that it seems to live, and may lie. */
  addLiar(record: MemberRecord, to: string): void {
    this.#liars.add(record.instance);
    this.at(to).linkUp(record.instance, this.now);
    this.tell(record.instance, to, hello({ self: record, records: [] }));
  }

  /** A liar closes its only link. */
  removeLiar(instance: string, from: string): void {
    this.#liars.delete(instance);
    this.at(from).linkDown(instance, 'closed', this.now);
    this.#collect();
  }

  /** A message that arrives at once, whoever it is from. */
  tell(from: string, to: string, message: Message): void {
    this.at(to).receive(from, encode(message), this.now);
    this.#collect();
  }

  run(ms: number): void {
    const end = this.now + ms;
    for (let rounds = 0; this.#nextAt() <= end; rounds += 1) {
      if (rounds > ROUNDS_MAX) throw new Error(`time stands still at ${this.now} ms`);
      const next = this.#nextAt();
      this.#now = Math.max(this.now, next);
      this.#deliver();
      for (const machine of this.#machines.values()) {
        if (machine.nextDeadline() <= this.now) machine.advance(this.now);
      }
      this.#collect();
    }
    this.#now = end;
  }

  #nextAt(): number {
    const deadlines = [...this.#machines.values()].map((machine) => machine.nextDeadline());
    return Math.min(...deadlines, ...this.#flights.map(({ at }) => at));
  }

  #deliver(): void {
    const due = this.#flights.filter(({ at }) => at <= this.now);
    this.#flights = this.#flights.filter(({ at }) => at > this.now);
    for (const { from, to, bytes } of due) {
      if (this.#liars.has(to)) this.#answer(to, from, bytes);
      else this.#machines.get(to)?.receive(from, bytes, this.now);
    }
  }

  #answer(liar: string, to: string, bytes: Uint8Array): void {
    const message = decode(bytes);
    if (message.type === 'ping') this.tell(liar, to, { ...message, type: 'pong' });
  }

  #collect(): void {
    for (const [from, machine] of this.#machines) {
      for (const effect of machine.drain()) {
        if (effect.type !== 'send') continue;
        const { peer: to, bytes } = effect;
        this.#flights.push({ at: this.now + this.latencyMs, from, to, bytes });
      }
    }
  }
}

/** `a-1`, which leads, `b-1` and `c-1`, all linked to each other and settled. */
export function linkedTrio(): MachineNetwork {
  const network = new MachineNetwork();
  network.add('a', 'a-1', 1000);
  network.add('b', 'b-1', 2000);
  network.add('c', 'c-1', 3000);
  network.link('a-1', 'b-1', 'c-1');
  network.link('b-1', 'c-1');
  network.run(8000);
  return network;
}

/** Whom a machine has in its roster. */
export function instancesOf(machine: Machine): readonly string[] {
  return machine.members.map(({ instance }) => instance);
}
