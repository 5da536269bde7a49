import type { AskMessage, BeatMessage } from './ballot-message.ts';
import type { QuorumParts } from './parts.ts';

/** Whom this voter follows, and so, whom it does not elect for a while (Q4, Q6). */
export class Loyalty {
  readonly #parts: QuorumParts;
  #heard: { readonly instance: string; readonly at: number } | null = null;
  #silentUntil = Number.NEGATIVE_INFINITY;

  constructor(parts: QuorumParts) {
    this.#parts = parts;
  }

  /** Instance of the leader that was heard last. */
  get leader(): string | null {
    return this.#heard?.instance ?? null;
  }

  /** Until when this voter says nothing, as it may have promised something that it forgot. */
  get silentUntil(): number {
    return this.#silentUntil;
  }

  heard(beat: BeatMessage): void {
    this.#heard = { instance: beat.leader.instance, at: this.#parts.kernel.now };
  }

  /** The leader has given its lease up itself: nobody needs to wait for its end. */
  release(): void {
    this.#heard = null;
  }

  /** The voter has started again, or its clock has jumped. */
  silence(): void {
    this.#silentUntil = this.#parts.kernel.now + this.#stickyMs;
  }

  /** Why this voter would elect nobody now; `null` when it would. */
  reluctance({ candidate, permit }: AskMessage): 'sticky' | 'silent' | null {
    const { kernel, reign, booth } = this.#parts;
    const leader = reign.isOn ? kernel.options.instance : this.leader;
    const isPermitted =
      permit !== null && permit.instance === leader && permit.epoch === booth.reached;
    // The leader is the stickiest voter of all, but to whom it hands over.
    if (reign.isOn) {
      if (isPermitted && reign.successor === candidate.instance) return null;
      return kernel.now < reign.stickyUntil ? 'sticky' : null;
    }
    if (isPermitted) return null;
    if (kernel.now < this.#silentUntil) return 'silent';
    const until = (this.#heard?.at ?? Number.NEGATIVE_INFINITY) + this.#stickyMs;
    return kernel.now < until && candidate.instance !== leader ? 'sticky' : null;
  }

  get #stickyMs(): number {
    return this.#parts.settings.timing.stickyMs;
  }
}
