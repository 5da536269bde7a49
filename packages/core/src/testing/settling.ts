/**
 * Lets promises settle between two events of a simulation, however long the chains of promises are.
 * A turn of the platform's task queue does that, and so does a tick of Node's, which runs when no
 * microtask is left and costs a fifth.
 */
export class Settling {
  readonly #channel = new MessageChannel();
  readonly #nextTick = (globalThis as { process?: { nextTick?: NextTick } }).process?.nextTick;
  #resolve: () => void = () => undefined;
  #count = 0;

  constructor() {
    this.#channel.port1.onmessage = () => this.#resolve();
  }

  settle(): Promise<void> {
    this.#count += 1;
    if (this.#nextTick === undefined || this.#count % TICKS_MAX === 0) return this.#turn();
    return new Promise(this.#nextTick);
  }

  /** Must be called: an open channel keeps a process alive. */
  close(): void {
    this.#channel.port1.close();
  }

  #turn(): Promise<void> {
    return new Promise((resolve) => {
      this.#resolve = resolve;
      this.#channel.port2.postMessage(null);
    });
  }
}

type NextTick = (callback: () => void) => void;

/** Ticks alone would keep real timers, such as a test's time limit, from ever firing. */
const TICKS_MAX = 256;
