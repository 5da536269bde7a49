import { Candidacy } from '../candidacy.ts';
import { type Claim, isPlausibleEpoch } from '../claim.ts';
import { CodecError } from '../codec.ts';
import type { ChangeReason, LeaveReason, TermEndReason } from '../effect.ts';
import type { Election, StorageProblem, VoterRole, VotersChange, Voting } from '../election.ts';
import { Incumbency } from '../incumbency.ts';
import type { Kernel } from '../kernel.ts';
import type { Link } from '../links.ts';
import type { ClaimMessage, Summary } from '../message.ts';
import type { MemberRecord } from '../record.ts';
import type { Entry } from '../roster.ts';
import { type BallotEffect, denialOf } from './ballot.ts';
import { decodeBallot } from './ballot-codec.ts';
import {
  type AskMessage,
  type BallotMessage,
  type BeatMessage,
  epochOf,
  signatureOf,
} from './ballot-message.ts';
import { Booth } from './booth.ts';
import { compareConfigs, type VoterConfig } from './config.ts';
import { Evidence } from './evidence.ts';
import { Founding } from './founding.ts';
import { Loyalty } from './loyalty.ts';
import type { QuorumParts } from './parts.ts';
import { Reign } from './reign.ts';
import type { QuorumSettings } from './settings.ts';
import { Standing } from './standing.ts';
import { Station } from './station.ts';

/**
 * The term protocol: who a majority of the voters has granted an epoch leads, for as long as a
 * majority acknowledges its beats. Votes, epochs and configs are the ballot's; the parts around it
 * hold the clock, the others, and what the application is told.
 */
export class QuorumElection implements Election, Voting {
  readonly voting = this;
  readonly #kernel: Kernel;
  readonly #parts: QuorumParts;

  constructor(kernel: Kernel, settings: QuorumSettings) {
    this.#kernel = kernel;
    const station = new Station(kernel);
    const parts = {
      kernel,
      settings,
      station,
      office: new Incumbency(kernel),
      candidacy: new Candidacy(kernel.options.floorPending),
      founding: new Founding(kernel, station, settings.founders),
      evidence: new Evidence(kernel, settings.evidence),
      carryOut: (effect) => this.#carryOut(effect),
      endTerm: (reason, cause) => this.#endTerm(reason, cause),
    } as { -readonly [Part in keyof QuorumParts]: QuorumParts[Part] };
    this.#parts = parts;
    parts.booth = new Booth(parts);
    parts.loyalty = new Loyalty(parts);
    parts.standing = new Standing(parts);
    parts.reign = new Reign(parts);
  }

  get epoch(): number {
    return this.#parts.office.epoch;
  }

  get claim(): Claim | null {
    return this.#parts.office.claim;
  }

  get leader(): Entry | null {
    return this.#parts.office.leader;
  }

  get config(): VoterConfig | null {
    return this.#parts.booth.config;
  }

  get role(): VoterRole {
    return this.#parts.booth.role;
  }

  get evidence(): unknown {
    return this.#parts.evidence.newest;
  }

  get isInTerm(): boolean {
    return this.#parts.reign.isPublic;
  }

  leads(now: number): boolean {
    return this.validUntil() > now;
  }

  validUntil(): number {
    return this.#parts.candidacy.isFrozen ? 0 : this.#parts.reign.validUntil;
  }

  // From the application.

  setTiebreaker(): void {
    // Two leaders of one epoch do not exist here (Q8).
  }

  setFloor(epoch: number | null): void {
    if (epoch === null) return;
    this.#parts.office.see(epoch);
    this.#parts.candidacy.isFloorPending = false;
    this.#updateCandidacy();
  }

