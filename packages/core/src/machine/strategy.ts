import { compareText } from './record.ts';

/** What a strategy may look at. */
export interface Candidate {
  readonly id: string;
  /** Wall-clock milliseconds of the start; 0 = unstamped. */
  readonly startedAt: number;
}

/** A rule that everybody computes alike: who of the eligible living members leads. */
export interface Strategy {
  /** Part of the fingerprint: nodes with different rules refuse each other (E12). */
  readonly name: string;
  /** Negative when `a` ranks above `b`. A total order. */
  compare(a: Candidate, b: Candidate): number;
  /** Whether, of two leaders of one epoch, one that has led another goes first (E6). */
  readonly favorsLed: boolean;
}

/**
 * The longest-serving node leads: smallest `startedAt`, an unstamped one (0) last, ties to the
 * lowest id. The default.
 */
export function oldestNode(): Strategy {
  return {
    name: 'oldest-node',
    favorsLed: true,
    compare: (a, b) => age(a) - age(b) || compareText(a.id, b.id),
  };
}

/** The node with the largest id leads; ids are compared by code units. */
export function highestId(): Strategy {
  return {
    name: 'highest-id',
    favorsLed: false,
    compare: (a, b) => compareText(b.id, a.id),
  };
}

function age(candidate: Candidate): number {
  return candidate.startedAt === 0 ? Number.MAX_SAFE_INTEGER : candidate.startedAt;
}
