/** What a strategy may look at. */
export interface Candidate {
  readonly id: string;
  readonly startedAt: number;
}

/** A rule that everybody computes alike: who of the eligible living members leads. */
export interface Strategy {
  /** Part of the fingerprint: nodes with different rules refuse each other (E12). */
  readonly name: string;
  /** Negative when `a` ranks above `b`. A total order. */
  compare(a: Candidate, b: Candidate): number;
}
