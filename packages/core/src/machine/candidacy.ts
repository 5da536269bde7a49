/** What makes this node eligible; all of it together is its record's `candidate`. */
export class Candidacy {
  isWilling = true;
  isFrozen = false;
  isLeaving = false;
  /** The epoch to start above is not known yet, or cannot be learnt (E11). */
  isFloorPending: boolean;
  /** A fence has refused this node's side (X2). */
  isFenced = false;
  #resignedUntil = Number.NEGATIVE_INFINITY;

  constructor(isFloorPending: boolean) {
    this.isFloorPending = isFloorPending;
  }

  get isEligible(): boolean {
    const isAble = !this.isFrozen && !this.isLeaving && !this.isFloorPending;
    return this.isWilling && isAble && !this.isFenced && !this.#hasResigned;
  }

  resign(now: number): void {
    this.#resignedUntil = now + STAND_BACK_MS;
  }

  /** Another has led since (E13). */
  forgetResignation(): void {
    this.#resignedUntil = Number.NEGATIVE_INFINITY;
  }

  /** Ends a resignation that is due; gives the time when it will be. */
  poll(now: number): number {
    if (!this.#hasResigned) return Number.POSITIVE_INFINITY;
    if (now < this.#resignedUntil) return this.#resignedUntil;
    this.forgetResignation();
    return Number.POSITIVE_INFINITY;
  }

  get #hasResigned(): boolean {
    return this.#resignedUntil !== Number.NEGATIVE_INFINITY;
  }
}

/**
 * How long this node lets another lead although it ranks above: after a pause of its own that cost
 * it the lead, and the longer, the more often it is deposed. A node that comes and goes would
 * otherwise move the lead with every turn. It restrains preemption only: when nobody leads, the
 * winner claims.
 */
export class Restraint {
  until = Number.NEGATIVE_INFINITY;
  #losses = 0;
  #lostAt = Number.NEGATIVE_INFINITY;

  /** The lead was lost by a stall or a freeze (E8). */
  slept(now: number): void {
    this.#count(now);
    this.#holdBack(now, Math.max(0, this.#losses - 1));
  }

  /** A higher epoch ended the lead; the first time that is how partitions heal (E7). */
  deposed(now: number): void {
    this.#count(now);
    if (this.#losses > 1) this.#holdBack(now, this.#losses - 2);
  }

  #count(now: number): void {
    const forgiven = Math.floor((now - this.#lostAt) / FORGIVE_MS);
    this.#losses = Math.max(0, this.#losses - forgiven) + 1;
    this.#lostAt = now;
  }

  #holdBack(now: number, doublings: number): void {
    const ms = Math.min(STAND_BACK_MS * 2 ** doublings, STAND_BACK_MAX_MS);
    this.until = Math.max(this.until, now + ms);
  }
}

/** Ineligible after a resignation, and not preempting after a pause: another shall lead (E13). */
const STAND_BACK_MS = 10_000;
/** Long enough to be calm, short enough that the strategy's winner leads again. */
const STAND_BACK_MAX_MS = 20_000;
/** One loss is forgotten in each such time without another. */
const FORGIVE_MS = 60_000;
