import type { StorageProblem, VoterRole } from '../election.ts';
import {
  type AskContext,
  type Ballot,
  type BallotStep,
  receiveAck,
  receiveAsk,
  receiveBeat,
  receiveConfig,
  receiveVote,
  reconfigure,
  stand,
  standDown,
  startBallot,
  stored,
} from './ballot.ts';
import type {
  AckMessage,
  AskMessage,
  BeatMessage,
  ConfigMessage,
  VoteMessage,
} from './ballot-message.ts';
import { compareConfigs, hasVoter, type Voter, type VoterConfig } from './config.ts';
import type { QuorumParts } from './parts.ts';
import { decodeRecord, encodeRecord, RecordError } from './record-codec.ts';
import { blankRecord, type VoterRecord } from './voter-record.ts';

/**
 * Where this node's ballot lies: nothing gets in while it is being written, and nothing gets out
 * before it is. Without a store there is no ballot, and the node observes (Q2).
 */
export class Booth {
  readonly #parts: QuorumParts;
  #ballot: Ballot | null = null;
  #storage: 'pending' | 'ready' | 'none' | 'failed';
  #ticket = 0;
  /** What came while the record was being written. */
  #deferred: (() => void)[] = [];
  /** What an observer without a storage knows of the voters. */
  #knownConfig: VoterConfig | null = null;
  #told: { readonly config: VoterConfig | null; readonly role: VoterRole };

  constructor(parts: QuorumParts) {
    this.#parts = parts;
    this.#storage = parts.kernel.options.hasStore ? 'pending' : 'none';
    this.#told = { config: null, role: this.role };
  }

  get ballot(): Ballot | null {
    return this.#ballot;
  }

  get isStoring(): boolean {
    return this.#ballot?.isStoring ?? false;
  }

  /** The epoch that this voter has reached. */
  get reached(): number {
    return this.#ballot?.record.epoch ?? 0;
  }

  get config(): VoterConfig | null {
    return this.#ballot?.record.config ?? this.#knownConfig;
  }

  get role(): VoterRole {
    if (this.#storage === 'pending') return 'starting';
    if (!this.#ballot) return 'observer';
    const { record, self } = this.#ballot;
    const { founding, settings, kernel } = this.#parts;
    if (hasVoter(record.config, self)) return founding.isComplete(record) ? 'voter' : 'founding';
    const isFounder = settings.founders.includes(kernel.options.id);
    return isFounder && record.config === null ? 'founding' : 'observer';
  }

  /** What the store held (Q1). True when this voter may have promised something before. */
  restore(bytes: Uint8Array | null, freshId: string): boolean {
    if (this.#storage !== 'pending') return false;
    const { options } = this.#parts.kernel;
    try {
      const record = bytes && decodeRecord(bytes, options);
      this.#storage = 'ready';
      this.#ballot = startBallot(options.id, options.instance, record ?? blankRecord(freshId));
      if (record) this.#parts.office.see(record.epoch);
      else this.#store(this.#ballot.record);
      return record !== null;
    } catch (error) {
      if (!(error instanceof RecordError)) throw error;
      this.fail('storage-corrupt', error.message);
      return false;
    }
  }

  /** Without what it has stored a node votes for nobody (Q2). */
  fail(problem: StorageProblem, message: string): void {
    if (this.#storage === 'failed' || this.#storage === 'none') return;
    this.#storage = 'failed';
    this.#knownConfig = this.config;
    this.#ballot = null;
    this.#deferred = [];
    const detail = `this node only observes from now on: ${message}`;
    this.#parts.kernel.outbox.emit({ type: 'fault', code: problem, message: detail });
    this.tell();
  }

  stored(ticket: number): void {
    if (!this.#ballot?.isStoring || ticket !== this.#ticket) return;
    this.#run(stored(this.#ballot));
    const deferred = this.#deferred;
    this.#deferred = [];
    for (const input of deferred) this.whenStored(input);
  }

  /** Inputs wait while the record is being written: the disk decides what this voter is. */
  whenStored(input: () => void): void {
    if (!this.isStoring) input();
    else if (this.#deferred.length < DEFERRED_MAX) this.#deferred.push(input);
  }

  // What happens to the ballot. Nothing without one.

  stand(epochSeen: number): void {
    this.#step((ballot) => stand(ballot, epochSeen));
  }

  standDown(): void {
    if (this.#ballot) this.#ballot = standDown(this.#ballot);
  }

  reconfigure(voters: readonly Voter[]): void {
    this.#step((ballot) => reconfigure(ballot, voters));
  }

  ask(ask: AskMessage, context: AskContext): void {
    this.#step((ballot) => receiveAsk(ballot, ask, context));
  }

  vote(vote: VoteMessage): void {
    this.#step((ballot) => receiveVote(ballot, vote));
  }

  beat(beat: BeatMessage, evidence: string): void {
    this.#step((ballot) => receiveBeat(ballot, beat, evidence));
  }

  ack(ack: AckMessage): void {
    this.#step((ballot) => receiveAck(ballot, ack));
  }

  /** Takes a config that is newer; an observer without a storage only keeps it in mind. */
  takeConfig(group: string, config: VoterConfig): void {
    this.#step((ballot) => receiveConfig(ballot, group, config));
    if (this.#ballot || (this.#knownConfig && compareConfigs(config, this.#knownConfig) <= 0))
      return;
    this.#knownConfig = config;
    this.tell();
  }

  /** What this node has stored says so to others. */
  configMessage(wantsAnswer: boolean): ConfigMessage | null {
    if (!this.#ballot?.record.config) return null;
    const { record, self } = this.#ballot;
    const { group, config } = record;
    const { id, storageId } = self;
    const isComplete = this.#parts.founding.isComplete(record);
    if (!config) return null;
    return { type: 'config', group, voter: { id, storageId }, config, isComplete, wantsAnswer };
  }

  /** Tells the application, once, when who votes, or this node's part in it, is another. */
  tell(): void {
    const { config, role } = this;
    if (config === this.#told.config && role === this.#told.role) return;
    this.#told = { config, role };
    this.#parts.kernel.outbox.emit({ type: 'voterschange' });
  }

  #step(step: (ballot: Ballot) => BallotStep): void {
    if (this.#ballot) this.#run(step(this.#ballot));
  }

  #run({ ballot, effects }: BallotStep): void {
    this.#ballot = ballot;
    this.#parts.office.see(ballot.record.epoch);
    for (const effect of effects) {
      if (effect.type === 'store') this.#store(effect.record);
      else this.#parts.carryOut(effect);
    }
    this.tell();
  }

  #store(record: VoterRecord): void {
    const { options, outbox } = this.#parts.kernel;
    if (this.#ballot) this.#ballot = { ...this.#ballot, isStoring: true };
    this.#ticket += 1;
    outbox.store(this.#ticket, encodeRecord(record, options));
  }
}

/** A write takes milliseconds; what comes meanwhile from the voters is a handful. */
const DEFERRED_MAX = 64;
