import { encode } from './wire.mjs';

export const HEARTBEAT = { intervalMs: 1000, misses: 3 };

/**
 * The plainest detector: everybody beats to everybody, and who misses so many beats is out until it
 * is heard again.
 */
export class Heartbeat {
  #context;
  #intervalMs;
  #silenceMs;
  #living;
  #alarms = new Map();

  constructor(context, { intervalMs, misses } = HEARTBEAT) {
    this.#context = context;
    this.#intervalMs = intervalMs;
    // Half an interval more, or jitter alone would count as the last miss.
    this.#silenceMs = (misses + 0.5) * intervalMs;
    this.#living = new Set(context.peers);
  }

  start() {
    for (const peer of this.#context.peers) this.#heard(peer);
    this.#context.timer(() => this.#beat(), this.#context.random() * this.#intervalMs);
  }

  receive(from) {
    this.#heard(from);
  }

  get roster() {
    return [this.#context.id, ...this.#living];
  }

  get leader() {
    return this.#context.first(this.roster);
  }

  #beat() {
    this.#context.timer(() => this.#beat(), this.#intervalMs);
    for (const peer of this.#context.peers) this.#context.send(peer, encode([0]));
  }

  #heard(peer) {
    this.#alarms.get(peer)?.();
    this.#alarms.set(
      peer,
      this.#context.timer(() => this.#evict(peer), this.#silenceMs),
    );
    if (this.#living.has(peer)) return;
    this.#living.add(peer);
    this.#context.changed();
  }

  #evict(peer) {
    this.#living.delete(peer);
    this.#context.evicted(peer);
    this.#context.changed();
  }
}

/** Probability that a beat and those before it are all lost. */
export function falseEvictionsPerBeat(loss, { misses } = HEARTBEAT) {
  return loss ** misses;
}
