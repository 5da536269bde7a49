import type { Candidacy } from '../candidacy.ts';
import type { ChangeReason, TermEndReason } from '../effect.ts';
import type { Incumbency } from '../incumbency.ts';
import type { Kernel } from '../kernel.ts';
import type { BallotEffect } from './ballot.ts';
import type { Booth } from './booth.ts';
import type { Evidence } from './evidence.ts';
import type { Founding } from './founding.ts';
import type { Loyalty } from './loyalty.ts';
import type { Reign } from './reign.ts';
import type { QuorumSettings } from './settings.ts';
import type { Standing } from './standing.ts';
import type { Station } from './station.ts';

/** The parts of one quorum election, as they see each other. */
export interface QuorumParts {
  readonly kernel: Kernel;
  readonly settings: QuorumSettings;
  readonly office: Incumbency;
  readonly candidacy: Candidacy;
  readonly station: Station;
  readonly founding: Founding;
  readonly evidence: Evidence;
  readonly booth: Booth;
  readonly loyalty: Loyalty;
  readonly standing: Standing;
  readonly reign: Reign;
  /** What follows from this voter's ballot. */
  carryOut(effect: Exclude<BallotEffect, { readonly type: 'store' }>): void;
  /** This node's term, or its way to one, is over. */
  endTerm(reason: TermEndReason, cause: ChangeReason): void;
}
