import { Candidacy, Restraint } from './candidacy.ts';
import {
  bestOf,
  type Claim,
  type Collision,
  compareContenders,
  EPOCH_MAX,
  isPlausibleEpoch,
  type Tiebreak,
} from './claim.ts';
import type { ChangeReason, LeaveReason, TermEndReason } from './effect.ts';
import type { Election } from './election.ts';
import { Fencing } from './fencing.ts';
import { Incumbency, TEACH_INTERVAL_MS } from './incumbency.ts';
import type { Kernel } from './kernel.ts';
import type { Link } from './links.ts';
import type { ClaimMessage, FencedMessage, Summary, TransferMessage } from './message.ts';
import type { Entry } from './roster.ts';
import { Seniority } from './seniority.ts';
import type { Candidate } from './strategy.ts';

interface Transfer {
  readonly instance: string;
  readonly until: number;
  toldAt: number;
}

/**
 * The bully election: everybody computes the same winner, only the winner claims, the higher epoch
 * wins.
 */
export class BullyElection implements Election {
  readonly #kernel: Kernel;
  readonly #office: Incumbency;
  /** The term of this node's claim runs. */
  #leading = false;
  /** Since when a short stall keeps this node from saying that it leads (E8). */
  #doubtSince: number | null = null;
  /** When this node gave way to a rival of its epoch, whose higher claim is awaited (E6). */
  #concededAt: number | null = null;
  #collision: Collision | null = null;
  #transfer: Transfer | null = null;
  #rivalToldAt = Number.NEGATIVE_INFINITY;
  /** When to look for the winner next. */
  #evaluateAt = Number.POSITIVE_INFINITY;
  /** Until when this node does not preempt: it has just lost a term by its own pause. */
  readonly #restraint = new Restraint();
  readonly #fencing = new Fencing();
  readonly #seniority: Seniority;
  #readTiebreak: (() => Tiebreak | null) | null = null;
  /** Nobody claims before the node has met the cluster, or knows that it is alone (E9). */
  #isSettled = false;
  readonly #candidacy: Candidacy;

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
    this.#office = new Incumbency(kernel);
    this.#candidacy = new Candidacy(kernel.options.floorPending);
    this.#seniority = new Seniority(kernel);
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

  /** Whether this node's own term runs and nothing casts doubt on it. */
  leads(): boolean {
    return this.#leading && this.#doubtSince === null && !this.#candidacy.isFrozen;
  }

