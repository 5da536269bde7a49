import type { Kernel } from '../kernel.ts';
import type { PermitMessage } from './ballot-message.ts';
import type { Station } from './station.ts';

/** The leader's request to one voter to take over (Q10). Dies with the term. */
export class Handover {
  readonly #kernel: Kernel;
  readonly #station: Station;
  readonly #timeoutMs: number;
  #open: {
    readonly target: string;
    readonly permit: PermitMessage;
    readonly until: number;
  } | null = null;
  #toldAt = Number.NEGATIVE_INFINITY;

  constructor(kernel: Kernel, station: Station, timeoutMs: number) {
    this.#kernel = kernel;
    this.#station = station;
    this.#timeoutMs = timeoutMs;
  }

  /** Instance of who shall take over. */
  get target(): string | null {
    return this.#open?.target ?? null;
  }

  /** A second request does not lengthen the time of the first. */
  begin(target: string, permit: PermitMessage): void {
    const { now } = this.#kernel;
    const until = this.#open?.until ?? now + this.#timeoutMs;
    this.#open = { target, permit, until };
    this.#toldAt = Number.NEGATIVE_INFINITY;
    this.#kernel.wake(now);
  }

  /** Another leads. */
  met(instance: string): void {
    if (this.#open) this.end(this.#open.target === instance);
  }

  end(ok: boolean): void {
    if (!this.#open) return;
    this.#open = null;
    this.#kernel.outbox.emit({ type: 'transferdone', ok });
  }

  poll(now: number): number | 'failed' {
    if (!this.#open) return Number.POSITIVE_INFINITY;
    const { target, permit, until } = this.#open;
    if (now >= until) return 'failed';
    if (now >= this.#toldAt + AGAIN_MS) {
      this.#toldAt = now;
      this.#station.send(target, permit);
    }
    return Math.min(until, this.#toldAt + AGAIN_MS);
  }
}

const AGAIN_MS = 500;
