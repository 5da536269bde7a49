import { compareText } from './record.ts';
import type { Candidate, Strategy } from './strategy.ts';

/** Who leads, as it travels. `(epoch, instance)` is unique. */
export interface Claim {
  readonly epoch: number;
  readonly leader: Candidate;
  readonly instance: string;
  /** The leader itself has given it up (E8). */
  readonly vacated: boolean;
  /** The leader has been in company: it has led another, or followed one before. */
  readonly led: boolean;
  /** Best rank that the claim holds against; a better candidate must outrank it to preempt (E7). */
  readonly defends: Candidate | null;
}

/** What a leader knows of its own side, read and frozen when a rival of its epoch appears (E6). */
export interface Probe {
  /** Absent when the application has set no tiebreaker. */
  readonly tiebreak: Tiebreak | null;
}

/** What the application knows of its own side. */
export interface Tiebreak {
  readonly nodeCount: number;
  readonly createdAt: number;
}

export interface Contender {
  readonly claim: Claim;
  readonly tiebreak: Tiebreak | null;
}

/** Two leaders of one epoch have met, and this node is one of them (E6). */
export interface Collision {
  rival: Claim;
  /** Read when the rival appeared; not read again for this collision. */
  readonly tiebreak: Tiebreak | null;
  readonly since: number;
  toldAt: number;
}

/** Negative when `a` should lead on after two leaders of one epoch have met. A total order (E6). */
export function compareContenders(a: Contender, b: Contender, strategy: Strategy): number {
  return (
    compareTiebreaks(a.tiebreak, b.tiebreak) ||
    (strategy.favorsLed ? Number(b.claim.led) - Number(a.claim.led) : 0) ||
    strategy.compare(a.claim.leader, b.claim.leader) ||
    compareText(a.claim.leader.id, b.claim.leader.id) ||
    compareText(a.claim.instance, b.claim.instance)
  );
}

function compareTiebreaks(a: Tiebreak | null, b: Tiebreak | null): number {
  if (!a || !b) return Number(!a) - Number(!b);
  return b.nodeCount - a.nodeCount || a.createdAt - b.createdAt;
}

/** The best ranked of some candidates, `null` among none. */
export function bestOf(
  strategy: Strategy,
  candidates: readonly (Candidate | null)[],
): Candidate | null {
  let best: Candidate | null = null;
  for (const one of candidates) {
    if (one && (!best || strategy.compare(one, best) < 0)) best = one;
  }
  return best;
}

/** Epochs are safe integers, with room to count on (E11). */
export const EPOCH_MAX = 2 ** 53 - 2 ** 32;
/** A larger step from one peer is no election (E11). */
const EPOCH_JUMP_MAX = 2 ** 20;

/** Whether a claim may have this epoch; `seen` is the highest so far, `null` when any will do. */
export function isPlausibleEpoch(epoch: number, seen: number | null): boolean {
  if (epoch < 1 || epoch > EPOCH_MAX) return false;
  return seen === null || epoch - seen <= EPOCH_JUMP_MAX;
}
