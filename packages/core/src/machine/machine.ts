import { Channels } from './channels.ts';
import type { Tiebreak } from './claim.ts';
import { CodecError, decode } from './codec.ts';
import { Detector } from './detector.ts';
import type { Effect, FailureCode, NodeState } from './effect.ts';
import { Election } from './election.ts';
import { Greeting } from './greeting.ts';
import { Health } from './health.ts';
import type { Hint, Lifecycle, LinkDownReason } from './input.ts';
import type { Kernel } from './kernel.ts';
import { type Link, Links } from './links.ts';
import type { Member } from './member.ts';
import type { LeaveMessage, Message, PingMessage, RelayMessage } from './message.ts';
import type { MachineOptions } from './options.ts';
import { Outbox } from './outbox.ts';
import { Rings } from './rings.ts';
import { Roster } from './roster.ts';
import { Router } from './router.ts';
import { Stall } from './stall.ts';

export type { Tiebreak } from './claim.ts';
export type { Detection, MachineOptions } from './options.ts';

interface Leaving {
  readonly until: number;
  readonly waiting: Set<string>;
  toldAt: number;
}

interface Confirmation {
  readonly ticket: number;
  readonly since: number;
}

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
  #leaving: Leaving | null = null;
  #confirmations: Confirmation[] = [];

  constructor(options: MachineOptions) {
    const health = new Health();
    const kernel = {
      options,
      health,
      stall: new Stall(options.detection.heartbeatIntervalMs, options.now),
      outbox: new Outbox(),
      links: new Links(health),
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
    kernel.election = new Election(kernel);
    kernel.detector = new Detector(kernel);
    kernel.greeting = new Greeting(kernel);
    kernel.roster = new Roster(kernel);
    this.#kernel = kernel;
    this.#startedAt = options.now;
    this.#dueAt = options.now;
  }

  // Inputs from the transport and the host.

  linkUp(peer: string, now: number): void {
    this.#input(now, () => {
      const { links, options } = this.#kernel;
      if (links.size >= LINKS_MAX) {
        return this.#kernel.outbox.violation(peer, 'M11', `more than ${LINKS_MAX} links`);
      }
      links.close(peer);
      // Spread, so that many links that come up together are not pinged together for ever.
      const spreadMs = options.random() * options.detection.heartbeatIntervalMs;
      links.open(peer, now, now + spreadMs);
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
    if (link && !link.refused) this.#receiveBytes(bytes, link);
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
      if (this.#leaving) return;
      const { roster, election } = this.#kernel;
      const waiting = new Set([...roster.others()].map((entry) => entry.record.instance));
      this.#leaving = { until: now + LEAVE_MS, waiting, toldAt: now };
      election.leave();
      this.#tellLeave();
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

  setCandidacy(candidate: boolean, now: number): void {
    this.#input(now, () => this.#kernel.election.setCandidacy(candidate));
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
      if (this.#confirmations.length >= CONFIRMATIONS_OPEN_MAX) {
        return this.#kernel.outbox.emit({ type: 'confirmed', ticket, ok: false });
      }
      this.#confirmations.push({ ticket, since: now });
      this.#kernel.detector.hurry();
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

  get candidate(): boolean {
    return this.#kernel.roster.self.record.candidate;
  }

  /** Whether this node leads and may say so at `now`: false after a stall, before any event. */
  leads(now: number): boolean {
    return this.#kernel.election.isLeading && !this.#isOver && !this.#kernel.stall.isOverdue(now);
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
        this.#pollConfirmations(now),
        this.#pollLeave(now),
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

  #receiveBytes(bytes: Uint8Array, link: Link): void {
    let message: Message;
    try {
      message = decode(bytes);
    } catch (error) {
      if (!(error instanceof CodecError)) throw error;
      return this.#kernel.outbox.violation(link.peer, 'M11', `malformed message: ${error.message}`);
    }
    if (message.type === 'hello') return this.#kernel.greeting.receive(message, link);
    if (message.type === 'refuse') return this.#kernel.greeting.refused(message, link);
    // Anything else before the hello came out of order; the hello is on its way again.
    if (link.instance === null) return;
    link.known = true;
    if (message.type === 'relay') return this.#relayed(message, link);
    this.#receive(message, link.instance, link, null);
  }

  #relayed(relay: RelayMessage, link: Link): void {
    if (link.instance) this.#kernel.detector.heard(link.instance);
    const own = this.#kernel.router.receive(relay, link);
    if (!own) return;
    let message: Message;
    try {
      message = decode(own.payload);
    } catch (error) {
      if (!(error instanceof CodecError)) throw error;
      return this.#kernel.outbox.violation(link.peer, 'M11', `malformed message: ${error.message}`);
    }
    this.#receive(message, own.origin, link, own);
  }

  /** One message of the instance `from`, over `link` directly or relayed. */
  #receive(message: Message, from: string, link: Link, relay: RelayMessage | null): void {
    const { roster, detector, election, channels } = this.#kernel;
    if (this.#isBuried(from, link)) return;
    detector.heard(from);
    switch (message.type) {
      case 'ping':
      case 'pong':
        return this.#receivePing(message, from, link, relay !== null);
      case 'records':
        for (const record of message.records) roster.merge(record, link);
        return;
      case 'claim':
        return election.receive(message, from, link);
      case 'suspect':
        return this.#receiveSuspect(message.instance, message.incarnation, from);
      case 'quiet':
        return detector.accuse(message.instance, from, message.closed);
      case 'leave':
        return this.#receiveLeave(message, from, link);
      case 'leave-ack':
        this.#leaving?.waiting.delete(from);
        return this.#kernel.wake(this.#kernel.now);
      case 'transfer':
        return election.receiveTransfer(message, from);
      case 'channel':
        return channels.receive(message, from, link);
      default:
        this.#kernel.outbox.violation(link.peer, 'M11', `"${message.type}" inside a relay`);
    }
  }

  /** The dead are told that they are, so that they can come back; the left stay silent (M7, M8). */
  #isBuried(from: string, link: Link): boolean {
    const record = this.#kernel.roster.tombstone(from);
    if (!record) return false;
    if (record.status !== 'dead') return true;
    const { now, options, outbox } = this.#kernel;
    if (now >= link.recordsSentAt + options.detection.heartbeatIntervalMs) {
      link.recordsSentAt = now;
      outbox.send(link.peer, { type: 'records', records: [record] });
    }
    return false;
  }

  #receivePing(message: PingMessage, from: string, link: Link, isRelayed: boolean): void {
    const { detector, election, greeting, outbox, router } = this.#kernel;
    if (message.type === 'pong') detector.answered(message.sequence, from, isRelayed ? null : link);
    else if (isRelayed) router.relay(from, detector.pong(message.sequence));
    else outbox.send(link.peer, detector.pong(message.sequence));
    election.hear(message.summary, from, link);
    if (!isRelayed) greeting.reconcile(message.summary.digest, link);
  }

  /** An accusation of this node is refuted; of another, remembered as a confirmation (M6). */
  #receiveSuspect(instance: string, incarnation: number, from: string): void {
    const { roster, detector, router, options } = this.#kernel;
    if (instance !== options.instance) return detector.accuse(instance, from, false);
    if (incarnation >= roster.self.record.incarnation) {
      this.#kernel.health.fault(1, this.#kernel.now);
      return roster.changeSelf({});
    }
    router.post(from, { type: 'records', records: [roster.self.record] });
  }

  #receiveLeave({ record }: LeaveMessage, from: string, link: Link): void {
    const { roster, router, outbox } = this.#kernel;
    if (record.instance !== from || record.status !== 'left') {
      return outbox.violation(link.peer, 'M7', `leave of ${record.instance} told by ${from}`);
    }
    router.post(from, { type: 'leave-ack' });
    roster.merge(record, link);
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

  #pollConfirmations(now: number): number {
    let due = Number.POSITIVE_INFINITY;
    this.#confirmations = this.#confirmations.filter(({ ticket, since }) => {
      const { answered, asked, over } = this.#kernel.detector.round(since);
      due = Math.min(due, since + CONFIRM_MS);
      if (!over && now < since + CONFIRM_MS) return true;
      const ok = this.leads(now) && (answered > 0 || asked === 0);
      this.#kernel.outbox.emit({ type: 'confirmed', ticket, ok });
      return false;
    });
    return this.#confirmations.length === 0 ? Number.POSITIVE_INFINITY : due;
  }

  #pollLeave(now: number): number {
    const leaving = this.#leaving;
    if (!leaving) return Number.POSITIVE_INFINITY;
    for (const instance of leaving.waiting) {
      if (!this.#kernel.roster.get(instance)) leaving.waiting.delete(instance);
    }
    if (leaving.waiting.size === 0 || now >= leaving.until) {
      this.#enter('left');
      this.#kernel.outbox.emit({ type: 'leavedone' });
      return Number.POSITIVE_INFINITY;
    }
    if (now >= leaving.toldAt + LEAVE_AGAIN_MS) {
      leaving.toldAt = now;
      this.#tellLeave();
    }
    return Math.min(leaving.until, leaving.toldAt + LEAVE_AGAIN_MS);
  }

  #tellLeave(): void {
    const { roster, router } = this.#kernel;
    router.broadcast({ type: 'leave', record: { ...roster.self.record, status: 'left' } });
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
/** A leave that nobody acknowledges ends all the same (M7). */
const LEAVE_MS = 1000;
const LEAVE_AGAIN_MS = 250;
/** Two lost bursts: after it a round has failed. */
const CONFIRM_MS = 3000;
const CONFIRMATIONS_OPEN_MAX = 64;
/** What one input may set off; more waits for the next turn of the event loop. */
const POLL_TURNS_MAX = 8;
