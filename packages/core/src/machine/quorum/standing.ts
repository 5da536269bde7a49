import { EPOCH_MAX } from '../claim.ts';
import type { Ballot } from './ballot.ts';
import type { Permit, VoteMessage } from './ballot-message.ts';
import { Campaign } from './campaign.ts';
import { hasVoter } from './config.ts';
import { Grid } from './grid.ts';
import type { QuorumParts } from './parts.ts';
import { Schedule } from './schedule.ts';

/** How this node stands for election: when, after which trial, and how long it asks (Q4, Q5). */
export class Standing {
  readonly #parts: QuorumParts;
  readonly #schedule: Schedule;
  readonly #grid: Grid;
  #campaign: Campaign | null = null;
  /** Unwilling, but newest: it stands when nobody else can (Q3). */
  #isLastResort = false;

  constructor(parts: QuorumParts) {
    this.#parts = parts;
    const random = () => parts.kernel.options.random();
    this.#schedule = new Schedule(parts.settings.timing, random);
    this.#grid = new Grid(random);
  }

  /** A leader was heard. */
  heard(): void {
    this.#campaign = null;
    this.#isLastResort = false;
    const { now } = this.#parts.kernel;
    this.#schedule.heard(now);
    this.#grid.probe(now);
  }

  /** Nobody leads; the first in rank stands at `at`. */
  open(at: number): void {
    this.#schedule.open(at);
    this.#parts.kernel.wake(this.#parts.kernel.now);
  }

  /** This node, or whoever led, has just given the lead up: others have time to stand. */
  standBack(): void {
    this.#campaign = null;
    this.open(this.#parts.kernel.now + this.#parts.settings.timing.electionTimeoutMs[0]);
  }

  /** A candidate was refused because this node knows more. */
  refusedOlder(): void {
    this.#isLastResort = !this.#parts.candidacy.isWilling;
  }

  /** The candidacy is over; gives the evidence of those who granted it (Q11). */
  end(): readonly string[] {
    const evidence = this.#campaign?.evidence ?? [];
    this.#campaign = null;
    return evidence;
  }

  vote(vote: VoteMessage): void {
    const { booth, kernel } = this.#parts;
    const campaign = this.#campaign;
    const isOurs = campaign?.isTrial === vote.isTrial && campaign.epoch === vote.epoch;
    if (isOurs && vote.candidate === kernel.options.instance) {
      campaign.count(vote.voter, vote.denial === null, vote.evidence);
    }
    booth.vote(vote);
    kernel.wake(kernel.now);
  }

  /** Stands at once, with the leader's permit (Q10). */
  permitted(permit: Permit): void {
    const { ballot } = this.#parts.booth;
    if (ballot && this.#mayStand(ballot) && !this.#isExhausted(ballot)) this.#stand(permit);
  }

  poll(now: number): number {
    const { booth, reign } = this.#parts;
    const { ballot } = booth;
    const probeAt = this.#grid.poll(now);
    if (!ballot || ballot.isStoring || reign.isOn) return probeAt;
    return Math.min(probeAt, this.#pollOwn(ballot, now));
  }

  #pollOwn(ballot: Ballot, now: number): number {
    return this.#campaign
      ? this.#pollCampaign(this.#campaign, ballot, now)
      : this.#pollStand(ballot, now);
  }

  #pollStand(ballot: Ballot, now: number): number {
    if (ballot.role !== 'follower' || !this.#mayStand(ballot)) return NEVER;
    const { timing, preVote } = this.#parts.settings;
    const delayMs = this.#parts.candidacy.isWilling ? 0 : 2 * timing.electionTimeoutMs[1];
    const at = this.#schedule.at(this.#rank, this.#isThrottled) + delayMs;
    if (now < at) return at;
    if (this.#isExhausted(ballot)) {
      this.#schedule.failed(now);
      return now;
    }
    if (preVote) this.#campaign = this.#campaignOf(ballot, true, null);
    else this.#stand(null);
    return now;
  }

  #pollCampaign(campaign: Campaign, ballot: Ballot, now: number): number {
    const { station, booth } = this.#parts;
    if (campaign.isTrial && campaign.tally === 'won') {
      this.#stand(null);
      return now;
    }
    if (now >= campaign.until || campaign.tally === 'lost') {
      this.#campaign = null;
      booth.standDown();
      this.#schedule.failed(now);
      return now;
    }
    const { group } = ballot.record;
    const { isTrial, epoch, permit, config } = campaign;
    const evidence = campaign.evidence[0] ?? '';
    for (const voter of campaign.due(now)) {
      const question = { type: 'ask', group, isTrial, epoch, candidate: ballot.self } as const;
      station.sendTo(voter, { ...question, config, evidence, permit });
    }
    return campaign.poll();
  }

  #stand(permit: Permit | null): void {
    const { booth, office } = this.#parts;
    booth.stand(office.epochSeen);
    if (booth.ballot) this.#campaign = this.#campaignOf(booth.ballot, false, permit);
  }

  #campaignOf({ record, self }: Ballot, isTrial: boolean, permit: Permit | null): Campaign | null {
    const { config } = record;
    const { office, kernel, evidence } = this.#parts;
    if (!config) return null;
    const epoch = isTrial ? Math.max(record.epoch, office.epochSeen) + 1 : record.epoch;
    return new Campaign({
      isTrial,
      epoch,
      permit,
      config,
      self,
      evidence: evidence.read(),
      now: kernel.now,
    });
  }

  #mayStand({ record, self, isStoring }: Ballot): boolean {
    const { kernel, candidacy, founding } = this.#parts;
    if (isStoring || kernel.detector.isAmnesty || !hasVoter(record.config, self)) return false;
    if (!founding.isComplete(record) || !this.#isSettled) return false;
    return candidacy.isEligible || (!candidacy.isWilling && this.#isLastResort);
  }

  /** Whether no epoch is left to stand for; says so (E11). */
  #isExhausted({ record }: Ballot): boolean {
    const { kernel, office } = this.#parts;
    if (Math.max(office.epochSeen, record.epoch) < EPOCH_MAX) return false;
    kernel.outbox.violation('', 'E11', `no epoch above ${EPOCH_MAX}`);
    return true;
  }

  /** Nobody stands before the node has met the cluster, or knows that it is alone (E9). */
  #isSettled = false;

  settle(): void {
    this.#isSettled = true;
    this.#parts.kernel.wake(this.#parts.kernel.now);
  }

  /** Voters that want to lead, live, and rank before this one (Q5). */
  get #rank(): number {
    const { kernel, office, booth } = this.#parts;
    const own = kernel.roster.self.record;
    let rank = 0;
    for (const { record, suspectedAt } of kernel.roster.others()) {
      const isVoter = booth.config?.voters.some(({ id }) => id === record.id);
      if (!isVoter || !record.candidate || suspectedAt !== null) continue;
      if (record.instance === office.claim?.instance) continue;
      if (kernel.options.strategy.compare(record, own) < 0) rank += 1;
    }
    return rank;
  }

  get #isThrottled(): boolean {
    return this.#grid.isCoarse || this.#parts.kernel.roster.self.record.hidden;
  }
}

const NEVER = Number.POSITIVE_INFINITY;
