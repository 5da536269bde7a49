import type { LockEffect } from '../effect.ts';
import type { Elect } from '../election.ts';
import type { LockAnswer } from '../input.ts';
import type { Strategy } from '../strategy.ts';
import { oldestNode } from '../strategy.ts';
import { LockElection } from './election.ts';

/** An election under one lock, as `webLock()` of `@doyen/core/tabs` makes it. */
export interface LockRule {
  readonly mode: 'lock';
  readonly name: string;
  /** Who takes the lock first from a holder that is stopped. @internal */
  readonly rankBy: Strategy;
  /** @internal */
  readonly elect: Elect;
  /**
   * What the platform has of it. Throws when that is missing, or cannot reach all that the node does.
   * @internal
   */
  readonly open: OpenLock;
}

/** @internal */
export type OpenLock = (surroundings: {
  readonly cluster: string;
  /** What the transport reaches. */
  readonly scope: 'browser' | undefined;
  answer(answer: LockAnswer): void;
}) => Lock;

/** The lock of one cluster as one node has it. */
export interface Lock {
  carryOut(effect: LockEffect): void;
  /** Gives everything back. */
  close(): void;
}

/** The same rule on whatever `open` gives. */
export function lockRule(open: OpenLock): LockRule {
  const elect: Elect = (kernel) => new LockElection(kernel);
  return Object.freeze({ mode: 'lock', name: 'web-lock', rankBy: oldestNode(), elect, open });
}
