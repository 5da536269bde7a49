import { type Claim, isPlausibleEpoch } from './claim.ts';
import type { ChangeReason } from './effect.ts';
import type { Kernel } from './kernel.ts';
import type { Link } from './links.ts';
import type { Member } from './member.ts';
import type { ClaimMessage, Summary } from './message.ts';
import type { Entry } from './roster.ts';
import type { Candidate } from './strategy.ts';

/** The claim in force, as this node knows it, however it was won: who leads, and who is told. */
export class Incumbency {
  readonly #kernel: Kernel;
  #claim: Claim | null = null;
  #epochSeen = 0;
  #isLapsed = false;
  #adoptedAt = Number.NEGATIVE_INFINITY;
  #told: { readonly leader: Member | null; readonly epoch: number } = { leader: null, epoch: 0 };

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
  }

  get claim(): Claim | null {
    return this.#claim;
  }

  get epoch(): number {
    return this.#claim?.epoch ?? 0;
  }

  /** The highest epoch that anybody has spoken of. */
  get epochSeen(): number {
    return Math.max(this.#epochSeen, this.epoch);
  }

  /** This node gave the claim's leader up, by its own judgement. */
  get isLapsed(): boolean {
    return this.#isLapsed;
  }

  get adoptedAt(): number {
    return this.#adoptedAt;
  }

  /** The leader in force (E5). */
  get leader(): Entry | null {
    const claim = this.#claim;
    if (!claim || claim.vacated || this.#isLapsed) return null;
    return this.#kernel.roster.get(claim.instance) ?? null;
  }

  /** Whether the claim in force is this node's own. */
  get isOwn(): boolean {
    return this.#claim?.instance === this.#kernel.options.instance;
  }

  see(epoch: number): void {
    this.#epochSeen = Math.max(this.#epochSeen, epoch);
  }

  /** A new claim is in force. */
  enter(claim: Claim): void {
    this.see(claim.epoch);
    this.#claim = claim;
    this.#isLapsed = false;
    this.#adoptedAt = this.#kernel.now;
  }

  /** The leader no longer counts here. */
  lapse(): void {
    this.#isLapsed = true;
  }

  /** It counts again. */
  revive(): void {
    this.#isLapsed = false;
  }

  /** Gives the leader up once its silence is confirmed (M5); the time to look again, `now` if so. */
  pollLapse(now: number): number {
    const { leader } = this;
    const { detector } = this.#kernel;
    if (!leader || leader.suspectedAt === null) return Number.POSITIVE_INFINITY;
    if (detector.isAmnesty) return Number.POSITIVE_INFINITY;
    const at = detector.lapseAt(leader);
    if (now < at) return at;
    if (!detector.mayJudge(leader)) return detector.drainedAt;
    this.lapse();
    this.publish('silent');
    return now;
  }

  /** The leader has been in company since (E6). */
  setLed(): void {
    if (this.#claim) this.#claim = { ...this.#claim, led: true };
  }

  /** The leader itself gives its claim up (E8). */
  vacate(defends: Candidate | null): void {
    if (!this.#claim) return;
    this.#claim = { ...this.#claim, vacated: true, defends: defends ?? this.#claim.defends };
    this.tellAll();
  }

  /** The claim in force is told again. True when its leader has given it up since. */
  merge(told: Claim): boolean {
    const claim = this.#claim;
    if (!claim || this.isOwn) return false;
    const isNews = told.vacated && !claim.vacated;
    this.#claim = { ...(isNews ? told : claim), led: told.led || claim.led };
    return isNews;
  }

  /** What rides on every ping and pong. */
  summary(): Summary {
    const claim = this.#claim;
    return {
      epoch: this.epoch,
      leader: claim?.instance ?? '',
      vacated: claim?.vacated ?? false,
      led: claim?.led ?? false,
      lapsed: this.#isLapsed,
      digest: this.#kernel.roster.digest >>> 0,
    };
  }

  message(): ClaimMessage | null {
    return this.#claim && this.messageOf(this.#claim);
  }

  messageOf(claim: Claim): ClaimMessage {
    const leader = this.#kernel.roster.get(claim.instance)?.record ?? null;
    return { type: 'claim', claim, leader: leader?.birth ? leader : null, probe: null };
  }

  /** Whoever holds an older claim, or another of the same epoch, is told this one (E4). */
  teach(from: string, link: Link): void {
    const message = this.message();
    if (!message || this.#kernel.now < link.claimSentAt + TEACH_INTERVAL_MS) return;
    link.claimSentAt = this.#kernel.now;
    this.#kernel.router.post(from, message);
  }

  tellAll(): void {
    const message = this.message();
    if (message) this.#kernel.router.broadcast(message);
  }

  /** Whether a peer may say so; else it is a violation. `forged`: in this node's own name. */
  judge({ claim, leader }: ClaimMessage, from: string, link: Link): 'valid' | 'invalid' | 'forged' {
    const isForeign = leader && leader.instance !== claim.instance;
    const isForged = claim.instance === this.#kernel.options.instance && claim.epoch > this.epoch;
    // The first claim of a link, and the first that its other end makes itself, may be of any height.
    const isFirst = !link.claimSeen || (claim.instance === from && !link.ownClaimSeen);
    const isPossible = isPlausibleEpoch(claim.epoch, isFirst ? null : this.#epochSeen);
    link.claimSeen ||= isPossible;
    link.ownClaimSeen ||= isPossible && claim.instance === from;
    if (!isForeign && !isForged && isPossible) return 'valid';
    const rule = isForeign || isForged ? 'E3' : 'E11';
    const detail = `claim of epoch ${claim.epoch}, at ${this.#epochSeen} here`;
    this.#kernel.outbox.violation(link.peer, rule, detail);
    return isForged && isPlausibleEpoch(claim.epoch, this.#epochSeen) ? 'forged' : 'invalid';
  }

  /** Tells of a change of leader or of its epoch, once. */
  publish(reason: ChangeReason): void {
    const leader = this.leader?.member ?? null;
    const before = this.#told;
    const isSame = leader?.instance === before.leader?.instance;
    if (isSame && (leader === null || before.epoch === this.epoch)) return;
    this.#told = { leader, epoch: this.epoch };
    const previous = before.leader;
    this.#kernel.outbox.emit({ type: 'change', leader, epoch: this.epoch, previous, reason });
  }
}

/** Answers to stale claims over one link: each ping may carry one. */
export const TEACH_INTERVAL_MS = 200;
