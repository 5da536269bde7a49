import { BullyElection } from './bully.ts';
import { Channels } from './channels.ts';
import type { Tiebreak } from './claim.ts';
import { Confirmations } from './confirmations.ts';
import { Departure } from './departure.ts';
import { Detector } from './detector.ts';
import type { Effect, FailureCode, NodeState } from './effect.ts';
import type { StorageProblem, VotersChange, Voting } from './election.ts';
import { Foreground } from './foreground.ts';
import { Greeting } from './greeting.ts';
import { Health } from './health.ts';
import { Inbox } from './inbox.ts';
import type { Hint, Lifecycle, LinkDownReason, LockAnswer } from './input.ts';
import type { Kernel } from './kernel.ts';
import { type Link, Links } from './links.ts';
import type { Member } from './member.ts';
import type { MachineOptions } from './options.ts';
import { Outbox } from './outbox.ts';
import { Rings } from './rings.ts';
import { Roster } from './roster.ts';
import { Router } from './router.ts';
import { Stall } from './stall.ts';

export type { Tiebreak } from './claim.ts';
export type { Detection, MachineOptions } from './options.ts';

/**
 * One node's membership and election, without clock, timers, randomness or I/O of its own. Each
 * input carries `now`; afterwards the host drains the effects and sets one timer for
 * `nextDeadline()`. Total: no remote input throws; it shows as a `violation` event.
 */
export class Machine {
  readonly #kernel: Kernel;
  readonly #startedAt: number;
  #state: NodeState = 'joining';
  #dueAt: number;
  /** Something happened since the last poll that may have made other things due. */
  #isWoken = true;
  #discoveryPending: number | null = null;
  #isReady = false;
  readonly #inbox: Inbox;
  readonly #foreground: Foreground;

