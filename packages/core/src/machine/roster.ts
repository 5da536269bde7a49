import { BIRTH_MAX, INCARNATION_MAX } from './codec.ts';
import type { LeaveReason } from './effect.ts';
import type { Kernel } from './kernel.ts';
import { isUsable, type Link } from './links.ts';
import type { Member } from './member.ts';
import {
  compareDuplicates,
  compareRecords,
  compareText,
  hashRecord,
  type MemberRecord,
} from './record.ts';
import { Watch } from './watch.ts';

/** A member of the roster and this node's judgement of it. */
export interface Entry {
  record: MemberRecord;
  member: Member;
  /** When the record last changed here. */
  changedAt: number;
  /** When it was last hidden or shown, as far as this node knows. */
  switchedAt: number;
  /** When there is something to judge, unless something wakes the detector before. */
  dueAt: number;
  /** When anything of it was last heard, over any path. */
  heardAt: number;
  /** Pings it over other members while no direct link answers. */
  readonly probe: Watch;
  /** Link over which it was last heard through a relay. */
  via: string | null;
  suspectedAt: number | null;
  /** At the end of which gap in the inputs a verdict was due, but put off; `null` when none is. */
  overdueAt: number | null;
  /** Who else hears nothing of it, and whether they saw its link close cleanly. */
  readonly accusers: Map<string, { readonly closed: boolean }>;
  /** When its last link closed cleanly, until it is heard again. */
  closedAt: number | null;
  /** What the signaling server sees of it; never proof (M5). */
  witness: 'away' | 'present' | null;
}

interface Contest {
  readonly challenger: MemberRecord;
  /** Its own word, over its own link: not hearsay. */
  readonly isHeard: boolean;
  startedAt: number;
  askedAt: number;
}

