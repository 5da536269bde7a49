import type { Channels } from './channels.ts';
import type { Confirmations } from './confirmations.ts';
import type { Departure } from './departure.ts';
import type { Detector } from './detector.ts';
import type { Election } from './election.ts';
import type { Greeting } from './greeting.ts';
import type { Health } from './health.ts';
import type { Links } from './links.ts';
import type { MachineOptions } from './options.ts';
import type { Outbox } from './outbox.ts';
import type { Rings } from './rings.ts';
import type { Roster } from './roster.ts';
import type { Router } from './router.ts';
import type { Stall } from './stall.ts';

/** The parts of one machine, as they see each other. `now` is the time of the current input. */
export interface Kernel {
  readonly options: MachineOptions;
  readonly health: Health;
  readonly stall: Stall;
  readonly outbox: Outbox;
  readonly links: Links;
  readonly roster: Roster;
  readonly rings: Rings;
  readonly router: Router;
  readonly detector: Detector;
  readonly election: Election;
  readonly greeting: Greeting;
  readonly channels: Channels;
  readonly confirmations: Confirmations;
  /** This node's leave, once it is announced. */
  departure: Departure | null;
  now: number;
  /** Something is due at `at`, perhaps earlier than all that was due before. */
  wake(at: number): void;
  /** The node has met the cluster, or knows that it is alone (E9). Idempotent. */
  settle(): void;
  /** Most links are quiet at once, or no longer are (M10). */
  isolated(isIsolated: boolean): void;
  /** The node cannot be a member: ends the machine in state `failed`. */
  fail(code: 'duplicate-id' | 'election-mismatch', message: string): void;
}