  setTiebreaker(read: (() => Tiebreak | null) | null): void {
    this.#readTiebreak = read;
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

  /** Gives the lead up; the next leader holds its lead against this node (E13). */
  resign(): void {
    if (!this.#leading) return;
    this.#candidacy.resign(this.#kernel.now);
    this.#updateCandidacy();
    this.#vacate('resigned', 'resigned', this.#defended());
  }

  transfer(id: string): boolean {
    const target = this.#kernel.roster.byId(id);
    const isAble = target?.record.candidate && target.suspectedAt === null;
    if (!this.leads() || !isAble || target === this.#kernel.roster.self) return false;
    if (this.#transfer) this.#endTransfer(false);
    const { instance } = target.record;
    this.#transfer = { instance, until: this.#kernel.now + TRANSFER_MS, toldAt: this.#kernel.now };
    this.#tellTransfer(instance);
    return true;
  }

  /** The whole of this side stands back, until it meets the leader that the fence knows (X2). */
  fenced(high: number): void {
    const { now, options, router } = this.#kernel;
    this.#office.see(high);
    const backoffMs = this.#fencing.refused(high, now, options.random());
    router.broadcast({ type: 'fenced', epoch: high, backoffMs });
    this.#updateCandidacy();
    if (this.#leading) this.#vacate('fenced', 'vacated');
  }

  receiveFenced({ epoch, backoffMs }: FencedMessage, from: string, link: Link): void {
    const { epochSeen } = this.#office;
    if (from !== this.claim?.instance || !isPlausibleEpoch(epoch, epochSeen)) {
      const detail = `${from} says that a fence has seen epoch ${epoch}, at ${epochSeen} here`;
      return this.#kernel.outbox.violation(link.peer, 'X2', detail);
    }
    this.#office.see(epoch);
    this.#fencing.hold(epoch, backoffMs, this.#kernel.now);
    this.#updateCandidacy();
    this.#kernel.wake(this.#kernel.now);
  }

  ask(): void {
    this.#kernel.detector.hurry();
  }

  /** Most of the roster, suspects included: a leader cut off from it is not told that it leads. */
  isConfirmed(since: number): boolean {
    const { detector, roster } = this.#kernel;
    const answered = [...roster.others()].filter((entry) => detector.hasAnswered(entry, since));
    return 2 * (answered.length + 1) > roster.size;
  }

  leave(): void {
    this.#candidacy.isLeaving = true;
    if (this.#leading) this.#endTerm('left');
    this.#office.lapse();
    this.#office.publish('leave');
  }

  freeze(): void {
    this.#candidacy.isFrozen = true;
    this.#updateCandidacy();
    if (this.#leading) this.#vacate('frozen', 'vacated');
  }

  resume(): void {
    if (!this.#candidacy.isFrozen) return;
    this.#candidacy.isFrozen = false;
    this.#restraint.slept(this.#kernel.now);
    this.#updateCandidacy();
  }

  /** This node slept for `gapMs`; whoever leads now may not be known here yet (E8, M9). */
  stalled(gapMs: number): void {
    if (!this.#leading) return;
    if (gapMs <= this.#kernel.options.detection.leaderSuspicionMinMs) {
      this.#doubtSince = this.#kernel.now;
      return;
    }
    this.#restraint.slept(this.#kernel.now);
    this.#vacate('stalled', 'vacated');
  }

  amnestyOver(): void {
    this.#clearDoubt();
    this.#evaluateIn(0);
  }

  /** The node has met the cluster, or knows that it is alone. */
  settle(): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.#evaluateIn(this.#kernel.roster.size > 1 ? BATCH_MS : 0);
  }

  rosterChanged(cause: LeaveReason | 'join' | 'update' | 'suspect'): void {
    const isRemoval = cause !== 'join' && cause !== 'update' && cause !== 'suspect';
    const { claim } = this;
    const isLeaderless = claim && !this.#kernel.roster.get(claim.instance);
    if (isRemoval && isLeaderless) this.#office.lapse();
    this.#office.publish(isRemoval ? cause : 'elected');
    // What a leave or a proven death costs is one message delay; all else is looked at together.
    const isCertain = cause === 'leave' || cause === 'gone';
    this.#evaluateIn(isCertain && isLeaderless ? 0 : BATCH_MS);
  }

  summary(): Summary {
    return this.#office.summary();
  }

  message(): ClaimMessage | null {
    return this.#office.message();
  }

  /** Compares what a member says in a ping with the claim here, and tells it what it lacks. */
  hear(summary: Summary, from: string, link: Link): void {
    const { claim } = this;
    if (!claim || summary.epoch > claim.epoch) return;
    const isSame = summary.epoch === claim.epoch && summary.leader === claim.instance;
    if (!isSame) return this.#office.teach(from, link);
    if (claim.vacated && !summary.vacated) this.#office.teach(from, link);
    if (!this.#office.isOwn) {
      if (summary.led && !claim.led) this.#office.setLed();
      return;
    }
    this.#followedBy();
    // Whoever gave this leader up, or was told that it has given up, follows a new claim only.
    const isDoubted = summary.lapsed || (summary.vacated && !claim.vacated);
    if (isDoubted && this.#kernel.now >= this.#office.adoptedAt + this.#intervalMs) {
      this.#claimAgain();
    }
  }

  receive(message: ClaimMessage, from: string, link: Link): void {
    const { claim, leader, probe } = message;
    const verdict = this.#office.judge(message, from, link);
    if (verdict === 'forged') return this.#outbid(claim.epoch);
    if (verdict === 'invalid') return;
    this.#office.see(claim.epoch);
    if (leader) this.#kernel.roster.merge(leader, link);
    const own = this.claim;
    if (!own || claim.epoch > own.epoch) return this.#adopt(claim);
    if (claim.epoch < own.epoch) {
      this.#seniority.meet(claim);
      return this.#office.teach(from, link);
    }
    if (claim.instance === own.instance) return this.#mergeSame(claim);
    this.#meetRival(claim, probe && from === claim.instance ? probe : null);
  }

  receiveBallot(_bytes: Uint8Array, _from: string, link: Link): void {
    this.#kernel.outbox.violation(link.peer, 'E12', 'a ballot, where nobody votes');
  }

  receiveTransfer(message: TransferMessage, from: string): void {
    const { claim } = this;
    // What waited while this node slept may have expired; an offer that stands is made again.
    if (this.#kernel.detector.isAmnesty) return;
    if (claim?.epoch !== message.epoch || claim.instance !== from || !this.#isEligible()) return;
    this.#claimLead(message.defends, 'transferred');
  }

  /** Until when others will not have given this leader up, were nothing more heard from now on. */
  validUntil(now: number): number {
    if (!this.leads()) return 0;
    const { detector, options } = this.#kernel;
    return detector.answeredAt(now) + options.detection.leaderSuspicionMinMs;
  }

  /** Does what is due; gives the time of the next. */
  poll(now: number): number {
    this.#clearDoubt();
    const dues = [
      this.#pollLapse(now),
      this.#pollCollision(now),
      this.#pollConcession(now),
      this.#pollTransfer(now),
      this.#candidacy.poll(now),
      this.#fencing.poll(now),
    ];
    this.#updateCandidacy();
    if (now >= this.#evaluateAt) this.#evaluate(now);
    return Math.min(this.#evaluateAt, ...dues);
  }

  #pollLapse(now: number): number {
    const dueAt = this.#office.pollLapse(now);
    if (dueAt <= now && this.#office.isLapsed) this.#evaluateIn(BATCH_MS);
    return dueAt;
  }

  #pollCollision(now: number): number {
    const collision = this.#collision;
    if (!collision) return Number.POSITIVE_INFINITY;
    const { instance } = collision.rival;
    const rival = this.#kernel.roster.get(instance);
    const isAbsent = !rival && now >= collision.since + 2 * this.#intervalMs;
    if (isAbsent || (rival && now >= this.#kernel.detector.lapseAt(rival))) {
      this.#claimLead(this.claim?.defends ?? null, 'merged');
      return now;
    }
    if (now >= collision.toldAt + this.#intervalMs) this.#tellRival(collision);
    return collision.toldAt + this.#intervalMs;
  }

  #pollConcession(now: number): number {
    if (this.#concededAt === null) return Number.POSITIVE_INFINITY;
    const until = this.#concededAt + 2 * this.#intervalMs;
    if (now < until) return until;
    this.#concededAt = null;
    this.#office.vacate(null);
    this.#office.publish('vacated');
    this.#evaluateIn(BATCH_MS);
    return now;
  }

  #pollTransfer(now: number): number {
    const transfer = this.#transfer;
    if (!transfer) return Number.POSITIVE_INFINITY;
    if (now >= transfer.until) {
      this.#endTransfer(false);
      return Number.POSITIVE_INFINITY;
    }
    if (now >= transfer.toldAt + this.#intervalMs) {
      transfer.toldAt = now;
      this.#tellTransfer(transfer.instance);
    }
    return Math.min(transfer.until, transfer.toldAt + this.#intervalMs);
  }

  /** Claims if this node is the winner and nobody holds the lead against it. */
  #evaluate(now: number): void {
    this.#evaluateAt = Number.POSITIVE_INFINITY;
    if (!this.#isEligible() || this.#kernel.detector.isAmnesty) return;
    if (this.#leading || this.#concededAt !== null || !this.#isWinner()) return;
    const { claim } = this;
    const leader = this.leader;
    if (!claim || (!leader && !this.#isLeaderExpected(now))) {
      return this.#claimLead(claim?.vacated ? claim.defends : null, 'elected');
    }
    if (!leader) return this.#evaluateAtTime(this.#office.adoptedAt + 2 * this.#intervalMs);
    const { strategy } = this.#kernel.options;
    const bar = bestOf(strategy, [leader.record, claim.defends]);
    if (bar && strategy.compare(this.#own, bar) >= 0) return;
    if (now < this.#restraint.until) return this.#evaluateAtTime(this.#restraint.until);
    this.#claimLead(null, 'preempted');
  }

  /** A claim may arrive before its leader's record does. */
  #isLeaderExpected(now: number): boolean {
    const { claim } = this;
    if (!claim || claim.vacated || this.#office.isLapsed) return false;
    return now < this.#office.adoptedAt + 2 * this.#intervalMs;
  }

  #isWinner(): boolean {
    const { strategy } = this.#kernel.options;
    for (const { record, suspectedAt } of this.#kernel.roster.others()) {
      // A suspect may keep a lead, never gain one (E1).
      if (!record.candidate || suspectedAt !== null) continue;
      if (strategy.compare(record, this.#own) < 0) return false;
    }
    return true;
  }

  #isEligible(): boolean {
    return this.#isSettled && this.#kernel.roster.self.record.candidate;
  }

  #claimLead(defends: Candidate | null, cause: ChangeReason): void {
    const epoch = this.#office.epochSeen + 1;
    if (epoch > EPOCH_MAX) {
      return this.#kernel.outbox.violation('', 'E11', `no epoch above ${EPOCH_MAX}`);
    }
    if (this.#leading) this.#endTerm('higher-epoch');
    const { instance } = this.#kernel.options;
    this.#enter({
      epoch,
      leader: this.#own,
      instance,
      vacated: false,
      led: this.#seniority.isInCompany,
      defends,
    });
    this.#leading = true;
    this.#office.tellAll();
    this.#kernel.outbox.emit({ type: 'termstart', epoch });
    this.#office.publish(cause);
  }

  #adopt(claim: Claim): void {
    const { instance } = this.#kernel.options;
    const isHandover = this.#transfer?.instance === claim.instance;
    const cause = isHandover ? 'transferred' : this.#collision ? 'merged' : 'preempted';
    const { leader } = this;
    // Whoever is quiet here may be given up elsewhere: that is no preemption.
    const isOpen = !leader || leader.suspectedAt !== null;
    if (this.#leading && !isHandover) this.#restraint.deposed(this.#kernel.now);
    if (this.#leading) this.#endTerm(isHandover ? 'transferred' : 'higher-epoch');
    this.#enter(claim);
    if (claim.instance !== instance) this.#candidacy.forgetResignation();
    this.#fencing.heard(claim.epoch);
    this.#seniority.hasFollowed = true;
    this.#seniority.meet(claim);
    this.#office.publish(isOpen ? 'elected' : cause);
    this.#updateCandidacy();
    this.#kernel.settle();
    this.#evaluateIn(BATCH_MS);
  }

  /** A new claim is in force: whatever was open about the old one is closed. */
  #enter(claim: Claim): void {
    this.#office.enter(claim);
    this.#doubtSince = null;
    this.#concededAt = null;
    this.#collision = null;
  }

  /** The claim in force, told again: its leader may have given it up since. */
  #mergeSame(told: Claim): void {
    if (!this.#office.merge(told)) return;
    this.#office.publish('vacated');
    this.#evaluateIn(0);
  }

  /** Another member follows this leader. */
  #followedBy(): void {
    if (this.#seniority.hasLed) return;
    this.#seniority.hasLed = true;
    this.#office.setLed();
  }

  #meetRival(rival: Claim, probe: { readonly tiebreak: Tiebreak | null } | null): void {
    if (!this.#leading) return this.#tellLeaderOf(rival);
    this.#seniority.meet(rival);
    if (rival.vacated) return this.#claimLead(this.claim?.defends ?? null, 'merged');
    if (this.#collision?.rival.instance !== rival.instance) {
      const tiebreak = this.#readTiebreak?.() ?? null;
      const { now } = this.#kernel;
      this.#collision = { rival, tiebreak, since: now, toldAt: Number.NEGATIVE_INFINITY };
    }
    const collision = this.#collision;
    collision.rival = rival;
    if (this.#kernel.now >= collision.toldAt + this.#intervalMs || probe)
      this.#tellRival(collision);
    if (probe) this.#decide(collision, probe.tiebreak);
  }

  #decide(collision: Collision, theirs: Tiebreak | null): void {
    const own = this.claim;
    if (!own || this.#doubtSince !== null) return;
    const { rival, tiebreak } = collision;
    const { strategy } = this.#kernel.options;
    const contenders = [
      { claim: own, tiebreak },
      { claim: rival, tiebreak: theirs },
    ] as const;
    if (compareContenders(...contenders, strategy) < 0) {
      const beaten = bestOf(strategy, [rival.leader, rival.defends, own.defends]);
      const isAbove = beaten && strategy.compare(beaten, this.#own) < 0;
      return this.#claimLead(isAbove ? beaten : null, 'merged');
    }
    this.#collision = null;
    this.#concededAt = this.#kernel.now;
    this.#endTerm('higher-epoch');
    this.#kernel.wake(this.#kernel.now);
  }

  #tellRival(collision: Collision): void {
    collision.toldAt = this.#kernel.now;
    this.#kernel.wake(collision.toldAt + this.#intervalMs);
    const message = this.message();
    if (!message) return;
    const probe = { tiebreak: collision.tiebreak };
    this.#kernel.router.post(collision.rival.instance, { ...message, probe });
  }

  /** Followers never decide between leaders of one epoch: their leader does (E6). */
  #tellLeaderOf(rival: Claim): void {
    const leader = this.leader;
    if (!leader || this.#kernel.now < this.#rivalToldAt + TEACH_INTERVAL_MS) return;
    this.#rivalToldAt = this.#kernel.now;
    this.#kernel.router.post(leader.record.instance, this.#office.messageOf(rival));
  }

  #tellTransfer(instance: string): void {
    this.#kernel.wake(this.#kernel.now + this.#intervalMs);
    const defends = this.#defended() ?? this.#own;
    this.#kernel.router.post(instance, { type: 'transfer', epoch: this.epoch, defends });
  }

  /** Others follow a claim in this node's name that it never made: they follow a higher one again. */
  #outbid(epoch: number): void {
    this.#office.see(epoch);
    this.#claimAgain();
  }

  #claimAgain(): void {
    if (!this.leads() || !this.#isEligible() || this.#kernel.detector.isAmnesty) return;
    this.#claimLead(this.claim?.defends ?? null, 'elected');
  }

  #vacate(reason: TermEndReason, cause: ChangeReason, defends: Candidate | null = null): void {
    this.#endTerm(reason);
    this.#office.vacate(defends);
    this.#office.publish(cause);
    this.#evaluateIn(BATCH_MS);
  }

  #endTerm(reason: TermEndReason): void {
    this.#leading = false;
    this.#doubtSince = null;
    this.#collision = null;
    this.#kernel.outbox.emit({ type: 'termend', epoch: this.epoch, reason });
    if (this.#transfer) this.#endTransfer(reason === 'transferred');
  }

  #endTransfer(ok: boolean): void {
    this.#transfer = null;
    this.#kernel.outbox.emit({ type: 'transferdone', ok });
  }

  #clearDoubt(): void {
    if (this.#doubtSince === null || this.#kernel.detector.isAmnesty) return;
    const { answered, asked } = this.#kernel.detector.round(this.#doubtSince);
    if (answered > 0 || asked === 0) this.#doubtSince = null;
  }

  #updateCandidacy(): void {
    const { roster, now } = this.#kernel;
    this.#candidacy.isFenced = this.#fencing.isHeld(now);
    const candidate = this.#candidacy.isEligible;
    if (candidate === roster.self.record.candidate) return;
    roster.changeSelf({ candidate });
    this.#evaluateIn(BATCH_MS);
  }

  #evaluateIn(delayMs: number): void {
    this.#evaluateAtTime(this.#kernel.now + delayMs);
  }

  #evaluateAtTime(at: number): void {
    this.#evaluateAt = Math.min(this.#evaluateAt, at);
    this.#kernel.wake(this.#evaluateAt);
  }

  #defended(): Candidate | null {
    return bestOf(this.#kernel.options.strategy, [this.#own, this.claim?.defends ?? null]);
  }

  get #own(): Candidate {
    const { id, startedAt } = this.#kernel.roster.self.record;
    return { id, startedAt };
  }

  get #intervalMs(): number {
    return this.#kernel.options.detection.heartbeatIntervalMs;
  }
}

/** Verdicts on several members that come together make one decision (E7). */
const BATCH_MS = 100;
/** A target that has not claimed by then is not going to. */
const TRANSFER_MS = 5000;
