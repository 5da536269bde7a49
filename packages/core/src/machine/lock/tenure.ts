import type { LockAct } from '../effect.ts';
import type { LockAnswer } from '../input.ts';
import type { Kernel } from '../kernel.ts';

/**
 * `none`; `queued`: waits for the lock. Whoever has it: `counting`, until the count of its holders
 * is known, and `held`.
 */
export type TenureState = 'none' | 'queued' | 'counting' | 'held';

/** What this node has of the lock. Each request is another ticket: answers to an old one are late. */
export class Tenure {
  readonly #kernel: Kernel;
  #state: TenureState = 'none';
  #ticket = 0;
  #since = 0;

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
  }

  get state(): TenureState {
    return this.#state;
  }

  /** Whether the lock is this node's, as far as it knows. */
  get isHolder(): boolean {
    return this.#state === 'counting' || this.#state === 'held';
  }

  /** Queues up behind the others. */
  queue(): void {
    this.#begin('request');
  }

  /** Takes the lock at once, from whoever holds it. */
  steal(): void {
    this.release();
    this.#begin('steal');
  }

  /** Has the holders counted on, above `above`: for the holder only. */
  count(above: number): void {
    this.#enter('counting');
    this.#act('count', above);
  }

  /** Gives the lock back, or the place in its queue. */
  release(): void {
    if (this.#state === 'none') return;
    this.#act('release');
    this.#enter('none');
  }

  /** Whether the answer is to the request that stands. What follows from it is up to the caller. */
  take(answer: LockAnswer): boolean {
    if (answer.ticket !== this.#ticket || this.#state === 'none') return false;
    if (answer.type === 'granted') return this.#state === 'queued';
    if (answer.type === 'counted') {
      if (this.#state !== 'counting') return false;
      this.#enter('held');
    } else {
      this.#act('release');
      this.#enter('none');
    }
    return true;
  }

  /** When the count has taken too long. */
  get overdueAt(): number {
    return this.#state === 'counting' ? this.#since + COUNT_MS : Number.POSITIVE_INFINITY;
  }

  #begin(act: 'request' | 'steal'): void {
    this.#ticket += 1;
    this.#enter('queued');
    this.#act(act);
  }

  #enter(state: TenureState): void {
    this.#state = state;
    this.#since = this.#kernel.now;
  }

  #act(act: LockAct, above = 0): void {
    this.#kernel.outbox.lock({ type: 'lock', act, ticket: this.#ticket, above });
  }
}

/** A disk that is awake counts within a fraction of a second; the lock is not kept longer for it. */
const COUNT_MS = 10_000;
