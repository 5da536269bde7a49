import type { Kernel } from '../kernel.ts';
import type { ConfigMessage, IntroduceMessage } from './ballot-message.ts';
import { hasVoter, isSameVoter, sortVoters, type Voter, type VoterConfig } from './config.ts';
import type { Station } from './station.ts';
import type { VoterRecord } from './voter-record.ts';

/**
 * How voters begin (Q0): the lowest id among the founders collects all of them while none has a
 * config, writes the first one, and nobody votes before every founder has stored it. "I see nobody,
 * so I am a group of one" does not exist.
 */
export class Founding {
  readonly #kernel: Kernel;
  readonly #station: Station;
  /** Ids, sorted. */
  readonly #founders: readonly string[];
  /** Who has introduced itself, and as which instance. */
  readonly #met = new Map<string, { readonly voter: Voter; readonly instance: string }>();
  /** Who has stored the first config. */
  #holders: readonly Voter[] = [];
  #isComplete = false;
  #toldAt = Number.NEGATIVE_INFINITY;
  #isSettled = false;
  #askedSince: number | null = null;

  constructor(kernel: Kernel, station: Station, founders: readonly string[]) {
    this.#kernel = kernel;
    this.#station = station;
    this.#founders = founders;
  }

  /** Whether every founder is known to have stored the first config, or a later one exists. */
  isComplete({ epoch, config }: VoterRecord): boolean {
    if (config === null) return false;
    return this.#isComplete || epoch > 0 || config.version > 1 || config.epoch > 0;
  }

  /** Every founder has stored the first config. True when that is news. */
  complete(): boolean {
    const isNews = !this.#isComplete;
    this.#isComplete = true;
    return isNews;
  }

  /** The node has met the cluster, or knows that it is alone (E9). */
  settle(): void {
    this.#isSettled = true;
  }

  /** Somebody has come, or the first config is stored here: there is more to tell than before. */
  hurry(): void {
    this.#toldAt = Number.NEGATIVE_INFINITY;
    this.#kernel.wake(this.#kernel.now);
  }

