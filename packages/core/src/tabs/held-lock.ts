import type { LockEffect } from '../machine/effect.ts';
import type { LockAnswer } from '../machine/input.ts';
import type { Lock } from '../machine/lock/lock.ts';
import { withResolvers } from '../runtime/promise.ts';
import type { EpochCount } from './epoch-count.ts';
import type { Locks } from './locks.ts';

/** One Web Lock, as one node asks for it, holds it, and lets go of it. */
export class HeldLock implements Lock {
  readonly #locks: Pick<Locks, 'request'>;
  readonly #name: string;
  readonly #count: EpochCount;
  readonly #answer: (answer: LockAnswer) => void;
  /** How to let go, by ticket. */
  readonly #open = new Map<number, () => void>();

  constructor(parts: {
    readonly locks: Pick<Locks, 'request'>;
    readonly name: string;
    readonly count: EpochCount;
    answer(answer: LockAnswer): void;
  }) {
    this.#locks = parts.locks;
    this.#name = parts.name;
    this.#count = parts.count;
    this.#answer = parts.answer;
  }

  carryOut({ act, ticket, above }: LockEffect): void {
    if (act === 'request' || act === 'steal') void this.#take(ticket, act === 'steal');
    else if (act === 'count') void this.#countOn(ticket, above);
    else this.#release(ticket);
  }

  close(): void {
    for (const ticket of [...this.#open.keys()]) this.#release(ticket);
  }

  async #take(ticket: number, steal: boolean): Promise<void> {
    const waiting = new AbortController();
    const { signal } = waiting;
    const { promise: released, resolve: release } = withResolvers<void>();
    // Nobody leads while the new holder is counted.
    const rest = this.#count.keepReady();
    this.#open.set(ticket, () => {
      // Within this very task, which may be the last before a freeze.
      waiting.abort();
      release();
      rest();
    });
    let isHeld = false;
    const held = (): Promise<void> | undefined => {
      // Given up while the grant was on its way.
      if (signal.aborted) return undefined;
      isHeld = true;
      this.#answer({ type: 'granted', ticket });
      return released;
    };
    try {
      // A theft cannot be called off: it is granted at once.
      await this.#locks.request(this.#name, steal ? { steal } : { signal }, held);
    } catch (error) {
      if (signal.aborted) return;
      this.#answer(
        isHeld ? { type: 'lost', ticket } : { type: 'failed', ticket, message: String(error) },
      );
    }
  }

  async #countOn(ticket: number, above: number): Promise<void> {
    try {
      const epoch = await this.#count.next(above);
      this.#answer({ type: 'counted', ticket, epoch });
    } catch (error) {
      this.#answer({ type: 'failed', ticket, message: String(error) });
    }
  }

  #release(ticket: number): void {
    this.#open.get(ticket)?.();
    this.#open.delete(ticket);
  }
}
