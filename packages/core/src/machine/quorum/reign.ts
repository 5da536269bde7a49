import type { VotersChange } from '../election.ts';
import { type Ballot, isHeld, refusalOf } from './ballot.ts';
import type { AckMessage } from './ballot-message.ts';
import { hasVoter, type Voter, type VoterConfig } from './config.ts';
import { Handover } from './handover.ts';
import { Lease } from './lease.ts';
import type { QuorumParts } from './parts.ts';
import { Roll, type RollHost } from './roll.ts';

/** One term of this node: from winning to the end. */
interface Term {
  readonly since: number;
  /** A quorum has acknowledged a beat: the claim is out. */
  isPublic: boolean;
  beatAt: number;
  /** A permit was given: no lease for the rest of the epoch (Q10). */
  isForfeited: boolean;
}

/** What this node does while it leads: it beats, and leads as long as a quorum answers (Q4, Q6). */
export class Reign {
  readonly #parts: QuorumParts;
  readonly #lease: Lease;
  readonly #roll: Roll;
  readonly #handover: Handover;
  #term: Term | null = null;

  constructor(parts: QuorumParts) {
    const { kernel, settings, station } = parts;
    this.#parts = parts;
    this.#lease = new Lease(settings.timing.leaseMs);
    this.#roll = new Roll(kernel, settings.roll);
    this.#handover = new Handover(kernel, station, settings.timing.electionTimeoutMs[0]);
  }

  /** It has won, and has not lost since. */
  get isOn(): boolean {
    return this.#term !== null;
  }

  get isPublic(): boolean {
    return this.#term?.isPublic ?? false;
  }