  introduced(message: IntroduceMessage, instance: string, record: VoterRecord): void {
    const { voter, founders } = message;
    if (message.wantsAnswer) this.#answer(instance, record);
    if (record.config !== null || !this.#isFounder(voter)) return;
    if (founders.length > 0 && founders.join('\n') !== this.#founders.join('\n')) {
      const detail = `${voter.id} founds with ${founders.join(', ')}`;
      return this.#kernel.outbox.violation('', 'Q0', detail);
    }
    this.#met.set(voter.id, { voter, instance });
    this.#kernel.wake(this.#kernel.now);
  }

  /** A voter says which config it has stored. True when that completes the founding. */
  held(
    { voter, config, isComplete, wantsAnswer }: ConfigMessage,
    from: string,
    record: VoterRecord,
  ): boolean {
    const own = record.config;
    if (wantsAnswer) this.#answer(from, record);
    if (!own || own.version !== config.version || own.epoch !== config.epoch) return false;
    if (isComplete) return this.complete();
    return hasVoter(own, voter) && this.#hold(own, voter);
  }

  /**
   * `config`: the first one, once all founders have said that they have none. `isFounded`: all have
   * stored it.
   */
  poll(now: number, record: VoterRecord): FoundingStep {
    const waiting = { config: null, isFounded: false };
    if (this.isComplete(record) || !this.#isListed) return { ...waiting, at: NEVER };
    const self = this.#self(record);
    if (record.config !== null) return this.#pollHolders(record.config, record, now);
    if (!this.#isSettled) return { ...waiting, at: NEVER };
    const founders = this.#founders;
    const isAlone = this.#isAlone(now);
    const voters = founders.map((id) => (id === self.id ? self : this.#present(id)));
    // The lowest id founds; all ask, as each may be the one that has lost its storage.
    if (isAlone && founders[0] === self.id && voters.every((voter) => voter !== null)) {
      return { ...waiting, config: { epoch: 0, version: 1, voters: sortVoters(voters) }, at: now };
    }
    const message = { type: 'introduce', voter: self, founders, wantsAnswer: true } as const;
    const at = this.#repeat(now, isAlone ? founders : this.#members, (id) => {
      if (!this.#present(id)) this.#station.sendTo({ id }, message);
    });
    return { ...waiting, at };
  }

  /**
   * Whether nobody knows of other voters. Where somebody has led there were some, though this one has
   * lost its storage: all members are asked, and have time to answer.
   */
  #isAlone(now: number): boolean {
    if (!this.#kernel.election.claim) return true;
    this.#askedSince ??= now;
    return now >= this.#askedSince + ANSWER_MS;
  }

  #pollHolders(config: VoterConfig, record: VoterRecord, now: number): FoundingStep {
    const isOurs = hasVoter(config, this.#self(record));
    const isFounded = isOurs && this.#hold(config, this.#self(record));
    if (!isOurs || isFounded || this.#isComplete) return { config: null, isFounded, at: NEVER };
    const at = this.#repeat(now, this.#founders, (id) => {
      if (this.#holders.some((voter) => voter.id === id)) return;
      this.#station.sendTo({ id }, this.#message(record, config, true));
    });
    return { config: null, isFounded, at };
  }

  /** Notes that a founder has stored the config. True when it was the last one. */
  #hold(config: VoterConfig, voter: Voter): boolean {
    if (!this.#holders.some((one) => isSameVoter(one, voter))) {
      this.#holders = [...this.#holders, voter];
      this.#kernel.wake(this.#kernel.now);
    }
    const holders = { ...config, voters: this.#holders };
    return config.voters.every((one) => hasVoter(holders, one)) && this.complete();
  }

  #answer(instance: string, record: VoterRecord): void {
    const { config } = record;
    const voter = this.#self(record);
    if (config) return this.#station.send(instance, this.#message(record, config, false));
    const founders = this.#isListed ? this.#founders : [];
    this.#station.send(instance, { type: 'introduce', voter, founders, wantsAnswer: false });
  }

  #message(record: VoterRecord, config: VoterConfig, wantsAnswer: boolean): ConfigMessage {
    const { group } = record;
    const isComplete = this.isComplete(record);
    return { type: 'config', group, voter: this.#self(record), config, isComplete, wantsAnswer };
  }

  #repeat(now: number, ids: readonly string[], tell: (id: string) => void): number {
    if (now < this.#toldAt + AGAIN_MS) return this.#toldAt + AGAIN_MS;
    this.#toldAt = now;
    for (const id of ids) if (id !== this.#kernel.options.id) tell(id);
    return now + AGAIN_MS;
  }

  /** A founder that has introduced itself, and still is that instance. */
  #present(id: string): Voter | null {
    const met = this.#met.get(id);
    const entry = this.#kernel.roster.byId(id);
    return met && entry?.record.instance === met.instance ? met.voter : null;
  }

  #isFounder({ id }: Voter): boolean {
    return this.#founders.includes(id);
  }

  get #members(): readonly string[] {
    return this.#kernel.roster.members.map(({ id }) => id);
  }

  get #isListed(): boolean {
    return this.#founders.includes(this.#kernel.options.id);
  }

  #self({ storageId }: VoterRecord): Voter {
    return { id: this.#kernel.options.id, storageId };
  }
}

interface FoundingStep {
  readonly config: VoterConfig | null;
  readonly isFounded: boolean;
  /** When to look again. */
  readonly at: number;
}

const NEVER = Number.POSITIVE_INFINITY;
/** Founders start at different times, and questions get lost. */
const AGAIN_MS = 500;
/** A node that starts again under its id is a member, and is answered, within some two seconds. */
const ANSWER_MS = 3000;
