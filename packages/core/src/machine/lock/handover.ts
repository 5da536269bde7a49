import type { Kernel } from '../kernel.ts';

interface Offer {
  readonly instance: string;
  readonly epoch: number;
  readonly until: number;
  toldAt: number;
}

/**
 * A lead that changes hands by agreement: its giver keeps the lock until the one it names takes it
 * away, so that nobody in the queue comes between, and the giver leads on when that one fails.
 */
export class Handover {
  readonly #kernel: Kernel;
  #offer: Offer | null = null;
  #isTaking = false;

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
  }

  /** Whom this node hands its lead to. */
  get to(): string | null {
    return this.#offer?.instance ?? null;
  }

  /** Whether this node is about to take a lead over. */
  get isTaking(): boolean {
    return this.#isTaking;
  }

  /** The leader of `epoch`, which this node is, asks another to take over. */
  begin(instance: string, epoch: number): void {
    this.fail();
    const { now } = this.#kernel;
    this.#offer = { instance, epoch, until: now + OFFER_MS, toldAt: now };
    this.#tell(this.#offer);
  }

  /** Somebody leads: was it to be that one? */
  met(instance: string): void {
    this.#isTaking = false;
    if (this.#offer) this.#end(this.#offer.instance === instance);
  }

  fail(): void {
    if (this.#offer) this.#end(false);
  }

  take(): void {
    this.#isTaking = true;
  }

  /** Taking over has come to its end; whether this node was at it. */
  taken(): boolean {
    const wasTaking = this.#isTaking;
    this.#isTaking = false;
    return wasTaking;
  }

  /** Repeats the offer, and gives it up in time; gives the time of the next. */
  poll(now: number): number {
    const offer = this.#offer;
    if (!offer) return Number.POSITIVE_INFINITY;
    if (now >= offer.until) {
      this.#end(false);
      return Number.POSITIVE_INFINITY;
    }
    const { heartbeatIntervalMs } = this.#kernel.options.detection;
    if (now >= offer.toldAt + heartbeatIntervalMs) {
      offer.toldAt = now;
      this.#tell(offer);
    }
    return Math.min(offer.until, offer.toldAt + heartbeatIntervalMs);
  }

  #end(ok: boolean): void {
    this.#offer = null;
    this.#kernel.outbox.emit({ type: 'transferdone', ok });
  }

  #tell({ instance, epoch }: Offer): void {
    const { id, startedAt } = this.#kernel.roster.self.record;
    this.#kernel.wake(this.#kernel.now);
    const defends = { id, startedAt };
    this.#kernel.router.post(instance, { type: 'transfer', epoch, defends });
  }
}

/** A target that does not lead by then is not going to. */
const OFFER_MS = 5000;
