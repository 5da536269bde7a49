import type { ChangeRefusal, VotersRefusal } from '../effect.ts';
import type { VotersChange } from '../election.ts';
import type { Kernel } from '../kernel.ts';
import type { AckMessage } from './ballot-message.ts';
import { hasVoter, isSameVoter, majorityOf, type Voter, type VoterConfig } from './config.ts';

export interface RollOptions {
  /** A voter that is gone for so long is removed; `null`: never. */
  readonly removeAfterMs: number | null;
  /** No voter is removed unasked below so many. */
  readonly votersMin: number;
  /** Between two changes that nobody asked for. */
  readonly settleMs: number;
}

/** What the roll needs of the election while this node leads. */
export interface RollHost {
  readonly config: VoterConfig;
  readonly self: Voter;
  readonly hasPermit: boolean;
  isHeld(): boolean;
  refusalOf(voters: readonly Voter[]): VotersRefusal | null;
  reconfigure(voters: readonly Voter[]): void;
  introduce(instance: string): void;
}

interface Request extends VotersChange {
  readonly ticket: number;
  readonly until: number;
  /** The config that carries the change out, once it is written. */
  written: VoterConfig | null;
}

interface Learner {
  readonly voter: Voter;
  /** Rounds that it has answered with the config in force stored. */
  rounds: number;
}

/** How the leader changes who votes: one at a time, asked for or not (Q9). */
export class Roll {
  readonly #kernel: Kernel;
  readonly #options: RollOptions;
  readonly #requests: Request[] = [];
  #learner: Learner | null = null;
  /** When each voter has acknowledged last, by storage id. */
  readonly #ackedAt = new Map<string, number>();
  /** Who answers under a voter's id with another storage: the old one is gone for good. */
  readonly #successors = new Map<string, Voter>();
  #changedAt = Number.NEGATIVE_INFINITY;
  #begunAt = 0;

  constructor(kernel: Kernel, options: RollOptions) {
    this.#kernel = kernel;
    this.#options = options;
  }

  /** A term begins. */
  begin(now: number): void {
    this.#ackedAt.clear();
    this.#successors.clear();
    this.#learner = null;
    this.#begunAt = now;
    this.#changedAt = now;
  }