  /** Until when the term is valid; 0 when it is not. */
  get validUntil(): number {
    const term = this.#term;
    return term?.isPublic && !term.isForfeited ? Math.max(0, this.#lease.until) : 0;
  }

  /** Until when this leader elects nobody else. */
  get stickyUntil(): number {
    const since = this.#term?.since ?? Number.NEGATIVE_INFINITY;
    return Math.max(since + this.#parts.settings.timing.stickyMs, this.#lease.heldUntil);
  }

  /** Whether no acknowledgement has come in time for the term to go on. */
  isOver(now: number): boolean {
    return this.isPublic && now >= this.#lease.heldUntil;
  }

  /** Instance of who shall take over. */
  get successor(): string | null {
    return this.#handover.target;
  }

  isConfirmed(since: number): boolean {
    return this.#lease.quorumSentAt >= since;
  }

  begin(): void {
    const { kernel, booth } = this.#parts;
    const { now } = kernel;
    this.#term = { since: now, isPublic: false, beatAt: now, isForfeited: false };
    this.#lease.begin(booth.config?.voters.length ?? 0);
    this.#roll.begin(now);
    kernel.wake(now);
  }

  /** Asks for a fresh round. */
  hurry(): void {
    if (!this.#term) return;
    this.#term.beatAt = this.#parts.kernel.now;
    this.#parts.kernel.wake(this.#term.beatAt);
  }

  end(isHandedOver: boolean): void {
    this.#term = null;
    this.#lease.end();
    this.#roll.end();
    // Whether the target has taken over shows when its claim comes.
    if (!isHandedOver) this.#handover.end(false);
  }

  /** Another leads. */
  met(instance: string): void {
    this.#handover.met(instance);
  }

  ask(change: VotersChange, ticket: number): void {
    const { outbox, now } = this.#parts.kernel;
    if (this.isPublic) return this.#roll.ask(change, ticket, now);
    outbox.emit({ type: 'voterschanged', ticket, refusal: 'not-leader' });
  }

  introduced(voter: Voter): void {
    this.#roll.introduced(voter);
  }

  acknowledged(ack: AckMessage, config: VoterConfig): void {
    const { kernel, evidence } = this.#parts;
    const { now } = kernel;
    this.#roll.acknowledged(ack, config, now);
    evidence.heard(ack.voter, ack.evidence);
    const isCurrent = ack.configEpoch === config.epoch && ack.configVersion === config.version;
    if (!isCurrent || !hasVoter(config, ack.voter)) return;
    this.#lease.acknowledge(ack.voter, ack.round, now);
    kernel.confirmations.answered();
    kernel.wake(now);
  }

  /** False, and nothing happens, unless this node leads and `id` is a voter that may. */
  handOver(id: string): boolean {
    const { kernel, booth } = this.#parts;
    const { ballot, config } = booth;
    const target = kernel.roster.byId(id);
    const isVoter = config?.voters.some((voter) => voter.id === id);
    const isAble = isVoter && target?.record.candidate && target.suspectedAt === null;
    if (!this.#term || !ballot || this.validUntil <= kernel.now) return false;
    if (!isAble || target === kernel.roster.self) return false;
    this.#term.isForfeited = true;
    const { group, epoch } = ballot.record;
    this.#handover.begin(target.record.instance, { type: 'permit', group, epoch });
    return true;
  }

  poll(now: number): number {
    const handoverAt = this.#pollHandover(now);
    const term = this.#term;
    const { ballot } = this.#parts.booth;
    if (!term || !ballot) return handoverAt;
    if (now >= term.beatAt && !ballot.isStoring) this.#beat(ballot, term, now);
    if (!term.isPublic && this.#lease.until > now) this.#proclaim(ballot, term);
    const endsAt = term.isPublic
      ? this.#lease.heldUntil
      : term.since + this.#parts.settings.timing.stickyMs;
    if (now >= endsAt) {
      this.#parts.endTerm('quorum-lost', 'vacated');
      return now;
    }
    const rollAt = term.isPublic ? this.#roll.poll(now, this.#rollHost(ballot)) : NEVER;
    this.#passOn(term);
    const beatAt = ballot.isStoring ? NEVER : term.beatAt;
    return Math.min(beatAt, endsAt, rollAt, handoverAt);
  }

  #pollHandover(now: number): number {
    const dueAt = this.#handover.poll(now);
    if (dueAt !== 'failed') return dueAt;
    this.#handover.end(false);
    if (!this.#term) return NEVER;
    // Its lease is forfeited: to lead on it must be elected anew (Q10).
    this.#parts.endTerm('lease-expired', 'vacated');
    this.#parts.standing.open(now);
    return now;
  }

  #beat(ballot: Ballot, term: Term, now: number): void {
    const { station, settings } = this.#parts;
    const { config, epoch, group } = ballot.record;
    if (!config) return;
    term.beatAt = now + settings.timing.beatMs;
    const round = this.#lease.send(now);
    const { learner } = this.#roll;
    const holders = { ...config, voters: ballot.holders };
    for (const voter of learner ? [...config.voters, learner] : config.voters) {
      station.sendTo(voter, {
        type: 'beat',
        group,
        epoch,
        leader: ballot.self,
        round,
        configEpoch: config.epoch,
        configVersion: config.version,
        config: hasVoter(holders, voter) ? null : config,
      });
    }
  }

  /** A quorum has acknowledged this leader: from here on it leads. */
  #proclaim(ballot: Ballot, term: Term): void {
    const { kernel, office } = this.#parts;
    const { epoch } = ballot.record;
    const { id, startedAt } = kernel.roster.self.record;
    const { instance } = kernel.options;
    term.isPublic = true;
    const leader = { id, startedAt };
    office.enter({ epoch, leader, instance, vacated: false, led: true, defends: null });
    office.tellAll();
    kernel.outbox.emit({ type: 'termstart', epoch });
    office.publish('elected');
    this.#tellConfig();
  }

  /** Who does not want to lead hands over to whoever does and knows as much (Q3). */
  #passOn(term: Term): void {
    const { candidacy, kernel, evidence } = this.#parts;
    if (candidacy.isWilling || !term.isPublic || this.successor !== null) return;
    for (const { record, suspectedAt } of kernel.roster.others()) {
      const isAble = record.candidate && suspectedAt === null && evidence.isCaughtUp(record.id);
      if (isAble && this.handOver(record.id)) return;
    }
  }

  #rollHost(ballot: Ballot): RollHost {
    const { booth, station } = this.#parts;
    const { id, storageId } = ballot.self;
    const self = { id, storageId };
    return {
      get config() {
        return booth.config as VoterConfig;
      },
      self,
      hasPermit: this.successor !== null,
      isHeld: () => booth.ballot !== null && !booth.isStoring && isHeld(booth.ballot),
      refusalOf: (voters) => (booth.ballot ? refusalOf(booth.ballot, voters) : 'not-leader'),
      reconfigure: (voters) => this.#reconfigure(voters),
      introduce: (instance) => {
        station.send(instance, { type: 'introduce', voter: self, founders: [], wantsAnswer: true });
      },
    };
  }

  #reconfigure(voters: readonly Voter[]): void {
    this.#parts.booth.reconfigure(voters);
    this.#lease.begin(voters.length);
    this.hurry();
    this.#tellConfig();
  }

  /** Observers and removed voters are not in the beats. */
  #tellConfig(): void {
    const message = this.#parts.booth.configMessage(false);
    if (message) this.#parts.station.tellAll(message);
  }
}

const NEVER = Number.POSITIVE_INFINITY;