/** Who is in the cluster: one entry an id, tombstones for the dead, contests for doubled ids. */
export class Roster {
  readonly self: Entry;
  readonly #kernel: Kernel;
  readonly #byId = new Map<string, Entry>();
  readonly #byInstance = new Map<string, Entry>();
  readonly #tombstones = new Map<string, { readonly record: MemberRecord; readonly at: number }>();
  readonly #contests = new Map<string, Contest>();
  #members: readonly Member[] | null = null;
  #birthSeen = 0;
  #hasDouble = false;
  #digest = 0;
  #version = 0;

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
    const { id, instance, startedAt, meta, now, floorPending } = kernel.options;
    this.self = this.#entry(
      {
        id,
        instance,
        birth: 0,
        incarnation: 1,
        startedAt,
        status: 'alive',
        candidate: !floorPending,
        hidden: false,
        meta: meta === undefined ? '' : JSON.stringify(meta),
      },
      now,
    );
    this.#store(this.self);
  }

  /** Everybody, this node included; sorted, frozen, the same array until something changes. */
  get members(): readonly Member[] {
    this.#members ??= Object.freeze(
      [...this.#byId.values()].map((entry) => entry.member).sort((a, b) => compareText(a.id, b.id)),
    );
    return this.#members;
  }

  /** XOR of the records' hashes: equal rosters have equal digests, whatever the order. */
  get digest(): number {
    return this.#digest;
  }

  /** Grows when somebody comes or goes. */
  get version(): number {
    return this.#version;
  }

  get size(): number {
    return this.#byId.size;
  }

  get(instance: string): Entry | undefined {
    return this.#byInstance.get(instance);
  }

  byId(id: string): Entry | undefined {
    return this.#byId.get(id);
  }

  *others(): IterableIterator<Entry> {
    for (const entry of this.#byId.values()) if (entry !== this.self) yield entry;
  }

  /** Living members beside `self` and `except` that are not suspected: who could confirm. */
  watchers(except: Entry): Entry[] {
    const all = [...this.others()];
    return all.filter((entry) => entry !== except && entry.suspectedAt === null);
  }

  /** Every record to tell a peer that differs: the living, and the newest dead. */
  records(): MemberRecord[] {
    const living = [...this.#byId.values()].map((entry) => entry.record);
    const dead = [...this.#tombstones.values()].slice(-TOMBSTONES_TOLD).map(({ record }) => record);
    return [...living.filter((record) => record.birth > 0), ...dead];
  }

  /** As many living members as fit into a hello; a newcomer has the rest from their own hellos. */
  sample(): MemberRecord[] {
    const living = [...this.#byId.values()].filter(({ record }) => record.birth > 0);
    const start = Math.floor(this.#kernel.options.random() * living.length);
    const turned = [...living.slice(start), ...living.slice(0, start)];
    return turned.slice(0, HELLO_RECORDS_MAX).map(({ record }) => record);
  }

  /** What changed of late: enough for a peer that missed only that. */
  recent(): MemberRecord[] {
    const since = this.#kernel.now - RECENT_MS;
    const living = [...this.#byId.values()].filter(({ changedAt }) => changedAt >= since);
    const dead = [...this.#tombstones.values()].filter(({ at }) => at >= since);
    return [...living, ...dead].map(({ record }) => record).filter(({ birth }) => birth > 0);
  }

  tombstone(instance: string): MemberRecord | undefined {
    return this.#tombstones.get(instance)?.record;
  }

  /** Whether another instance of this node's id has been told of. */
  get hasDouble(): boolean {
    return this.#hasDouble;
  }

  seeBirth(birth: number): void {
    this.#birthSeen = Math.max(this.#birthSeen, birth);
  }

  /** Gives this node its birth, once: after everything it has seen (M1). True the first time. */
  beBorn(): boolean {
    if (this.self.record.birth > 0) return false;
    this.#replace(this.self, {
      ...this.self.record,
      birth: Math.min(this.#birthSeen + 1, BIRTH_MAX),
    });
    return true;
  }

  /** Changes this node's own record: a new incarnation, told to all (M3). */
  changeSelf(patch: Partial<MemberRecord>): void {
    const { record } = this.self;
    const seen = Math.max(record.incarnation, patch.incarnation ?? 0);
    const incarnation = Math.min(seen + 1, INCARNATION_MAX);
    this.#replace(this.self, { ...record, ...patch, incarnation });
    if (record.birth > 0) this.announceSelf();
  }

  announceSelf(): void {
    this.#kernel.router.broadcast({ type: 'records', records: [this.self.record] });
  }

  /**
   * Takes a record in, as it came over `link`, told by its subject itself or by others. Total: any
   * record, in any order, any number of times.
   */
  merge(record: MemberRecord, link: Link | null, isOwnWord = false): void {
    if (record.birth === 0 || !this.#isPlausible(record, link)) return;
    this.seeBirth(record.birth);
    if (record.instance === this.self.record.instance) return this.#mergeSelf(record);
    if (record.id === this.self.record.id) {
      this.#hasDouble = true;
      return;
    }
    const known = this.#byInstance.get(record.instance)?.record ?? this.tombstone(record.instance);
    if (known && compareRecords(record, known) <= 0) {
      if (record.status === 'alive' && record.incarnation < known.incarnation)
        this.#teach(link, known);
      if (record.status === 'alive' && known.status !== 'alive') this.#teach(link, known);
      return;
    }
    const entry = this.#byInstance.get(record.instance);
    if (entry) this.#mergeKnown(entry, record, isOwnWord);
    else if (record.status === 'alive') this.#admit(record, link);
    else this.#bury(record);
  }

  /** Ends a membership; the instance is remembered so that stale words do not revive it. */
  remove(entry: Entry, reason: LeaveReason): void {
    const status = reason === 'leave' ? 'left' : reason === 'replaced' ? 'replaced' : 'dead';
    this.#byId.delete(entry.record.id);
    this.#byInstance.delete(entry.record.instance);
    this.#version++;
    this.#digest ^= hashRecord(entry.record);
    this.#members = null;
    this.#bury({ ...entry.record, status });
    // An evicted instance may come back, and its numbers go on; a final one never does.
    if (status !== 'dead') this.#kernel.channels.forget(entry.record.instance);
    this.#kernel.outbox.emit({ type: 'memberleave', member: entry.member, reason });
    this.#kernel.election.rosterChanged(reason);
  }

  /** Brings the public view of an entry up to date and tells what changed of it. */
  refresh(entry: Entry, event?: 'membersuspect' | 'memberalive' | 'memberupdate'): void {
    const before = entry.member;
    const member = this.#view(entry);
    if (!event && before.link === member.link) return;
    entry.member = member;
    this.#members = null;
    if (before.link !== member.link) this.#kernel.outbox.emit({ type: 'linkchange', member });
    if (event) this.#kernel.outbox.emit({ type: event, member });
  }

  /** Asks on in the contests that are open, and settles those that are due; gives the next time. */
  pollContests(now: number): number {
    let due = Number.POSITIVE_INFINITY;
    for (const contest of this.#contests.values()) {
      const incumbent = this.#byId.get(contest.challenger.id);
      if (!incumbent || this.#isDecided(contest, incumbent, now)) this.#settle(contest, incumbent);
      else due = Math.min(due, this.#ask(contest, incumbent, now));
    }
    return due;
  }

  /** This node slept: nobody's silence in that time counts (M9). */
  stalled(gapMs: number): void {
    for (const contest of this.#contests.values()) contest.startedAt += gapMs;
  }

  /** Drops tombstones that nobody can need any more. */
  sweep(now: number): void {
    for (const [instance, { at }] of this.#tombstones) {
      if (now - at < TOMBSTONE_MS && this.#tombstones.size <= TOMBSTONES_MAX) break;
      this.#tombstones.delete(instance);
      this.#kernel.channels.forget(instance);
    }
  }

  /** Nobody may raise an incarnation so far that its subject could not outbid it (M3). */
  #isPlausible(record: MemberRecord, link: Link | null): boolean {
    const { instance, incarnation } = record;
    const known = this.#byInstance.get(instance)?.record ?? this.tombstone(instance);
    const seen = known?.incarnation ?? 0;
    if (incarnation - seen <= INCARNATION_JUMP_MAX) return true;
    const detail = `incarnation ${incarnation} of ${record.id}, at ${seen} here`;
    this.#kernel.outbox.violation(link?.peer ?? '', 'M3', detail);
    return false;
  }

  #mergeSelf(record: MemberRecord): void {
    const own = this.self.record;
    if (record.status === 'replaced') {
      return this.#kernel.fail('duplicate-id', `another instance of id "${own.id}" took its place`);
    }
    if (record.status === 'left' || compareRecords(record, own) <= 0) return;
    this.changeSelf({ incarnation: record.incarnation });
  }

  #mergeKnown(entry: Entry, record: MemberRecord, isOwnWord: boolean): void {
    const isEnd = record.status === 'left' || record.status === 'replaced';
    if (isEnd && (isOwnWord || !this.#kernel.detector.isHeard(entry))) {
      return this.remove(entry, record.status === 'left' ? 'leave' : 'replaced');
    }
    // Whom this node or a neighbour hears is not gone: it is told, so that it can outbid (M8).
    if (record.status !== 'alive') {
      this.#kernel.router.post(entry.record.instance, { type: 'records', records: [record] });
      return;
    }
    const before = entry.record;
    this.#replace(entry, record);
    this.#kernel.detector.heard(entry.record.instance);
    if (isSameToUsers(before, record)) return;
    this.refresh(entry, 'memberupdate');
    this.#kernel.election.rosterChanged('update');
  }

  #admit(record: MemberRecord, link: Link | null): void {
    const old = this.#byId.get(record.id);
    if (old) return this.#contest(old, record, link);
    if (this.#byId.size >= MEMBERS_MAX) {
      return this.#kernel.outbox.violation(
        link?.peer ?? '',
        'M11',
        `more than ${MEMBERS_MAX} members`,
      );
    }
    this.#tombstones.delete(record.instance);
    const entry = this.#entry(record, this.#kernel.now);
    this.#store(entry);
    this.#kernel.outbox.emit({ type: 'memberjoin', member: entry.member });
    this.#kernel.election.rosterChanged('join');
  }

  /** Two instances of one id: who of them still answers (M1)? */
  #contest(incumbent: Entry, challenger: MemberRecord, link: Link | null): void {
    const open = this.#contests.get(challenger.id);
    const isHeard = link?.instance === challenger.instance;
    // Who speaks for itself goes before whom others speak of.
    if (open ? open.isHeard || !isHeard : this.#contests.size >= CONTESTS_MAX) return;
    const { now } = this.#kernel;
    const contest = { challenger, isHeard, startedAt: now, askedAt: Number.NEGATIVE_INFINITY };
    this.#contests.set(challenger.id, contest);
    this.#kernel.wake(this.#ask(contest, incumbent, now));
  }

  /** Both ends again, over every way: one lost ping must not decide who is alive. */
  #ask(contest: Contest, incumbent: Entry, now: number): number {
    if (now >= contest.askedAt + CONTEST_ASK_MS) {
      contest.askedAt = now;
      this.#kernel.detector.ask(incumbent.record.instance);
      this.#kernel.detector.ask(contest.challenger.instance);
    }
    return contest.askedAt + CONTEST_ASK_MS;
  }

  #isDecided({ challenger, startedAt }: Contest, incumbent: Entry, now: number): boolean {
    const { instance } = incumbent.record;
    const isAnswered = this.#hasAnswered(instance, startedAt);
    if (isAnswered && this.#hasAnswered(challenger.instance, startedAt)) return true;
    // As long as a slow network takes; and a byte that is late is no silence either.
    const [watch = incumbent.probe] = this.#kernel.links.of(instance).map((link) => link.watch);
    const waitMs = Math.max(REPLACE_AFTER_MS, 2 * watch.timeoutMs);
    const isSilent = isAnswered || now >= incumbent.heardAt + REPLACE_AFTER_MS / 2;
    return now >= startedAt + waitMs && isSilent;
  }

  #hasAnswered(instance: string, since: number): boolean {
    const probe = this.#byInstance.get(instance)?.probe;
    if (probe && probe.answeredSentAt >= since) return true;
    return this.#kernel.links.of(instance).some((link) => link.watch.answeredSentAt >= since);
  }

  /**
   * Two that answer are duplicates. A silent incumbent is replaced by a challenger that answers.
   * Anything else is stale word about the challenger: being replaced is final, so the living must
   * not be replaced by the dead.
   */
  #settle({ challenger, startedAt }: Contest, incumbent: Entry | undefined): void {
    this.#contests.delete(challenger.id);
    if (!incumbent) return this.merge(challenger, null);
    if (!this.#hasAnswered(challenger.instance, startedAt)) {
      return this.#bury({ ...challenger, status: 'dead' });
    }
    if (this.#hasAnswered(incumbent.record.instance, startedAt)) {
      return this.#settleDuplicates(incumbent, challenger);
    }
    this.#replaceBy(challenger, incumbent);
  }

  #settleDuplicates(incumbent: Entry, challenger: MemberRecord): void {
    if (compareDuplicates(incumbent.record, challenger) < 0) return this.#refuse(challenger);
    this.#refuse(incumbent.record);
    this.#replaceBy(challenger, incumbent);
  }

  #replaceBy(challenger: MemberRecord, incumbent: Entry): void {
    this.remove(incumbent, 'replaced');
    this.#tombstones.delete(challenger.instance);
    this.merge(challenger, null);
  }

  #refuse(duplicate: MemberRecord): void {
    for (const link of this.#kernel.links.of(duplicate.instance)) {
      this.#kernel.outbox.send(link.peer, { type: 'refuse', code: 'duplicate-id' });
    }
    this.#bury({ ...duplicate, status: 'replaced' });
  }

  /** Whoever speaks of an outdated record is told the newer one, at most once an interval. */
  #teach(link: Link | null, known: MemberRecord): void {
    if (!link) return;
    this.#kernel.outbox.send(link.peer, { type: 'records', records: [known] });
  }

  #bury(record: MemberRecord): void {
    this.#tombstones.delete(record.instance);
    this.#tombstones.set(record.instance, { record, at: this.#kernel.now });
    this.sweep(this.#kernel.now);
  }

  #store(entry: Entry): void {
    this.#byId.set(entry.record.id, entry);
    this.#byInstance.set(entry.record.instance, entry);
    // Whoever is admitted has won, or came in when nobody stood against it any more.
    this.#contests.delete(entry.record.id);
    this.#version++;
    this.#digest ^= hashRecord(entry.record);
    this.#members = null;
  }

  #replace(entry: Entry, record: MemberRecord): void {
    this.#digest ^= hashRecord(entry.record) ^ hashRecord(record);
    if (entry.record.hidden !== record.hidden) entry.switchedAt = this.#kernel.now;
    entry.record = record;
    entry.changedAt = this.#kernel.now;
    entry.member = this.#view(entry);
    this.#members = null;
  }

  #entry(record: MemberRecord, now: number): Entry {
    const entry = {
      record,
      changedAt: now,
      switchedAt: now,
      dueAt: now,
      heardAt: now,
      probe: new Watch(now, this.#kernel.health),
      via: null,
      suspectedAt: null,
      overdueAt: null,
      accusers: new Map(),
      closedAt: null,
      witness: null,
    } as Omit<Entry, 'member'> as Entry;
    entry.member = this.#view(entry);
    return entry;
  }

  #view(entry: Entry): Member {
    const { record } = entry;
    const isSelf = record.instance === this.#kernel.options.instance;
    const isDirect = this.#kernel.links.of(record.instance).some(isUsable);
    return Object.freeze({
      id: record.id,
      instance: record.instance,
      incarnation: record.incarnation,
      startedAt: record.startedAt,
      status: entry.suspectedAt === null ? 'alive' : 'suspect',
      link: isSelf ? 'self' : isDirect ? 'direct' : 'relayed',
      visibility: record.hidden ? 'hidden' : 'visible',
      ...(record.meta === '' ? {} : { meta: JSON.parse(record.meta) as unknown }),
    });
  }
}

