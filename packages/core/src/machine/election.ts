import type { Claim, Tiebreak } from './claim.ts';
import type { LeaveReason } from './effect.ts';
import type { LockAnswer } from './input.ts';
import type { Kernel } from './kernel.ts';
import type { Link } from './links.ts';
import type { ClaimMessage, FencedMessage, Summary, TransferMessage } from './message.ts';
import type { VoterConfig } from './quorum/config.ts';
import type { Entry } from './roster.ts';

/** Makes the election of one machine. */
export type Elect = (kernel: Kernel) => Election;

/** Which part a node plays where voters decide; `starting` until its store has answered. */
export type VoterRole = 'starting' | 'founding' | 'voter' | 'observer';

/** Why a voter lost its storage. */
export type StorageProblem = 'storage-failed' | 'storage-corrupt' | 'storage-conflict';

/** What the application asks of the leader (Q9). */
export interface VotersChange {
  readonly kind: 'add' | 'remove';
  readonly id: string;
}

/** What an election has besides in which voters decide. */
export interface Voting {
  readonly config: VoterConfig | null;
  readonly role: VoterRole;
  /** The newest evidence among those who elected this node (Q11). */
  readonly evidence: unknown;
  /** What the store held; `null` for nothing. `freshId` names a storage that is new. */
  restore(bytes: Uint8Array | null, freshId: string): void;
  stored(ticket: number): void;
  storageFailed(problem: StorageProblem, message: string): void;
  /** Ends in one `voterschanged` event with the same ticket. */
  changeVoters(change: VotersChange, ticket: number): void;
}

/** What an election has besides that rests on a lock. */
export interface Locking {
  answered(answer: LockAnswer): void;
}

/** How a cluster agrees on its leader: what the other parts of the machine ask of it and tell it. */
export interface Election {
  readonly epoch: number;
  readonly claim: Claim | null;
  /** The leader in force (E5). */
  readonly leader: Entry | null;
  readonly voting?: Voting;
  readonly locking?: Locking;

  /** Whether a term of this node runs, though it may not say so before it hears from others. */
  readonly isInTerm: boolean;
  /** Whether this node leads, and may say so at `now`. */
  leads(now: number): boolean;
  /** Until when leadership is probable, were nothing more heard; 0 when not leading. */
  validUntil(now: number): number;

  // From the application.
  setTiebreaker(read: (() => Tiebreak | null) | null): void;
  setFloor(epoch: number | null): void;
  setCandidacy(isWilling: boolean): void;
  resign(): void;
  /** False, and nothing happens, unless this node leads and `id` may. */
  transfer(id: string): boolean;
  /** A resource has refused this node's term, having seen `high` (X2). */
  fenced(high: number): void;
  leave(): void;
  /** Asks those who can confirm this term anew. */
  ask(): void;
  /** Whether they have, since `since`. */
  isConfirmed(since: number): boolean;

  // From the machine.
  freeze(): void;
  resume(): void;
  /** This node slept for `gapMs`. */
  stalled(gapMs: number): void;
  /** Everybody has been asked anew after a stall. */
  amnestyOver(): void;
  /** The node has met the cluster, or knows that it is alone. */
  settle(): void;
  rosterChanged(cause: LeaveReason | 'join' | 'update' | 'suspect'): void;
  /** Does what is due; gives the time of the next. */
  poll(now: number): number;

  // From and to other nodes.
  /** What rides on every ping and pong. */
  summary(): Summary;
  message(): ClaimMessage | null;
  hear(summary: Summary, from: string, link: Link): void;
  /** Takes a claim in, from `from` over `link` (directly or relayed). */
  receive(message: ClaimMessage, from: string, link: Link): void;
  receiveTransfer(message: TransferMessage, from: string): void;
  receiveFenced(message: FencedMessage, from: string, link: Link): void;
  /** A message of the voters among themselves. */
  receiveBallot(bytes: Uint8Array, from: string, link: Link): void;
}
