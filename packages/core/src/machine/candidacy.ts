/** What makes this node eligible; all of it together is its record's `candidate`. */
export class Candidacy {
  isWilling = true;
  isFrozen = false;
  isLeaving = false;
  /** The epoch to start above is not known yet, or cannot be learnt (E11). */
  isFloorPending: boolean;
  #resignedUntil = Number.NEGATIVE_INFINITY;

  constructor(isFloorPending: boolean) {
    this.isFloorPending = isFloorPending;
  }

  get isEligible(): boolean {
    const isAble = !this.isFrozen && !this.isLeaving && !this.isFloorPending;
    return this.isWilling && isAble && !this.#hasResigned;
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

/** Ineligible after a resignation, and not preempting after a pause: another shall lead (E13). */
export const STAND_BACK_MS = 10_000;