  /** The term is over: what was asked for did not come about, or nobody knows. */
  end(): void {
    for (const { ticket } of this.#requests.splice(0)) this.#tell(ticket, 'lost');
    this.#learner = null;
  }

  ask(change: VotersChange, ticket: number, now: number): void {
    if (this.#requests.length >= REQUESTS_MAX) return this.#tell(ticket, 'too-many');
    this.#requests.push({ ...change, ticket, until: now + CHANGE_MS, written: null });
    this.#kernel.wake(now);
  }

  /** Who is to get the beats besides the voters. */
  get learner(): Voter | null {
    return this.#learner?.voter ?? null;
  }

  introduced(voter: Voter): void {
    const request = this.#requests[0];
    if (request?.kind !== 'add' || request.id !== voter.id || request.written) return;
    if (!this.#learner || !isSameVoter(this.#learner.voter, voter))
      this.#learner = { voter, rounds: 0 };
    this.#kernel.wake(this.#kernel.now);
  }

  acknowledged(ack: AckMessage, config: VoterConfig, now: number): void {
    const { voter } = ack;
    const isVoter = hasVoter(config, voter);
    const isLearner = this.#learner !== null && isSameVoter(this.#learner.voter, voter);
    if (isVoter || isLearner) this.#ackedAt.set(voter.storageId, now);
    if (isVoter) return;
    if (config.voters.some(({ id }) => id === voter.id)) this.#successors.set(voter.id, voter);
    const holds = ack.configEpoch === config.epoch && ack.configVersion === config.version;
    if (this.#learner && isLearner && holds) this.#learner.rounds += 1;
  }

  poll(now: number, host: RollHost): number {
    const request = this.#requests[0];
    if (request) return this.#pollRequest(request, now, host);
    return this.#pollPolicy(now, host);
  }

  #pollRequest(request: Request, now: number, host: RollHost): number {
    const refusal = this.#advance(request, now, host);
    if (refusal === 'wait' && now < request.until) return Math.min(request.until, now + POLL_MS);
    this.#requests.shift();
    this.#learner = null;
    const outcome = refusal === 'wait' ? this.#waitedFor(request) : refusal;
    this.#tell(request.ticket, outcome);
    return now;
  }

  /** Does the next step; gives the outcome (`null`: done), or `wait`. */
  #advance(request: Request, now: number, host: RollHost): ChangeRefusal | 'wait' | null {
    const { config } = host;
    if (request.written) return host.isHeld() ? null : 'wait';
    if (host.hasPermit) return 'transfer-pending';
    const voters =
      request.kind === 'add' ? this.#added(request, host) : without(config, request.id);
    if (voters === 'wait' || typeof voters === 'string') return voters;
    if (voters === null || voters.length === config.voters.length) return null;
    const refusal = host.refusalOf(voters);
    if (refusal && refusal !== 'config-quorum') return refusal;
    // A majority that does not answer could not undo the change either.
    if (refusal || !this.#isServed(voters, now, host)) return 'wait';
    host.reconfigure(voters);
    this.#changedAt = now;
    request.written = host.config;
    // Whoever takes the vote of an id does not want it back under another storage.
    if (request.kind === 'remove' && request.ticket > 0) this.#successors.delete(request.id);
    return 'wait';
  }

  #added({ id }: Request, host: RollHost): readonly Voter[] | ChangeRefusal | 'wait' | null {
    const entry = this.#kernel.roster.byId(id);
    if (!entry || !this.#isHere(id)) return 'not-a-member';
    const isKnown = host.config.voters.some((voter) => voter.id === id);
    // With another storage it is another voter: the old one has to be removed first (Q2).
    if (isKnown) return this.#successors.has(id) ? 'one-at-a-time' : null;
    if (!this.#learner) {
      host.introduce(entry.record.instance);
      return 'wait';
    }
    if (this.#learner.rounds < LEARNER_ROUNDS) return 'wait';
    return [...host.config.voters, this.#learner.voter];
  }

  #waitedFor({ kind, written }: Request): ChangeRefusal {
    if (written || kind === 'remove') return 'config-quorum';
    if (!this.#learner) return 'no-storage';
    return this.#learner.rounds < LEARNER_ROUNDS ? 'not-following' : 'config-quorum';
  }

  #pollPolicy(now: number, host: RollHost): number {
    const dueAt = Math.max(this.#changedAt + this.#options.settleMs, now);
    if (now < dueAt) return dueAt;
    const change = host.hasPermit ? null : this.#wanted(now, host);
    if (!change) return now + this.#options.settleMs;
    // Also when it is refused at once: the next try comes after a pause.
    this.#changedAt = now;
    this.ask(change, 0, now);
    return now;
  }

  #wanted(now: number, host: RollHost): VotersChange | null {
    const { config } = host;
    for (const [id, voter] of this.#successors) {
      const known = config.voters.find((one) => one.id === id);
      // Remove first, then add: the other way round the newcomer would be needed at once (Q9).
      if (known && isSameVoter(known, voter)) this.#successors.delete(id);
      else if (known && id !== host.self.id) return { kind: 'remove', id };
      // Whoever has gone again is added when it is back, and holds up no other change till then.
      else if (!known && this.#isHere(id)) return { kind: 'add', id };
    }
    const { removeAfterMs, votersMin } = this.#options;
    if (removeAfterMs === null || config.voters.length <= votersMin) return null;
    const gone = config.voters.find((voter) => this.#isGone(voter, now, removeAfterMs, host));
    const isSafe = gone && this.#isServed(config.voters, now, host);
    return isSafe ? { kind: 'remove', id: gone.id } : null;
  }

  #isHere(id: string): boolean {
    return this.#kernel.roster.byId(id)?.suspectedAt === null;
  }

  #isGone(voter: Voter, now: number, afterMs: number, host: RollHost): boolean {
    if (isSameVoter(voter, host.self) || this.#kernel.roster.byId(voter.id)) return false;
    const ackedAt = this.#ackedAt.get(voter.storageId) ?? this.#begunAt;
    return now >= ackedAt + afterMs;
  }

  /** Whether a majority of these voters has answered of late. */
  #isServed(voters: readonly Voter[], now: number, { self }: RollHost): boolean {
    const living = voters.filter((voter) => {
      const ackedAt = this.#ackedAt.get(voter.storageId) ?? Number.NEGATIVE_INFINITY;
      return isSameVoter(voter, self) || now < ackedAt + LIVING_MS;
    });
    return living.length >= majorityOf(voters.length);
  }

  #tell(ticket: number, refusal: ChangeRefusal | null): void {
    if (ticket > 0) this.#kernel.outbox.emit({ type: 'voterschanged', ticket, refusal });
  }
}

function without({ voters }: VoterConfig, id: string): readonly Voter[] {
  return voters.filter((voter) => voter.id !== id);
}

/** A change that has not come about by then is refused: somebody who is needed does not answer. */
const CHANGE_MS = 10_000;
const POLL_MS = 250;
const REQUESTS_MAX = 8;
/** A newcomer votes once it has answered so often: one that cannot keep up would cost a majority. */
const LEARNER_ROUNDS = 3;
/** Acknowledged within so long: it still lives. */
const LIVING_MS = 3000;
