import type { Lifecycle } from '../../src/machine/input.ts';
import type { Host } from '../../src/runtime/host.ts';

interface Timer {
  readonly at: number;
  readonly callback: () => void;
}

/** A host whose time only passes in `pass()`. */
export class VirtualHost implements Host {
  readonly #timers = new Set<Timer>();
  #now = 0;
  #state = 1;
  #lifecycle: (kind: Lifecycle) => void = () => undefined;

  get timerCount(): number {
    return this.#timers.size;
  }

  now(): number {
    return this.#now;
  }

  wallNow(): number {
    return 1_700_000_000_000 + this.#now;
  }

  random(): number {
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0;
    return this.#state / 2 ** 32;
  }

  timer(callback: () => void, delayMs: number): () => void {
    const timer = { at: this.#now + delayMs, callback };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  watchLifecycle(listener: (kind: Lifecycle) => void, signal: AbortSignal): void {
    this.#lifecycle = (kind) => {
      if (!signal.aborted) listener(kind);
    };
  }

  /** The page reports its lifecycle. */
  report(kind: Lifecycle): void {
    this.#lifecycle(kind);
  }

  /** Lets time pass, and every promise settle that it moves. */
  async pass(ms: number): Promise<void> {
    const end = this.#now + ms;
    await settle();
    for (let next = this.#due(end); next; next = this.#due(end)) {
      this.#timers.delete(next);
      this.#now = Math.max(this.#now, next.at);
      next.callback();
      await settle();
    }
    this.#now = end;
  }

  /** Time passes while nothing runs: timers are late afterwards. */
  stall(ms: number): void {
    this.#now += ms;
  }

  #due(end: number): Timer | undefined {
    return [...this.#timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
  }
}

/** Lets every promise settle that needs no time. */
export async function settle(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}
