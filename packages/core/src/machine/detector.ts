import type { Kernel } from './kernel.ts';
import { isUsable, type Link } from './links.ts';
import type { PingMessage } from './message.ts';
import type { Entry } from './roster.ts';
import { CONFIRMATIONS_MAX, suspicionRemaining } from './suspicion.ts';
import { MISSES_MAX, TIMEOUT_MAX_MS, type Watch } from './watch.ts';

/**
 * Judges links and members. A link is judged by the answers to pings; a member by everything heard
 * of it over any path. Quiet makes a suspect; only the whole window, or proof, ends a membership.
 */
export class Detector {
  readonly #kernel: Kernel;
  #sequence = 0;
  /** Since when nobody is judged, until one round has been answered; `null` = judging (M9). */
  #amnestySince: number | null = null;
  /** Most links went quiet together: the fault is probably this node's own (M10). */
  #isIsolated = false;

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
  }

  get isAmnesty(): boolean {
    return this.#amnestySince !== null;
  }

  get isIsolated(): boolean {
    return this.#isIsolated;
  }

  /** Any byte of a member, over any path, is a life sign (M12). */
  heard(instance: string): void {
    const { roster, now, election } = this.#kernel;
    const entry = roster.get(instance);
    if (!entry || entry === roster.self) return;
    entry.heardAt = now;
    entry.closedAt = null;
    entry.overdueAt = null;
    if (entry.accusers.size > 0) entry.accusers.clear();
    if (entry.suspectedAt === null) return;
    entry.suspectedAt = null;
    roster.refresh(entry, 'memberalive');
    this.#lookAround();
    election.rosterChanged('update');
  }

  ping(link: Link): void {
    const { now, roster } = this.#kernel;
    const entry = link.instance === null ? undefined : roster.get(link.instance);
    link.watch.sent(++this.#sequence, now, this.#intervalOf(entry));
    this.#kernel.outbox.send(link.peer, this.#ping('ping', this.#sequence));
  }

  /** Asks one instance now, over its links, or over others when it has none that answers. */
  ask(instance: string): void {
    const { links, roster, router, now } = this.#kernel;
    for (const link of links.of(instance)) if (!link.refused) this.ping(link);
    const entry = roster.get(instance);
    if (!entry || links.best(instance)) return;
    entry.probe.sent(++this.#sequence, now, this.#intervalOf(entry));
    router.relay(instance, this.#ping('ping', this.#sequence));
  }

  /** The application uses a link: it is pinged when it has not answered for two intervals. */
  rely(link: Link): void {
    const { now, options } = this.#kernel;
    const staleAt = link.watch.answeredSentAt + 2 * options.detection.heartbeatIntervalMs;
    if (now < staleAt || link.watch.dueAt <= now) return;
    link.watch.hurry(now);
    this.#kernel.wake(now);
  }

  /** Whether something of a member came of late, over any path. */
  isHeard(entry: Entry): boolean {
    return entry.suspectedAt === null && this.#kernel.now < entry.heardAt + QUIET_MS;
  }

  /** A ping arrived: the answer goes back the way it came. */
  pong(sequence: number): PingMessage {
    return this.#ping('pong', sequence);
  }

  answered(sequence: number, instance: string, link: Link | null): void {
    const entry = this.#kernel.roster.get(instance);
    const watch = link ? link.watch : entry?.probe;
    if (!watch?.answered(sequence, this.#kernel.now) || !entry) return;
    this.#kernel.confirmations.answered();
    this.#kernel.roster.refresh(entry);
    if (this.#isIsolated) this.#lookAround();
  }

  /** A link came up or was bound: the member may be direct now. */
  linked(instance: string): void {
    const entry = this.#kernel.roster.get(instance);
    if (!entry) return;
    entry.closedAt = null;
    this.#kernel.roster.refresh(entry);
  }

  unlinked(instance: string, isClean: boolean): void {
    const { roster, links, now } = this.#kernel;
    const entry = roster.get(instance);
    if (!entry || links.of(instance).length > 0) return;
    if (isClean) entry.closedAt = now;
    entry.probe.restart(now);
    roster.refresh(entry);
  }

  /** Proof of death (B1): no window. */
  gone(instance: string): void {
    const entry = this.#kernel.roster.get(instance);
    if (entry && entry !== this.#kernel.roster.self) this.#kernel.roster.remove(entry, 'gone');
  }

  accuse(instance: string, accuser: string, closed: boolean): void {
    const entry = this.#kernel.roster.get(instance);
    if (!entry || !this.#kernel.roster.get(accuser) || entry.accusers.size >= ACCUSERS_MAX) return;
    if (entry.accusers.size === 0) {
      for (const link of this.#kernel.links.of(instance)) link.watch.hurry(this.#kernel.now);
      this.#kernel.wake(this.#kernel.now);
    }
    entry.accusers.set(accuser, { closed: closed || entry.accusers.get(accuser)?.closed === true });
  }

  /** Whether nothing of a member is heard here, for long enough to say so to others. */
  isQuiet(entry: Entry): boolean {
    if (this.isAmnesty || this.#isIsolated) return false;
    if (entry.suspectedAt !== null || entry.closedAt !== null) return true;
    const { now, links } = this.#kernel;
    const direct = links.of(entry.record.instance);
    const missed = direct.every((link) => link.watch.misses >= MISSES_MAX);
    return direct.length > 0 && missed && now - entry.heardAt >= QUIET_MS;
  }

  /** When what came during the last gap in the inputs has been handled. */
  get drainedAt(): number {
    return this.#kernel.stall.gapAt + DRAIN_MS;
  }

  /**
   * Whether a verdict that is due may be given. After a gap that was no stall, as on a grid of
   * timers, a life sign may still be in the queue; a verdict that was due before the last one is not
   * put off again (M9).
   */
  mayJudge(entry: Entry): boolean {
    const { now, stall } = this.#kernel;
    if (now >= this.drainedAt) return true;
    entry.overdueAt ??= stall.gapAt;
    return entry.overdueAt < stall.gapAt;
  }

  /** When a suspected leader's lead is to be given up, by those who confirm (M5). */
  lapseAt(entry: Entry): number {
    if (entry.suspectedAt === null) return Number.POSITIVE_INFINITY;
    const { suspicionMs, leaderSuspicionMinMs } = this.#kernel.options.detection;
    if (this.#isIsolated) return entry.suspectedAt + suspicionMs;
    const watchers = this.#kernel.roster.watchers(entry);
    if (watchers.length === 0) {
      const soloMs = { away: leaderSuspicionMinMs, present: suspicionMs, none: SOLO_LAPSE_MS };
      return entry.suspectedAt + Math.min(soloMs[entry.witness ?? 'none'], suspicionMs);
    }
    const expected = Math.min(CONFIRMATIONS_MAX, watchers.length);
    const confirming = watchers.filter(({ record }) => entry.accusers.has(record.instance)).length;
    const given = Math.min(confirming, expected);
    // Who may be at fault itself waits longer; never longer than the window.
    const minMs = Math.min(leaderSuspicionMinMs * this.#kernel.health.factor, suspicionMs);
    return entry.suspectedAt + suspicionRemaining(given, expected, 0, minMs, suspicionMs);
  }

  /** This node slept: nothing that was due in its sleep counts against others (M9). */
  stalled(gapMs: number): void {
    const { now, links, roster } = this.#kernel;
    this.#amnestySince = now;
    roster.stalled(gapMs);
    for (const link of links.all()) link.watch.restart(now);
    for (const entry of roster.others()) {
      entry.probe.restart(now);
      entry.heardAt += gapMs;
      if (entry.suspectedAt !== null) entry.suspectedAt += gapMs;
      if (entry.closedAt !== null) entry.closedAt += gapMs;
    }
  }

  /** How many of the living are asked in a round, and have answered a ping sent since. */
  round(since: number): { readonly answered: number; readonly asked: number } {
    const asked = [...this.#kernel.roster.others()].filter((entry) => entry.suspectedAt === null);
    const answered = asked.filter((entry) => this.hasAnswered(entry, since)).length;
    return { answered, asked: asked.length };
  }

  hasAnswered({ record, probe }: Entry, since: number): boolean {
    const links = this.#kernel.links.of(record.instance);
    return probe.answeredSentAt >= since || links.some((l) => l.watch.answeredSentAt >= since);
  }

  /** Send time of the latest ping that any member answered; `now` when there is nobody else. */
  answeredAt(now: number): number {
    const { roster, links } = this.#kernel;
    if (roster.size === 1) return now;
    const times = [...roster.others()].flatMap(({ record, probe }) => [
      probe.answeredSentAt,
      ...links.of(record.instance).map(({ watch }) => watch.answeredSentAt),
    ]);
    return Math.max(0, ...times);
  }

  /** Asks everybody again at once. */
  hurry(): void {
    for (const link of this.#kernel.links.all()) link.watch.hurry(this.#kernel.now);
    this.#kernel.wake(this.#kernel.now);
  }

  /**
   * Does what is due; gives the time of the next. Answers and life signs only ever put it off, so
   * the links and members are looked at one by one only when something else has happened.
   */
  poll(now: number, isWoken: boolean): number {
    let due = this.#pollAmnesty(now);
    for (const link of this.#kernel.links.all()) {
      if (isWoken || now >= link.dueAt) {
        link.dueAt = this.#pollLink(link, now);
        const entry = link.instance === null ? undefined : this.#kernel.roster.get(link.instance);
        if (entry) entry.dueAt = now;
      }
      due = Math.min(due, link.dueAt);
    }
    for (const entry of this.#kernel.roster.others()) {
      if (isWoken || now >= entry.dueAt) entry.dueAt = this.#pollEntry(entry, now);
      due = Math.min(due, entry.dueAt);
    }
    return due;
  }

  #pollAmnesty(now: number): number {
    if (this.#amnestySince === null) return Number.POSITIVE_INFINITY;
    const since = this.#amnestySince;
    // Suspects are asked as well: whoever they were before the sleep, they may answer now.
    const isAnswered = [...this.#kernel.roster.others()].every((one) =>
      this.hasAnswered(one, since),
    );
    if (!isAnswered && now < since + TIMEOUT_MAX_MS) return since + TIMEOUT_MAX_MS;
    this.#amnestySince = null;
    this.#kernel.election.amnestyOver();
    return now;
  }

  #pollLink(link: Link, now: number): number {
    if (link.refused) return Number.POSITIVE_INFINITY;
    if (!link.known && now >= link.helloAt) {
      link.helloAt = now + this.#kernel.options.detection.heartbeatIntervalMs;
      this.#kernel.greeting.send(link);
    }
    const helloDue = link.known ? Number.POSITIVE_INFINITY : link.helloAt;
    if (link.instance === null) return helloDue;
    const entry = this.#kernel.roster.get(link.instance);
    this.#keepPace(link.watch, entry, now);
    if (link.watch.poll(now)) this.ping(link);
    if (entry && !isUsable(link) && entry.member.link === 'direct') {
      this.#kernel.roster.refresh(entry);
    }
    return Math.min(helloDue, link.watch.dueAt);
  }

  #pollEntry(entry: Entry, now: number): number {
    let due = this.#pollProbe(entry, now);
    if (this.isAmnesty) return due;
    due = Math.min(due, this.#pollClosed(entry, now));
    // Proven gone just now: there is nobody left to suspect.
    if (this.#kernel.roster.get(entry.record.instance) !== entry) return now;
    if (entry.suspectedAt === null) {
      if (!this.#isSilent(entry)) return due;
      if (now < entry.heardAt + QUIET_MS) return Math.min(due, entry.heardAt + QUIET_MS);
      if (!this.mayJudge(entry)) return Math.min(due, this.drainedAt);
      this.#suspect(entry, now);
    }
    const endsAt = (entry.suspectedAt ?? now) + this.#kernel.options.detection.suspicionMs;
    if (now < endsAt) return Math.min(due, endsAt);
    if (!this.mayJudge(entry)) return Math.min(due, this.drainedAt);
    this.#kernel.roster.remove(entry, 'evicted');
    this.#lookAround();
    return now;
  }

  /** Asks a member over others as soon as its direct links begin to miss. */
  #pollProbe(entry: Entry, now: number): number {
    const direct = this.#kernel.links.of(entry.record.instance);
    if (direct.some((link) => link.watch.misses < PROBE_AT_MISSES)) {
      entry.probe.restart(now);
      return Number.POSITIVE_INFINITY;
    }
    this.#keepPace(entry.probe, entry, now);
    if (entry.probe.poll(now)) {
      entry.probe.sent(++this.#sequence, now, this.#intervalOf(entry));
      this.#kernel.router.relay(entry.record.instance, this.#ping('ping', this.#sequence));
    }
    return entry.probe.dueAt;
  }

  /** A clean close that every other member saw too, and no new link since, is proof (M5). */
  #pollClosed(entry: Entry, now: number): number {
    if (entry.closedAt === null) return Number.POSITIVE_INFINITY;
    if (now < entry.closedAt + CLOSED_PROOF_MS) return entry.closedAt + CLOSED_PROOF_MS;
    const witnesses = this.#kernel.roster.watchers(entry);
    const isProof = witnesses.every(({ record }) => entry.accusers.get(record.instance)?.closed);
    if (isProof) this.#kernel.roster.remove(entry, 'gone');
    return Number.POSITIVE_INFINITY;
  }

  /** No path answers. */
  #isSilent(entry: Entry): boolean {
    const direct = this.#kernel.links.of(entry.record.instance);
    if (direct.some((link) => link.watch.misses < MISSES_MAX)) return false;
    const hasHelpers = this.#kernel.roster.watchers(entry).length > 0;
    if (!hasHelpers) return true;
    return entry.probe.misses >= (direct.length > 0 ? 1 : MISSES_MAX);
  }

  #suspect(entry: Entry, now: number): void {
    const { roster, router, election } = this.#kernel;
    entry.suspectedAt = now;
    this.#lookAround();
    roster.refresh(entry, 'membersuspect');
    if (this.#isIsolated) return election.rosterChanged('suspect');
    const { instance, incarnation } = entry.record;
    // The suspect first, so that it can refute before others act on it (M6).
    router.postEverywhere(instance, { type: 'suspect', instance, incarnation });
    election.rosterChanged('suspect');
    // The other members would only repeat what its watchers tell everybody.
    if (!this.#kernel.rings.isWatcher(entry)) return;
    for (const { record } of roster.watchers(entry)) {
      router.post(record.instance, { type: 'suspect', instance, incarnation });
    }
  }

  /** Do most of at least three members miss at once? Then it delays, but never vetoes (M10). */
  #lookAround(): void {
    const others = [...this.#kernel.roster.others()];
    const missing = others.filter((entry) => this.#isMissing(entry)).length;
    const isIsolated = others.length >= ISOLATION_MEMBERS_MIN && missing > others.length / 2;
    if (isIsolated === this.#isIsolated) return;
    this.#isIsolated = isIsolated;
    this.#kernel.isolated(isIsolated);
    if (!isIsolated) return;
    this.#kernel.health.fault(1, this.#kernel.now);
    this.hurry();
  }

  /** Suspected, or about to be: it has not answered since it should have. */
  #isMissing(entry: Entry): boolean {
    if (entry.suspectedAt !== null) return true;
    const { now, links, options } = this.#kernel;
    if (now < entry.heardAt + QUIET_MS / 3) return false;
    const direct = links.of(entry.record.instance).filter(isUsable);
    if (direct.length > 0) return direct.every(({ watch }) => watch.misses > 0);
    // A member behind a dead link is heard over others, or it is missing.
    return entry.probe.answeredSentAt < now - 2 * options.detection.heartbeatIntervalMs;
  }

  /** Who is to be watched from now on is not left to the slow pace of before. */
  #keepPace(watch: Watch, entry: Entry | undefined, now: number): void {
    const intervalMs = this.#intervalOf(entry);
    if (watch.dueAt <= now + intervalMs) return;
    watch.hurry(now + this.#kernel.options.random() * intervalMs);
  }

  /** Links to the dead are still tried, so that partitions heal by themselves (M8). */
  #intervalOf(entry: Entry | undefined): number {
    if (!entry) return DEAD_PING_INTERVAL_MS;
    const { heartbeatIntervalMs } = this.#kernel.options.detection;
    return this.#kernel.rings.watches(entry) ? heartbeatIntervalMs : UNWATCHED_PING_INTERVAL_MS;
  }

  #ping(type: 'ping' | 'pong', sequence: number): PingMessage {
    return { type, sequence, summary: this.#kernel.election.summary() };
  }
}

/** Silence on every path that makes a suspect, beside the missed answers (M5). */
const QUIET_MS = 1500;
/** Misses of the direct link after which others are asked: early enough to answer in time. */
const PROBE_AT_MISSES = 2;
/** A leader's silence that nobody can confirm (M5). */
const SOLO_LAPSE_MS = 5000;
/** A new link within this time shows that the close was a reconnect (M5). */
const CLOSED_PROOF_MS = 1000;
/** Pings to the dead: a partition heals within this and a round trip; cheap enough for ever. */
const DEAD_PING_INTERVAL_MS = 2000;
/** Queued messages are handed over within a few turns of the event loop. */
const DRAIN_MS = 250;
/** Fewer tell nothing about whose fault a silence is (M10). */
const ISOLATION_MEMBERS_MIN = 3;
/** A link that others watch is still tried, so that one that has died is not relied on for long. */
const UNWATCHED_PING_INTERVAL_MS = 10_000;
/** More confirmations change nothing. */
const ACCUSERS_MAX = 64;
