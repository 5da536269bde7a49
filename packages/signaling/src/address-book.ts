import type { SignalingLimits } from './limits.ts';
import { TokenBucket } from './token-bucket.ts';

// A full forgetting of refusals; shorter than a lunch break for users behind a shared address.
const FAILURE_MEMORY_MS = 15 * 60_000;
// Addresses without a socket that are still remembered; the oldest goes first.
const IDLE_ADDRESSES_MAX = 65_536;

interface AddressRecord<C> {
  readonly sockets: Set<C>;
  readonly joins: TokenBucket;
  failures: number;
  failedAt: number;
}

/**
 * What is known of network addresses: their open sockets (the live set itself, so that a count
 * cannot drift), how fast they join, and how often they were refused.
 */
export class AddressBook<C> {
  readonly #limits: SignalingLimits;
  readonly #busy = new Map<string, AddressRecord<C>>();
  readonly #idle = new Map<string, AddressRecord<C>>();

  constructor(limits: SignalingLimits) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#busy.size + this.#idle.size;
  }

  /** Counts a socket in, or refuses it. */
  admit(address: string, socket: C, now: number): boolean {
    const record = this.#record(address, now);
    const isOverJoins = record.joins.take(1, now) > 0;
    const isOverSockets = record.sockets.size >= this.#limits.socketsPerIpMax;
    if (!isOverJoins && !isOverSockets) record.sockets.add(socket);
    this.#file(address, record);
    return record.sockets.has(socket);
  }

  release(address: string, socket: C): void {
    const record = this.#busy.get(address);
    if (record === undefined) return;
    record.sockets.delete(socket);
    this.#file(address, record);
  }

  /** Notes a refusal; gives the ms to wait before telling it. */
  refused(address: string, now: number): number {
    const record = this.#record(address, now);
    const delayMs = this.#limits.authDelayMs * 2 ** Math.min(record.failures, 30);
    record.failures += 1;
    record.failedAt = now;
    this.#file(address, record);
    return Math.min(delayMs, this.#limits.authDelayMaxMs);
  }

  /** Forgets what no longer matters. */
  sweep(now: number): void {
    for (const [address, record] of this.#idle) {
      const isForgiven = record.failures === 0 || now - record.failedAt > FAILURE_MEMORY_MS;
      if (isForgiven && record.joins.isFull(now)) this.#idle.delete(address);
    }
  }

  #record(address: string, now: number): AddressRecord<C> {
    const perMin = this.#limits.joinsPerIpPerMin;
    return (
      this.#busy.get(address) ??
      this.#idle.get(address) ?? {
        sockets: new Set(),
        joins: new TokenBucket({ perSec: perMin / 60, burst: perMin, now }),
        failures: 0,
        failedAt: 0,
      }
    );
  }

  #file(address: string, record: AddressRecord<C>): void {
    const isBusy = record.sockets.size > 0;
    this.#idle.delete(address);
    if (isBusy) this.#busy.set(address, record);
    else {
      this.#busy.delete(address);
      this.#idle.set(address, record);
    }
    for (const oldest of this.#idle.keys()) {
      if (this.#idle.size <= IDLE_ADDRESSES_MAX) break;
      this.#idle.delete(oldest);
    }
  }
}