  setCandidacy(isWilling: boolean): void {
    this.#parts.candidacy.isWilling = isWilling;
    this.#updateCandidacy();
    if (!isWilling && this.#parts.reign.isOn) this.#endTerm('resigned', 'vacated');
  }

  resign(): void {
    if (!this.#parts.reign.isOn) return;
    this.#parts.candidacy.resign(this.#kernel.now);
    this.#updateCandidacy();
    this.#endTerm('resigned', 'resigned');
  }

  transfer(id: string): boolean {
    return this.#parts.reign.handOver(id);
  }

  fenced(high: number): void {
    this.#parts.office.see(high);
    if (this.#parts.reign.isOn) this.#endTerm('fenced', 'vacated');
  }

  leave(): void {
    const { candidacy, office, reign } = this.#parts;
    candidacy.isLeaving = true;
    if (reign.isOn) this.#endTerm('left', 'leave');
    office.lapse();
    office.publish('leave');
  }

  changeVoters(change: VotersChange, ticket: number): void {
    this.#parts.reign.ask(change, ticket);
  }

  ask(): void {
    this.#parts.reign.hurry();
  }

  isConfirmed(since: number): boolean {
    return this.#parts.reign.isConfirmed(since);
  }

  // From the machine.

  restore(bytes: Uint8Array | null, freshId: string): void {
    const { booth, loyalty, standing } = this.#parts;
    if (booth.restore(bytes, freshId)) loyalty.silence();
    standing.open(Math.max(this.#kernel.now, loyalty.silentUntil));
    if (this.role === 'founding') this.#parts.founding.hurry();
    this.#updateCandidacy();
    booth.tell();
  }

  storageFailed(problem: StorageProblem, message: string): void {
    const { booth, reign, standing } = this.#parts;
    if (reign.isOn) this.#endTerm('storage-failed', 'vacated');
    standing.end();
    booth.fail(problem, message);
    this.#updateCandidacy();
  }

  stored(ticket: number): void {
    this.#parts.booth.stored(ticket);
    if (this.role === 'founding') this.#parts.founding.hurry();
    this.#kernel.wake(this.#kernel.now);
  }

  freeze(): void {
    this.#parts.candidacy.isFrozen = true;
    this.#updateCandidacy();
    if (this.#parts.reign.isOn) this.#endTerm('frozen', 'vacated');
  }

  resume(): void {
    this.#parts.candidacy.isFrozen = false;
    this.#updateCandidacy();
  }

  stalled(): void {
    const { loyalty, reign, standing } = this.#parts;
    // The clock may have jumped, and what was promised would end too soon (Q6).
    loyalty.silence();
    if (reign.isOver(this.#kernel.now)) this.#endTerm('lease-expired', 'vacated');
    if (!reign.isOn) standing.open(loyalty.silentUntil);
  }

  amnestyOver(): void {
    this.#kernel.wake(this.#kernel.now);
  }

  settle(): void {
    this.#parts.founding.settle();
    this.#parts.standing.settle();
  }

  rosterChanged(cause: LeaveReason | 'join' | 'update' | 'suspect'): void {
    const { office, founding } = this.#parts;
    if (cause === 'join' && this.role === 'founding') founding.hurry();
    const isRemoval = cause !== 'join' && cause !== 'update' && cause !== 'suspect';
    const { claim } = this;
    if (isRemoval && claim && !this.#kernel.roster.get(claim.instance)) {
      office.lapse();
      // Whoever says goodbye gives its lease up; whoever is only thought dead may still have it.
      if (cause === 'leave') this.#released(claim);
    }
    office.publish(isRemoval ? cause : 'elected');
    this.#kernel.wake(this.#kernel.now);
  }

  poll(now: number): number {
    const { office, candidacy, reign, standing } = this.#parts;
    this.#updateCandidacy();
    return Math.min(
      office.pollLapse(now),
      candidacy.poll(now),
      this.#pollFounding(now),
      reign.poll(now),
      standing.poll(now),
    );
  }

  // From and to other nodes.

  summary(): Summary {
    return this.#parts.office.summary();
  }

  message(): ClaimMessage | null {
    return this.#parts.office.message();
  }

  hear(summary: Summary, from: string, link: Link): void {
    const { claim } = this;
    if (!claim || summary.epoch > claim.epoch) return;
    const isOlder = summary.epoch < claim.epoch || (claim.vacated && !summary.vacated);
    if (isOlder) return this.#parts.office.teach(from, link);
    if (from === claim.instance && !summary.vacated) this.#revive();
  }

  receive(message: ClaimMessage, from: string, link: Link): void {
    const { claim, leader } = message;
    const { office } = this.#parts;
    if (office.judge(message, from, link) !== 'valid') return;
    office.see(claim.epoch);
    if (leader) this.#kernel.roster.merge(leader, link);
    const own = this.claim;
    if (!own || claim.epoch > own.epoch) return this.#adopt(claim);
    if (claim.epoch < own.epoch) return office.teach(from, link);
    if (claim.instance !== own.instance) {
      const detail = `two leaders of epoch ${claim.epoch}`;
      return this.#kernel.outbox.violation(link.peer, 'Q8', detail);
    }
    if (!office.merge(claim)) return;
    office.publish('vacated');
    this.#released(claim);
  }

  receiveTransfer(_message: unknown, from: string): void {
    this.#kernel.outbox.violation('', 'Q10', `${from} hands over without a permit`);
  }

  receiveFenced(_message: unknown, from: string, link: Link): void {
    this.#kernel.outbox.violation(link.peer, 'X2', `${from} stands back, where voters decide`);
  }

  receiveBallot(bytes: Uint8Array, from: string, link: Link): void {
    const sender = this.#kernel.roster.get(from)?.record;
    // Whoever has only just started is met first.
    const message = sender && this.#decode(bytes, sender, link);
    if (message) this.#parts.booth.whenStored(() => this.#take(message, from, link));
  }

  #decode(bytes: Uint8Array, sender: MemberRecord, link: Link): BallotMessage | null {
    const { outbox } = this.#kernel;
    try {
      const message = decodeBallot(bytes);
      const problem = this.#problemOf(message, sender);
      if (!problem) return message;
      outbox.violation(link.peer, 'Q8', problem);
    } catch (error) {
      if (!(error instanceof CodecError)) throw error;
      outbox.violation(link.peer, 'M11', `malformed ballot: ${error.message}`);
    }
    return null;
  }

  /** Why `sender` cannot honestly say so. */
  #problemOf(message: BallotMessage, sender: MemberRecord): string | null {
    const { booth, office } = this.#parts;
    const { id, instance } = signatureOf(message);
    if (id !== null && id !== sender.id) return `"${message.type}" of ${id}, from ${sender.id}`;
    if (instance !== null && instance !== sender.instance)
      return `"${message.type}" in another's name`;
    const epoch = epochOf(message);
    const seen = this.config ? office.epochSeen : null;
    if (epoch > 0 && !isPlausibleEpoch(epoch, seen)) return `epoch ${epoch}, at ${seen} here`;
    const group = booth.ballot?.record.group;
    if (message.type === 'introduce' || !group || message.group === group) return null;
    return `"${message.type}" of voters that were founded apart`;
  }

  #take(message: BallotMessage, from: string, link: Link): void {
    const { booth, founding, reign, standing } = this.#parts;
    const { ballot } = booth;
    switch (message.type) {
      case 'ask':
        return this.#takeAsk(message);
      case 'vote':
        return standing.vote(message);
      case 'beat':
        return this.#takeBeat(message);
      case 'ack': {
        const { config } = this;
        booth.ack(message);
        if (reign.isOn && config && message.epoch === booth.reached) {
          reign.acknowledged(message, config);
        }
        return;
      }
      case 'permit':
        return this.#takePermit(message.epoch, from, link);
      case 'introduce':
        reign.introduced(message.voter);
        if (ballot) founding.introduced(message, from, ballot.record);
        return;
      case 'config':
        reign.introduced(message.voter);
        booth.takeConfig(message.group, message.config);
        // What is being written is no answer yet; the question comes again.
        if (booth.ballot && !booth.isStoring) {
          const isFounded = founding.held(message, from, booth.ballot.record);
          if (isFounded) this.#founded();
        }
        return this.#kernel.wake(this.#kernel.now);
    }
  }

  #takeAsk(ask: AskMessage): void {
    const { booth, founding, evidence, loyalty, standing, station } = this.#parts;
    const { ballot } = booth;
    if (!ballot) return;
    // Whoever stands knows that all founders have stored the first config.
    if (ask.group === ballot.record.group && founding.complete()) this.#founded();
    const own = evidence.read();
    const isRecent = evidence.compare(ask.evidence, own) >= 0;
    const context = { reluctance: loyalty.reluctance(ask), isRecent, evidence: own };
    if (!ask.isTrial) return booth.ask(ask, context);
    const denial = denialOf(ballot, ask, context);
    if (denial === 'evidence') standing.refusedOlder();
    const { self, record } = ballot;
    const { id, storageId } = self;
    const isNews = record.config && compareConfigs(record.config, ask.config) > 0;
    station.send(ask.candidate.instance, {
      type: 'vote',
      group: ask.group,
      isTrial: true,
      epoch: ask.epoch,
      candidate: ask.candidate.instance,
      voter: { id, storageId },
      denial,
      reached: record.epoch,
      evidence: own,
      config: isNews ? record.config : null,
    });
  }

  #takeBeat(beat: BeatMessage): void {
    const { booth, founding, loyalty, standing, evidence } = this.#parts;
    booth.beat(beat, evidence.read());
    if (beat.epoch !== booth.reached || this.#parts.reign.isOn) return;
    loyalty.heard(beat);
    founding.complete();
    standing.heard();
    if (this.claim?.instance === beat.leader.instance) this.#revive();
    booth.tell();
  }

  #takePermit(epoch: number, from: string, link: Link): void {
    const { booth, loyalty, standing } = this.#parts;
    if (loyalty.leader === from && epoch === booth.reached) {
      return standing.permitted({ epoch, instance: from });
    }
    // Asked again after it stood already, it is no longer of that epoch.
    if (epoch < booth.reached) return;
    this.#kernel.outbox.violation(link.peer, 'Q10', 'a permit of a node that does not lead');
  }

  // What follows.

  #carryOut(effect: Exclude<BallotEffect, { readonly type: 'store' }>): void {
    const { station, evidence, standing, reign } = this.#parts;
    switch (effect.type) {
      case 'reply':
        return station.send(effect.to, effect.message);
      case 'solicit':
        return this.#kernel.wake(this.#kernel.now);
      case 'won':
        return evidence.elected(standing.end());
      case 'lead':
        return reign.begin();
      case 'follow': {
        const isHandover = reign.successor !== null;
        if (!reign.isOn) return standing.standBack();
        return isHandover
          ? this.#endTerm('transferred', 'transferred')
          : this.#endTerm('higher-epoch', 'vacated');
      }
    }
  }

  #endTerm(reason: TermEndReason, cause: ChangeReason): void {
    const { booth, office, reign, standing } = this.#parts;
    const wasPublic = reign.isPublic;
    reign.end(reason === 'transferred');
    booth.standDown();
    if (wasPublic) {
      this.#kernel.outbox.emit({ type: 'termend', epoch: this.epoch, reason });
      office.vacate(null);
      office.publish(cause);
    }
    standing.standBack();
  }

  #pollFounding(now: number): number {
    const { booth, founding, settings } = this.#parts;
    const { ballot } = booth;
    if (!ballot || ballot.isStoring) return Number.POSITIVE_INFINITY;
    const { config, at, isFounded } = founding.poll(now, ballot.record);
    if (isFounded) this.#founded();
    if (config) booth.takeConfig(settings.groupOf(this.#kernel.options.random), config);
    return at;
  }

  /** All founders have stored the first config: there may be votes. */
  #founded(): void {
    this.#parts.standing.open(this.#kernel.now);
    this.#updateCandidacy();
    this.#parts.booth.tell();
  }

  #adopt(claim: Claim): void {
    const { candidacy, office, reign } = this.#parts;
    if (this.#isPast(claim)) return;
    if (reign.isOn) this.#endTerm('higher-epoch', 'elected');
    office.enter(claim);
    reign.met(claim.instance);
    if (claim.instance !== this.#kernel.options.instance) candidacy.forgetResignation();
    office.publish('elected');
    this.#updateCandidacy();
    this.#kernel.settle();
  }

  /** The leader that was given up here leads on: it is heard, and nobody has been elected since. */
  #revive(): void {
    const { office } = this.#parts;
    if (!office.isLapsed || !office.claim || this.#isPast(office.claim)) return;
    office.revive();
    office.publish('elected');
  }

  /** Whether this voter takes part in a later epoch. What an observer has stored binds nobody. */
  #isPast(claim: Claim): boolean {
    return this.role === 'voter' && claim.epoch < this.#parts.booth.reached;
  }

  #released(claim: Claim): void {
    const { loyalty, reign, standing } = this.#parts;
    if (loyalty.leader !== claim.instance) return;
    loyalty.release();
    if (!reign.isOn) standing.open(Math.max(this.#kernel.now, loyalty.silentUntil));
  }

  #updateCandidacy(): void {
    const { roster } = this.#kernel;
    const candidate = this.#parts.candidacy.isEligible && this.role === 'voter';
    if (candidate !== roster.self.record.candidate) roster.changeSelf({ candidate });
  }
}
