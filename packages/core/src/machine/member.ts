/** A member as this node sees it. Frozen; a new object replaces it when anything changes. */
export interface Member {
  readonly id: string;
  /** Random uid of this start of the node: a restart under the same id is another instance. */
  readonly instance: string;
  /** Grows each time the member must re-announce itself. */
  readonly incarnation: number;
  /** Wall-clock milliseconds of its start, for seniority only; 0 = unstamped. */
  readonly startedAt: number;
  /** `suspect`: quiet here, not evicted. This node's own judgement. */
  readonly status: 'alive' | 'suspect';
  /** How this node reaches it. */
  readonly link: 'self' | 'direct' | 'relayed';
  readonly visibility: 'visible' | 'hidden';
  /** What the member's application says of itself: JSON, 1 KiB at most. */
  readonly meta?: unknown;
}
