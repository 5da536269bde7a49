import { Candidacy } from '../candidacy.ts';
import { type Claim, EPOCH_MAX } from '../claim.ts';
import type { ChangeReason, LeaveReason, TermEndReason } from '../effect.ts';
import type { Election, Locking } from '../election.ts';
import { Incumbency } from '../incumbency.ts';
import type { LockAnswer } from '../input.ts';
import type { Kernel } from '../kernel.ts';
import type { Link } from '../links.ts';
import type { ClaimMessage, Summary, TransferMessage } from '../message.ts';
import type { Entry } from '../roster.ts';
import type { Candidate } from '../strategy.ts';
import { Handover } from './handover.ts';
import { Patience } from './patience.ts';
import { Tenure } from './tenure.ts';

/**
 * The election under one exclusive lock: whoever holds it leads, in the epoch to which the count of
 * its holders has come (B5). Everybody else waits in the lock's queue. What the others know of the
 * leader they know from its claim, as everywhere.
 */
export class LockElection implements Election, Locking {
  readonly locking = this;
  readonly #kernel: Kernel;
  readonly #office: Incumbency;
  readonly #candidacy: Candidacy;
  readonly #tenure: Tenure;
  readonly #patience: Patience;
  readonly #handover: Handover;
  /** The term of this node's claim runs. */
  #leading = false;
  /** When a short stall made it doubtful that this node still leads (E8), and which is dispelled. */
  #doubtAt = Number.NEGATIVE_INFINITY;
  #clearedAt = Number.NEGATIVE_INFINITY;
  #isSettled = false;
  /** After a failure of the lock: when to ask for it again. */
  #retryAt = Number.NEGATIVE_INFINITY;

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
    this.#office = new Incumbency(kernel);
    this.#candidacy = new Candidacy(kernel.options.floorPending);
    this.#tenure = new Tenure(kernel);
    this.#patience = new Patience(kernel);
    this.#handover = new Handover(kernel);
  }

  get epoch(): number {
    return this.#office.epoch;
  }

  get claim(): Claim | null {
    return this.#office.claim;
  }

  get leader(): Entry | null {
    return this.#office.leader;
  }

  get isInTerm(): boolean {
    return this.#leading;
  }

  leads(now: number): boolean {
    if (!this.#leading || this.#doubtSince !== null || this.#candidacy.isFrozen) return false;
    return !this.#mayBeRobbed(now);
  }

  /** Until when others will not have taken the lock away, were nothing more heard from now on. */
  validUntil(now: number): number {
    if (!this.leads(now)) return 0;
    const { detector, options } = this.#kernel;
    return detector.answeredAt(now) + options.detection.leaderSuspicionMinMs;
  }

  // From the application.

  setTiebreaker(): void {
    // Two leaders of one epoch do not exist here.
  }

  setFloor(epoch: number | null): void {
    if (epoch === null) return;
    this.#office.see(epoch);
    this.#candidacy.isFloorPending = false;
    this.#updateCandidacy();
  }

  setCandidacy(isWilling: boolean): void {
    this.#candidacy.isWilling = isWilling;
    this.#updateCandidacy();
    if (!isWilling && this.#leading) this.#vacate('resigned', 'vacated');
  }

  resign(): void {
    if (!this.#leading) return;
    this.#candidacy.resign(this.#kernel.now);
    this.#updateCandidacy();
    this.#vacate('resigned', 'resigned');
  }

  transfer(id: string): boolean {
    const target = this.#kernel.roster.byId(id);
    const isAble = target?.record.candidate && target.suspectedAt === null;
    if (!this.leads(this.#kernel.now) || !isAble) return false;
    if (target === this.#kernel.roster.self) return false;
    this.#handover.begin(target.record.instance, this.epoch);
    return true;
  }

  /** Whoever leads next counts on above what the fence knows. */
  fenced(high: number): void {
    this.#office.see(high);
    if (!this.#leading) return;
    this.#tenure.count(high);
    this.#vacate('fenced', 'vacated');
  }

  leave(): void {
    this.#candidacy.isLeaving = true;
    if (this.#leading) this.#endTerm('left');
    this.#tenure.release();
    this.#office.lapse();
    this.#office.publish('leave');
  }

  ask(): void {
    this.#kernel.detector.hurry();
  }

  isConfirmed(since: number): boolean {
    const { detector, roster } = this.#kernel;
    const answered = [...roster.others()].filter((entry) => detector.hasAnswered(entry, since));
    return 2 * (answered.length + 1) > roster.size;
  }

  // From the lock.

  answered(answer: LockAnswer): void {
    if (!this.#tenure.take(answer)) return;
    if (answer.type === 'granted') this.#tenure.count(this.#office.epochSeen);
    else if (answer.type === 'counted') this.#counted(answer.epoch);
    else if (answer.type === 'lost') this.#robbed();
    else this.#failed(answer.message);
  }

  // From the machine.

  freeze(): void {
    this.#candidacy.isFrozen = true;
    this.#updateCandidacy();
    if (this.#leading) this.#vacate('frozen', 'vacated');
    this.#tenure.release();
  }

  resume(): void {
    if (!this.#candidacy.isFrozen) return;
    this.#candidacy.isFrozen = false;
    this.#updateCandidacy();
  }

  /** This node slept; the lock may be another's by now (E8, M9). */
  stalled(gapMs: number): void {
    if (gapMs <= this.#kernel.options.detection.leaderSuspicionMinMs) {
      this.#doubtAt = this.#kernel.now;
    } else if (this.#leading) this.#vacate('stalled', 'vacated');
    else if (this.#tenure.isHolder) this.#tenure.release();
    this.#patience.pause();
  }

  amnestyOver(): void {
    this.#clearDoubt();
    this.#kernel.wake(this.#kernel.now);
  }

  settle(): void {
    this.#isSettled = true;
    this.#kernel.wake(this.#kernel.now);
  }

  rosterChanged(cause: LeaveReason | 'join' | 'update' | 'suspect'): void {
    const isRemoval = cause !== 'join' && cause !== 'update' && cause !== 'suspect';
    const { claim } = this;
    if (isRemoval && claim && !this.#kernel.roster.get(claim.instance)) this.#office.lapse();
    this.#office.publish(isRemoval ? cause : 'elected');
    this.#kernel.wake(this.#kernel.now);
  }

  poll(now: number): number {
    this.#clearDoubt();
    const dues = [this.#office.pollLapse(now), this.#handover.poll(now), this.#candidacy.poll(now)];
    this.#updateCandidacy();
    if (now >= this.#tenure.overdueAt) this.#failed('the epoch was not counted in time');
    if (this.#canQueue(now)) this.#tenure.queue();
    return Math.min(...dues, this.#tenure.overdueAt, this.#pollTheft(now), this.#nextTryAt(now));
  }

  // From and to other nodes.

  summary(): Summary {
    return this.#office.summary();
  }

  message(): ClaimMessage | null {
    return this.#office.message();
  }

  hear(summary: Summary, from: string, link: Link): void {
    const { claim } = this;
    if (!claim || summary.epoch > claim.epoch) return;
    const isOlder = summary.epoch < claim.epoch || (claim.vacated && !summary.vacated);
    if (isOlder) return this.#office.teach(from, link);
    if (from === claim.instance && !summary.vacated) this.#revive();
  }

  receive(message: ClaimMessage, from: string, link: Link): void {
    const { claim, leader } = message;
    const verdict = this.#office.judge(message, from, link);
    if (verdict === 'forged') return this.#outbid(claim.epoch);
    if (verdict === 'invalid') return;
    this.#office.see(claim.epoch);
    if (leader) this.#kernel.roster.merge(leader, link);
    const own = this.claim;
    if (!own || claim.epoch > own.epoch) return this.#adopt(claim);
    if (claim.epoch < own.epoch) return this.#office.teach(from, link);
    if (claim.instance !== own.instance) return this.#meetRival(claim, link);
    if (this.#office.merge(claim)) this.#office.publish('vacated');
  }

  receiveTransfer(message: TransferMessage, from: string): void {
    const { claim } = this;
    if (claim?.epoch !== message.epoch || claim.instance !== from) return;
    // After a stall it may be an offer of long ago; one that stands is made again.
    if (!this.#isEligible || this.#kernel.detector.isAmnesty) return;
    if (this.#tenure.isHolder || this.#handover.isTaking) return;
    this.#handover.take();
    this.#tenure.steal();
  }

  receiveFenced(_message: unknown, from: string, link: Link): void {
    this.#kernel.outbox.violation(link.peer, 'X2', `${from} stands back, where a lock decides`);
  }

  receiveBallot(_bytes: Uint8Array, _from: string, link: Link): void {
    this.#kernel.outbox.violation(link.peer, 'E12', 'a ballot, where nobody votes');
  }

  // What follows.

  /** Silence for so long while others are there: one of them may have taken the lock (M5). */
  #mayBeRobbed(now: number): boolean {
    const { options, roster } = this.#kernel;
    const { heartbeatIntervalMs, leaderSuspicionMinMs } = options.detection;
    return roster.size > 1 && now - this.#kernel.now > heartbeatIntervalMs + leaderSuspicionMinMs;
  }

  #counted(epoch: number): void {
    if (epoch <= this.#office.epochSeen) return this.#tenure.count(this.#office.epochSeen);
    if (epoch > EPOCH_MAX) return this.#failed(`no epoch above ${EPOCH_MAX}`);
    if (this.#leading) this.#endTerm('higher-epoch');
    const { instance } = this.#kernel.options;
    this.#office.enter({
      epoch,
      leader: this.#own,
      instance,
      vacated: false,
      led: false,
      defends: null,
    });
    this.#leading = true;
    this.#clearedAt = this.#kernel.now;
    this.#patience.pause();
    this.#office.tellAll();
    this.#kernel.outbox.emit({ type: 'termstart', epoch });
    this.#office.publish(this.#handover.taken() ? 'transferred' : 'elected');
  }

  /** The lock was taken away: whoever has it leads, or will. */
  #robbed(): void {
    this.#patience.spent();
    this.#handover.taken();
    if (this.#leading) {
      if (this.#handover.to !== null) this.#vacate('transferred', 'transferred');
      else this.#vacate('higher-epoch', 'vacated');
    }
    this.#kernel.wake(this.#kernel.now);
  }

  /** The lock cannot be had, or its holders not be counted: somebody else may fare better. */
  #failed(message: string): void {
    this.#kernel.outbox.emit({ type: 'fault', code: 'lock-failed', message });
    this.#retryAt = this.#kernel.now + RETRY_MS;
    this.#handover.taken();
    this.#tenure.release();
    if (this.#leading) this.#vacate('storage-failed', 'vacated');
    this.#kernel.wake(this.#kernel.now);
  }

  #adopt(claim: Claim): void {
    const isHandover = this.#handover.to === claim.instance;
    if (this.#leading) {
      this.#endTerm(isHandover ? 'transferred' : 'higher-epoch');
      this.#tenure.release();
    }
    this.#office.enter(claim);
    if (!this.#office.isOwn) {
      this.#candidacy.forgetResignation();
      this.#patience.rest();
    }
    this.#handover.met(claim.instance);
    this.#office.publish(isHandover ? 'transferred' : 'elected');
    this.#updateCandidacy();
    this.#kernel.settle();
  }

  /** The count cannot give an epoch twice; where it was deleted, the holder counts on. */
  #meetRival(rival: Claim, link: Link): void {
    const detail = `two leaders of epoch ${rival.epoch}`;
    this.#kernel.outbox.violation(link.peer, 'B5', detail);
    this.#outbid(rival.epoch);
  }

  #outbid(epoch: number): void {
    this.#office.see(epoch);
    if (this.#leading && this.#tenure.state === 'held') this.#tenure.count(this.#office.epochSeen);
  }

  /** The leader that was given up here leads on: it is heard, and nobody has led since. */
  #revive(): void {
    if (!this.#office.isLapsed) return;
    this.#office.revive();
    this.#office.publish('elected');
  }

  #vacate(reason: TermEndReason, cause: ChangeReason): void {
    this.#endTerm(reason);
    this.#tenure.release();
    this.#office.vacate(null);
    this.#office.publish(cause);
  }

  #endTerm(reason: TermEndReason): void {
    this.#leading = false;
    this.#kernel.outbox.emit({ type: 'termend', epoch: this.epoch, reason });
    if (reason !== 'transferred') this.#handover.fail();
  }

  #clearDoubt(): void {
    const since = this.#doubtSince;
    if (since === null || this.#kernel.detector.isAmnesty) return;
    const { answered, asked } = this.#kernel.detector.round(since);
    if (answered > 0 || asked === 0) this.#clearedAt = since;
  }

  /** A gap that the grid of slow timers explains may be long enough for a theft all the same. */
  get #doubtSince(): number | null {
    const { roster, stall } = this.#kernel;
    const since = Math.max(this.#doubtAt, roster.size > 1 ? stall.gapAt : this.#doubtAt);
    return since > this.#clearedAt ? since : null;
  }

  #updateCandidacy(): void {
    const { roster } = this.#kernel;
    const candidate = this.#candidacy.isEligible;
    if (candidate === roster.self.record.candidate) return;
    roster.changeSelf({ candidate });
    // The term that it may still have ends with its own reason.
    if (!candidate && !this.#leading) this.#tenure.release();
    this.#kernel.wake(this.#kernel.now);
  }

  #canQueue(now: number): boolean {
    return this.#isEligible && this.#tenure.state === 'none' && now >= this.#retryAt;
  }

  #nextTryAt(now: number): number {
    return now < this.#retryAt ? this.#retryAt : Number.POSITIVE_INFINITY;
  }

  /** Takes the lock from a holder that does not lead; gives the time to look again. */
  #pollTheft(now: number): number {
    const { detector } = this.#kernel;
    if (this.leader || this.#tenure.state !== 'queued' || detector.isAmnesty) {
      this.#patience.pause();
      return Number.POSITIVE_INFINITY;
    }
    const at = Math.max(this.#patience.endsAt(this.#isHolderSilent), detector.drainedAt);
    if (now < at) return at;
    this.#patience.spent();
    this.#tenure.steal();
    return now;
  }

  get #isHolderSilent(): boolean {
    const { claim } = this;
    if (!claim || claim.vacated || !this.#office.isLapsed) return false;
    return typeof this.#kernel.roster.get(claim.instance)?.suspectedAt === 'number';
  }

  get #isEligible(): boolean {
    return this.#isSettled && this.#kernel.roster.self.record.candidate;
  }

  get #own(): Candidate {
    const { id, startedAt } = this.#kernel.roster.self.record;
    return { id, startedAt };
  }
}

/** What keeps the lock or the count from working rarely passes sooner. */
const RETRY_MS = 5000;