function isSameToUsers(a: MemberRecord, b: MemberRecord): boolean {
  return (
    a.startedAt === b.startedAt &&
    a.candidate === b.candidate &&
    a.hidden === b.hidden &&
    a.meta === b.meta
  );
}

/** Above it a mesh of browsers has long ceased to work; a bound on hostile rosters (M11). */
export const MEMBERS_MAX = 1024;
/** Of the dead that are remembered, and how long: no gossip of them is older (M8). */
export const TOMBSTONES_MAX = 1024;
const TOMBSTONE_MS = 3_600_000;
/** The newest dead, told with the roster; older ones are told when somebody names them alive. */
const TOMBSTONES_TOLD = 64;
/** A roster of browsers goes whole; a larger one would make joining quadratic. */
const HELLO_RECORDS_MAX = 32;
/** News travels in a few rounds of pings; older differences want the whole roster. */
const RECENT_MS = 5000;
/** Silence of an old instance that makes the new one its replacement (M1). */
const REPLACE_AFTER_MS = 1000;
/** Four times in the second that a silence must last. */
const CONTEST_ASK_MS = 250;
const CONTESTS_MAX = 64;
/** A larger step of one's own incarnation is no refutation but an attack. */
const INCARNATION_JUMP_MAX = 2 ** 20;
