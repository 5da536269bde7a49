import type { Kernel } from '../kernel.ts';

/**
 * How long a waiter leaves the lock to a holder that does not lead. Whoever holds it may be frozen,
 * stopped or wedged: then nothing but taking it away helps (B1).
 */
export class Patience {
  readonly #kernel: Kernel;
  #since: number | null = null;
  #losses = 0;

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
  }

  /** Somebody leads: nothing to wait for. */
  rest(): void {
    this.#since = null;
    this.#losses = 0;
  }

  /** This node does not wait. */
  pause(): void {
    this.#since = null;
  }

  /**
   * A lock was taken away, by this node or from it, and perhaps for nothing: nodes that cannot hear
   * each other would rob each other in turns.
   */
  spent(): void {
    this.#since = null;
    this.#losses = Math.min(this.#losses + 1, LOSSES_MAX);
  }

  /** When to take the lock; `isSilent`: the silence of its holder is confirmed (M5). */
  endsAt(isSilent: boolean): number {
    const { now } = this.#kernel;
    this.#since ??= now;
    const waitMs = isSilent && this.#losses === 0 ? 0 : WAIT_MS * 2 ** this.#losses;
    return this.#since + waitMs + this.#rank() * STEP_MS;
  }

  /** One of the waiters goes first, so that they do not all take it at once. */
  #rank(): number {
    const { options, roster } = this.#kernel;
    const { record } = roster.self;
    let rank = 0;
    for (const other of roster.others()) {
      const isAbove = options.strategy.compare(other.record, record) < 0;
      if (other.record.candidate && other.suspectedAt === null && isAbove) rank += 1;
    }
    return Math.min(rank, RANK_MAX);
  }
}

/** From nobody leading to the theft; a holder that lives has counted by then, ten times over. */
const WAIT_MS = 5000;
/** Five minutes at most. */
const LOSSES_MAX = 6;
/** By how much the next in rank waits longer: enough for the first to be heard as the leader. */
const STEP_MS = 1500;
/** Whoever comes later has seen this many fail. */
const RANK_MAX = 8;
