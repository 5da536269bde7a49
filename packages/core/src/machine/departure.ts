import type { Kernel } from './kernel.ts';

/** This node's announced leave: told to all, again until they have acknowledged it (M7). */
export class Departure {
  readonly #kernel: Kernel;
  readonly #waiting: Set<string>;
  readonly #until: number;
  #toldAt: number;

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
    const { roster, now } = kernel;
    this.#waiting = new Set([...roster.others()].map((entry) => entry.record.instance));
    this.#until = now + LEAVE_MS;
    this.#toldAt = now;
    this.#tell();
  }

  acknowledged(instance: string): void {
    this.#waiting.delete(instance);
    this.#kernel.wake(this.#kernel.now);
  }

  /** Whether everybody knows, or the time is up. */
  isOver(now: number): boolean {
    for (const instance of this.#waiting) {
      if (!this.#kernel.roster.get(instance)) this.#waiting.delete(instance);
    }
    return this.#waiting.size === 0 || now >= this.#until;
  }

  /** Tells those who have not answered again when that is due; gives the time of the next. */
  poll(now: number): number {
    if (now >= this.#toldAt + LEAVE_AGAIN_MS) {
      this.#toldAt = now;
      this.#tell();
    }
    return Math.min(this.#until, this.#toldAt + LEAVE_AGAIN_MS);
  }

  #tell(): void {
    const { roster, router } = this.#kernel;
    router.broadcast({ type: 'leave', record: { ...roster.self.record, status: 'left' } });
  }
}

/** A leave that nobody acknowledges ends all the same (M7). */
const LEAVE_MS = 1000;
const LEAVE_AGAIN_MS = 250;