  constructor(options: MachineOptions) {
    const health = new Health();
    const kernel = {
      options,
      health,
      stall: new Stall(options.detection.heartbeatIntervalMs, options.now),
      outbox: new Outbox(),
      links: new Links(health),
      departure: null,
      now: options.now,
      wake: (at: number) => {
        this.#dueAt = Math.min(this.#dueAt, at);
        this.#isWoken = true;
      },
      settle: () => this.#settle(),
      isolated: (isIsolated: boolean) => {
        if (this.#isReady) this.#enter(isIsolated ? 'isolated' : 'joined');
      },
      fail: (code: FailureCode, message: string) => this.#fail(code, message),
    } as Mutable<Kernel>;
    kernel.channels = new Channels(kernel);
    kernel.rings = new Rings(kernel);
    kernel.router = new Router(kernel);
    kernel.election = options.elect?.(kernel) ?? new BullyElection(kernel);
    kernel.detector = new Detector(kernel);
    kernel.greeting = new Greeting(kernel);
    kernel.confirmations = new Confirmations(kernel);
    kernel.roster = new Roster(kernel);
    this.#kernel = kernel;
    this.#inbox = new Inbox(kernel);
    this.#foreground = new Foreground(kernel);
    this.#startedAt = options.now;
    this.#dueAt = options.now;
  }

  // Inputs from the transport and the host.

  linkUp(peer: string, now: number, cost = 1): void {
    this.#input(now, () => {
      const { links, options } = this.#kernel;
      if (links.size >= LINKS_MAX) {
        return this.#kernel.outbox.violation(peer, 'M11', `more than ${LINKS_MAX} links`);
      }
      links.close(peer);
      // Spread, so that many links that come up together are not pinged together for ever.
      const spreadMs = options.random() * options.detection.heartbeatIntervalMs;
      links.open(peer, { now, firstPingAt: now + spreadMs, cost });
      this.#kernel.wake(now);
    });
  }

  linkDown(peer: string, why: LinkDownReason, now: number): void {
    this.#input(now, () => {
      const link = this.#kernel.links.close(peer);
      if (link?.instance) this.#kernel.detector.unlinked(link.instance, why === 'closed');
      this.#kernel.wake(now);
    });
  }

  receive(peer: string, bytes: Uint8Array, now: number): void {
    if (!this.#begin(now)) return;
    const link = this.#kernel.links.get(peer);
    if (link && !link.refused) this.#inbox.receive(bytes, link);
    this.#end(now);
  }

  hint(peer: string, kind: Hint, now: number): void {
    this.#input(now, () => {
      const link = this.#kernel.links.get(peer);
      if (link?.instance) this.#hint(link, link.instance, kind);
      this.#kernel.wake(now);
    });
  }

  discovery(pending: number, now: number): void {
    this.#input(now, () => {
      this.#discoveryPending = pending;
      this.#kernel.wake(now);
    });
  }

  lifecycle(kind: Lifecycle, now: number): void {
    this.#input(now, () => {
      const { roster, election, detector } = this.#kernel;
      if (kind === 'freeze') election.freeze();
      if (kind === 'resume' || kind === 'pageshow') {
        // However short it was: what came meanwhile is still on its way in (M9).
        detector.stalled(0);
        election.stalled(0);
        election.resume();
      }
      if (kind === 'online') detector.hurry();
      const hidden = kind === 'hidden';
      if ((hidden || kind === 'visible') && roster.self.record.hidden !== hidden) {
        roster.changeSelf({ hidden });
        roster.refresh(roster.self, 'memberupdate');
      }
      this.#kernel.wake(now);
    });
  }

  advance(now: number): void {
    const lateMs = now - this.#dueAt;
    this.#kernel.stall.timer(now, lateMs);
    this.#kernel.health.timer(lateMs, this.#kernel.stall.gridMs, now);
    this.#input(now, () => undefined);
  }

  // Inputs from the application.

  /** Announces the leave; `leavedone` follows when all have acknowledged it, or after 1 s (M7). */
  leave(now: number): void {
    this.#input(now, () => {
      if (this.#kernel.departure) return;
      this.#kernel.election.leave();
      this.#kernel.departure = new Departure(this.#kernel);
      this.#kernel.wake(now);
    });
  }

  resign(now: number): void {
    this.#input(now, () => this.#kernel.election.resign());
  }

  /** False, and nothing happens, unless this node leads and `id` is a member that may lead. */
  transfer(id: string, now: number): boolean {
    let isStarted = false;
    this.#input(now, () => {
      isStarted = this.#kernel.election.transfer(id);
    });
    return isStarted;
  }

  /** A resource has refused this node's term, having seen the epoch `high` (X2). */
  fenced(high: number, now: number): void {
    this.#input(now, () => this.#kernel.election.fenced(high));
  }

  setCandidacy(candidate: boolean, now: number): void {
    this.#input(now, () => this.#kernel.election.setCandidacy(candidate));
  }

  /** What the store held: of voters only (Q1). */
  restore(bytes: Uint8Array | null, freshId: string, now: number): void {
    this.#input(now, () => this.#kernel.election.voting?.restore(bytes, freshId));
  }

  /** What the effect of this ticket asked for is stored durably. */
  stored(ticket: number, now: number): void {
    this.#input(now, () => this.#kernel.election.voting?.stored(ticket));
  }

  storageFailed(problem: StorageProblem, message: string, now: number): void {
    this.#input(now, () => this.#kernel.election.voting?.storageFailed(problem, message));
  }

  /** What came of a `lock` effect. */
  locked(answer: LockAnswer, now: number): void {
    this.#input(now, () => this.#kernel.election.locking?.answered(answer));
  }

  /** Ends in one `voterschanged` event with the same ticket. */
  changeVoters(change: VotersChange, ticket: number, now: number): void {
    this.#input(now, () => {
      const { election, outbox } = this.#kernel;
      if (election.voting) election.voting.changeVoters(change, ticket);
      else outbox.emit({ type: 'voterschanged', ticket, refusal: 'not-leader' });
    });
  }

  setMeta(meta: unknown, now: number): void {
    this.#input(now, () => {
      const { roster } = this.#kernel;
      roster.changeSelf({ meta: meta === undefined ? '' : JSON.stringify(meta) });
      roster.refresh(roster.self, 'memberupdate');
    });
  }

  /** Read when two leaders of one epoch meet. Must not throw; `null` = unset. */
  setTiebreaker(read: (() => Tiebreak | null) | null): void {
    this.#kernel.election.setTiebreaker(read);
  }

  /** The epoch to start above; `null` when it could not be learnt: the node stays ineligible. */
  setFloor(epoch: number | null, now: number): void {
    this.#input(now, () => this.#kernel.election.setFloor(epoch));
  }

  /** `to`: a member's id, or `null` for everybody. `epoch` 0 = not stamped. False: no route. */
  channelSend(
    channel: string,
    to: string | null,
    data: Uint8Array,
    epoch: number,
    now: number,
  ): boolean {
    let isSent = false;
    this.#input(now, () => {
      isSent = this.#kernel.channels.send(channel, to, data, epoch);
    });
    return isSent;
  }

  /** Starts a fresh round to all members; ends in one `confirmed` event with the same ticket. */
  confirm(ticket: number, now: number): void {
    this.#input(now, () => {
      this.#kernel.confirmations.start(ticket);
      this.#kernel.wake(now);
    });
  }

  // Outputs.

  /** When `advance` wants to be called; `Infinity` after the end. */
  nextDeadline(): number {
    return this.#isOver ? Number.POSITIVE_INFINITY : this.#dueAt;
  }

  drain(): Effect[] {
    return this.#kernel.outbox.drain();
  }

  // Reads.

  get state(): NodeState {
    return this.#state;
  }

  /** Sorted by id, frozen, and the same array until something changes. */
  get members(): readonly Member[] {
    return this.#kernel.roster.members;
  }

  get leader(): Member | null {
    return this.#kernel.election.leader?.member ?? null;
  }

  get epoch(): number {
    return this.#kernel.election.epoch;
  }

  /** Who votes, where voters decide. */
  get voting(): Pick<Voting, 'config' | 'role' | 'evidence'> | undefined {
    return this.#kernel.election.voting;
  }

  get candidate(): boolean {
    return this.#kernel.roster.self.record.candidate;
  }

  /** Whether this node leads and may say so at `now`: false after a stall, before any event. */
  leads(now: number): boolean {
    return this.#kernel.election.leads(now) && !this.#isOver && !this.#kernel.stall.isOverdue(now);
  }

  /** Until when leadership is probable, were nothing more heard; 0 when not leading. */
  validUntil(now: number): number {
    return this.leads(now) ? this.#kernel.election.validUntil(now) : 0;
  }

  /** Round trip to a member in ms, when measured. */
  rtt(id: string): number | undefined {
    const entry = this.#kernel.roster.byId(id);
    if (!entry) return undefined;
    return this.#kernel.links.best(entry.record.instance)?.watch.rttMs ?? entry.probe.rttMs;
  }

  // The loop: every input notes the time, does its part, then whatever is due.

  #input(now: number, act: () => void): void {
    if (!this.#begin(now)) return;
    act();
    this.#end(now);
  }

  #begin(now: number): boolean {
    if (this.#isOver) return false;
    this.#kernel.now = now;
    const gapMs = this.#kernel.stall.input(now);
    if (gapMs > 0) this.#stalled(gapMs);
    return !this.#isOver;
  }

  #end(now: number): void {
    if (!this.#isOver && now >= this.#dueAt) this.#poll(now);
  }

  #poll(now: number): void {
    const { detector, roster, election, options, health } = this.#kernel;
    health.recover(now, options.detection.heartbeatIntervalMs);
    for (let turn = 0; turn < POLL_TURNS_MAX && now >= this.#dueAt; turn++) {
      this.#dueAt = now + options.detection.heartbeatIntervalMs;
      const isWoken = this.#isWoken;
      this.#isWoken = false;
      const dues = [
        detector.poll(now, isWoken),
        roster.pollContests(now),
        this.#pollSettled(now),
        election.poll(now),
        this.#kernel.confirmations.poll(now, this.leads(now)),
        this.#foreground.poll(now, this.leads(now)),
        this.#pollDeparture(now),
      ];
      if (this.#isOver) return;
      // `wake` may have lowered it meanwhile.
      this.#dueAt = Math.min(this.#dueAt, ...dues);
    }
    // What is still due comes back with the next input; a turn of the event loop lies between.
    this.#dueAt = Math.max(this.#dueAt, now + 1);
  }

  #stalled(gapMs: number): void {
    const { detector, election, roster, options } = this.#kernel;
    detector.stalled(gapMs);
    election.stalled(gapMs);
    // Others may hold this node dead by now: it comes back as a new incarnation (M9).
    if (gapMs > options.detection.suspicionMs) roster.changeSelf({});
    this.#kernel.wake(this.#kernel.now);
  }

  #hint(link: Link, instance: string, kind: Hint): void {
    const { detector, roster } = this.#kernel;
    const entry = roster.get(instance);
    if (kind === 'gone') detector.gone(instance);
    if (kind === 'unreachable') link.watch.hurry(this.#kernel.now);
    if (kind === 'closed-cleanly' && entry) entry.closedAt ??= this.#kernel.now;
    if ((kind === 'away' || kind === 'present') && entry) entry.witness = kind;
  }

  #pollSettled(now: number): number {
    if (this.#isReady) return Number.POSITIVE_INFINITY;
    const graceEndsAt = this.#startedAt + this.#kernel.options.joinGraceMs;
    const isAllMet = [...this.#kernel.links.all()].every((link) => this.#isMet(link));
    const hasMetAll = this.#discoveryPending === 0 && isAllMet;
    if (!hasMetAll && now < graceEndsAt) return graceEndsAt;
    this.#settle();
    return now;
  }

  /** Its hello is in, and its record too: one that was new itself tells it a moment later. */
  #isMet(link: Link): boolean {
    if (link.refused) return true;
    const { roster } = this.#kernel;
    const { instance } = link;
    return instance !== null && (!!roster.get(instance) || !!roster.tombstone(instance));
  }

  #settle(): void {
    if (this.#isReady || this.#isOver) return;
    this.#isReady = true;
    const { roster, election, outbox } = this.#kernel;
    if (roster.beBorn()) roster.announceSelf();
    this.#enter('joined');
    outbox.emit({ type: 'ready' });
    election.settle();
  }

  #pollDeparture(now: number): number {
    const { departure, outbox } = this.#kernel;
    if (!departure) return Number.POSITIVE_INFINITY;
    if (!departure.isOver(now)) return departure.poll(now);
    this.#enter('left');
    outbox.emit({ type: 'leavedone' });
    return Number.POSITIVE_INFINITY;
  }

  #fail(code: FailureCode, message: string): void {
    if (this.#isOver) return;
    this.#kernel.election.leave();
    this.#enter('failed', { code, message });
  }

  #enter(state: NodeState, failure?: { code: FailureCode; message: string }): void {
    const previous = this.#state;
    if (previous === state) return;
    this.#state = state;
    const change = { type: 'statechange', state, previous } as const;
    this.#kernel.outbox.emit(failure ? { ...change, failure } : change);
  }

  get #isOver(): boolean {
    return this.#state === 'left' || this.#state === 'failed';
  }
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** Above it no browser keeps its connections (Chromium stops at 500). */
const LINKS_MAX = 512;
/** What one input may set off; more waits for the next turn of the event loop. */
const POLL_TURNS_MAX = 8;
