import type { ChangeReason, LeaveReason } from '../machine/effect.ts';
import type { FenceEntry } from './sim-fence.ts';

/** A member as the checkers know it. */
export interface Identity {
  readonly id: string;
  readonly instance: string;
}

/** What the simulator saw happen. `at` is virtual time, `local` the monotonic clock of `node`. */
export type Observation =
  | {
      readonly type: 'change';
      readonly node: Identity;
      readonly leader: Identity | null;
      readonly epoch: number;
      readonly previous: Identity | null;
      readonly reason: ChangeReason;
      readonly local: number;
    }
  | { readonly type: 'memberjoin'; readonly node: Identity; readonly member: Identity }
  | {
      readonly type: 'memberleave';
      readonly node: Identity;
      readonly member: Identity;
      readonly reason: LeaveReason;
      readonly local: number;
    }
  /** A message of `from` reached `node`. */
  | {
      readonly type: 'heard';
      readonly node: Identity;
      readonly from: Identity;
      readonly local: number;
    }
  /** What a node's handle reads after something happened to the node. */
  | {
      readonly type: 'read';
      readonly node: Identity;
      readonly isSelf: boolean;
      readonly epoch: number;
      readonly leader: Identity | null;
      /** It has left, or failed. */
      readonly isOver: boolean;
      readonly memberCount: number;
    }
  /** An application has said whether its node may lead. */
  | { readonly type: 'candidacy'; readonly node: Identity; readonly isCandidate: boolean }
  /** A `change` is told to an application whose latest term was that of `epoch`. */
  | {
      readonly type: 'term';
      readonly node: Identity;
      readonly epoch: number;
      readonly isAborted: boolean;
      readonly told: { readonly leader: Identity | null; readonly epoch: number };
    }
  /** A node runs again after it stood still for `stalledMs` of its own time. */
  | {
      readonly type: 'stalled';
      readonly node: Identity;
      readonly isSelf: boolean;
      readonly stalledMs: number;
    }
  /** A node has been told that its page freezes, or is about to be told that it runs again. */
  | { readonly type: 'frozen'; readonly node: Identity; readonly isSelf: boolean }
  /** A node ended: it said so (`left`), its links closed (`closed`), or it just stopped. */
  | { readonly type: 'ended'; readonly node: Identity; readonly how: 'left' | 'closed' | 'crashed' }
  | { readonly type: 'started'; readonly node: Identity }
  | { readonly type: 'failed'; readonly node: Identity; readonly code: string | undefined }
  | { readonly type: 'fence'; readonly name: string; readonly entry: FenceEntry }
  /** Who says at one instant that it leads, where voters or a lock decide. */
  | { readonly type: 'leases'; readonly holders: readonly Identity[] }
  | { readonly type: 'queue'; readonly what: string; readonly count: number; readonly max: number };

/** Looks at everything that happens, and says what is wrong with it, if anything. */
export type Checker = (observed: Observation) => string | null;

/** What the checkers need to know of the cluster. */
export interface CheckerOptions {
  readonly suspicionMs: number;
  readonly leaderSuspicionMinMs: number;
  /** Whether an epoch has one author at most at all times: not so in bully mode (E3). */
  readonly exclusiveEpochs: boolean;
  /** Whether one that does not want to lead may have to: where voters decide (Q3). */
  readonly hasLastResort?: boolean;
}

/** All checkers in one, which gives the first complaint. */
export function allCheckers(options: CheckerOptions): Checker {
  const [epochs, evictions] = [epochChecker(), evictionChecker(options)];
  const departures = [departureChecker(), duplicateChecker()];
  const stalls = stallChecker(options.leaderSuspicionMinMs);
  const roster = rosterChecker();
  const [rivals, self, size] = [
    rivalChecker(),
    selfChecker(options.leaderSuspicionMinMs, options.hasLastResort),
    sizeChecker(),
  ];
  // Most of what happens is messages: each checker sees only what it looks at.
  const checkers: Record<Observation['type'], readonly Checker[]> = {
    change: [epochs, self, evictions, changeChecker(), authorChecker(options.exclusiveEpochs)],
    memberjoin: [roster, size],
    memberleave: [roster, evictions, ...departures],
    heard: [evictions, rivals],
    read: [epochs, self, rivals, size],
    candidacy: [self],
    term: [termChecker()],
    stalled: [stalls, self],
    frozen: [stalls, self],
    started: [size, ...departures],
    ended: [rivals, ...departures],
    failed: departures,
    fence: [fenceChecker()],
    leases: [leaseChecker()],
    queue: [boundChecker()],
  };
  return (observed) => {
    for (const check of checkers[observed.type]) {
      const complaint = check(observed);
      if (complaint !== null) return complaint;
    }
    return null;
  };
}

/** E4: the epoch of an instance never decreases. */
export function epochChecker(): Checker {
  const epochs = new Map<string, number>();
  return (observed) => {
    if (observed.type !== 'read' && observed.type !== 'change') return null;
    const { node, epoch } = observed;
    const before = epochs.get(node.instance) ?? 0;
    if (epoch >= before) {
      if (epoch > before) epochs.set(node.instance, epoch);
      return null;
    }
    return `E4: the epoch of ${node.id} went back from ${before} to ${epoch}`;
  };
}

/** E4: where one leader follows another, the epoch has risen. */
export function changeChecker(): Checker {
  const latest = new Map<string, { readonly leader: Identity; readonly epoch: number }>();
  return (observed) => {
    if (observed.type !== 'change' || observed.leader === null) return null;
    const { node, leader, epoch } = observed;
    const before = latest.get(node.instance);
    latest.set(node.instance, { leader, epoch });
    if (before === undefined || before.leader.instance === leader.instance) return null;
    if (epoch > before.epoch) return null;
    return `E4: ${node.id} follows ${leader.id} after ${before.leader.id} without a higher epoch than ${epoch}`;
  };
}

/** E3: an epoch is claimed by its leader before others follow it, and once by one instance. */
export function authorChecker(exclusive: boolean): Checker {
  const authors = new Map<number, Set<string>>();
  const claimed = new Map<string, number>();
  return (observed) => {
    if (observed.type !== 'change' || observed.leader === null) return null;
    const { node, leader, epoch } = observed;
    if (node.instance !== leader.instance) {
      if (authors.get(epoch)?.has(leader.instance)) return null;
      return `E3: ${node.id} follows ${leader.id} in epoch ${epoch}, which ${leader.id} never claimed`;
    }
    const before = claimed.get(node.instance) ?? 0;
    claimed.set(node.instance, epoch);
    if (epoch <= before) return `E3: ${node.id} claims epoch ${epoch} after epoch ${before}`;
    const known = authors.get(epoch) ?? new Set();
    authors.set(epoch, known.add(node.instance));
    return exclusive && known.size > 1 ? `E3: epoch ${epoch} has ${known.size} authors` : null;
  };
}

/**
 * E5, E8, E13: who says that it leads also names itself as the leader, may lead, has not ended, and
 * has not lost the lead of this epoch before: by its own word, by a freeze, or by a long stall. Where
 * voters decide, one that does not want to lead may have to, as it alone knows the newest (Q3).
 */
export function selfChecker(leaderSuspicionMinMs: number, hasLastResort = false): Checker {
  const unwilling = new Set<string>();
  const latest = new Map<string, number>();
  const lost = new Map<string, number>();
  return (observed) => {
    if (observed.type === 'candidacy') {
      if (observed.isCandidate) unwilling.delete(observed.node.instance);
      else unwilling.add(observed.node.instance);
    }
    if (observed.type === 'change' && observed.leader?.instance !== observed.node.instance) {
      lost.set(observed.node.instance, observed.epoch);
    }
    const hasSlept = observed.type === 'stalled' && observed.stalledMs > leaderSuspicionMinMs;
    if (hasSlept || observed.type === 'frozen') {
      const { instance } = observed.node;
      lost.set(instance, latest.get(instance) ?? 0);
    }
    if (observed.type !== 'read') return null;
    const { node, leader, epoch, isOver } = observed;
    latest.set(node.instance, epoch);
    if (!observed.isSelf) return null;
    if (leader?.instance !== node.instance) {
      return `E5: ${node.id} says that it leads, but names ${leader?.id ?? 'nobody'}`;
    }
    if (isOver) return `E8: ${node.id} says that it leads after its end`;
    if (!hasLastResort && unwilling.has(node.instance)) {
      return `E13: ${node.id} leads without being a candidate`;
    }
    if (epoch > (lost.get(node.instance) ?? 0)) return null;
    return `E8: ${node.id} resumes its lost term of epoch ${epoch}`;
  };
}

/**
 * E6: two that say they lead in one epoch, and hear each other, come to a decision. They may both
 * say so as long as nothing passes between them (E3), and what was queued for one that stood still
 * comes all at once; so what counts is that messages go both ways for long enough. Every ping tells
 * of the claim: after thirty in each direction, some of which are lost or of other kinds, in eight
 * seconds, each has been told of the other many times over.
 */
export function rivalChecker(): Checker {
  const leading = new Map<string, number>();
  const heard = new Map<string, { count: number; readonly since: number }>();
  return (observed) => {
    if (observed.type === 'ended') leading.delete(observed.node.instance);
    if (observed.type === 'read') {
      const { node, isSelf, epoch } = observed;
      if (isSelf) leading.set(node.instance, epoch);
      else leading.delete(node.instance);
    }
    if (observed.type !== 'heard' || leading.size < 2) return null;
    const { node, from, local } = observed;
    const epoch = leading.get(node.instance);
    if (epoch === undefined || epoch !== leading.get(from.instance)) return null;
    const key = `${epoch} ${from.instance} ${node.instance}`;
    const there = heard.get(key) ?? { count: 0, since: local };
    heard.set(key, there);
    there.count += 1;
    const back = heard.get(`${epoch} ${node.instance} ${from.instance}`);
    const isTold = Math.min(there.count, back?.count ?? 0) > UNDECIDED_MESSAGES;
    if (!isTold || local - there.since < UNDECIDED_MS) return null;
    return `E6: ${node.id} and ${from.id} hear each other, and both lead in epoch ${epoch}`;
  };
}

/** Q7: the signal of a term has aborted before a change is told that ends it. */
export function termChecker(): Checker {
  return (observed) => {
    if (observed.type !== 'term' || observed.isAborted) return null;
    const { node, epoch, told } = observed;
    if (told.leader?.instance === node.instance && told.epoch === epoch) return null;
    return `Q7: ${node.id} is told of epoch ${told.epoch} before the signal of its term ${epoch} aborts`;
  };
}

/** M11: a roster has no more members than there were ids, and none that never started. */
export function sizeChecker(): Checker {
  const [ids, instances] = [new Set<string>(), new Set<string>()];
  return (observed) => {
    if (observed.type === 'started') {
      ids.add(observed.node.id);
      instances.add(observed.node.instance);
    }
    if (observed.type === 'memberjoin' && !instances.has(observed.member.instance)) {
      return `M11: ${observed.node.id} knows a ${observed.member.id} that never started`;
    }
    if (observed.type !== 'read' || observed.memberCount <= ids.size) return null;
    return `M11: ${observed.node.id} knows ${observed.memberCount} members of ${ids.size} ids`;
  };
}

/** E8: who is frozen, or stood still for too long, does not say that it leads at any read. */
export function stallChecker(leaderSuspicionMinMs: number): Checker {
  return (observed) => {
    if (observed.type === 'frozen' && observed.isSelf) {
      return `E8: ${observed.node.id} says that it leads while it is frozen`;
    }
    if (observed.type !== 'stalled' || !observed.isSelf) return null;
    const { node, stalledMs } = observed;
    if (stalledMs <= leaderSuspicionMinMs) return null;
    return `E8: ${node.id} says that it leads after it stood still for ${stalledMs} ms`;
  };
}

/**
 * M1, M7: each member that joins has left before, one instance of an id is in a roster at a time, and
 * one that has left by its own word or was replaced never comes back.
 */
export function rosterChecker(): Checker {
  const rosters = new Map<string, { present: Map<string, string>; final: Set<string> }>();
  return (observed) => {
    if (observed.type !== 'memberjoin' && observed.type !== 'memberleave') return null;
    const { node, member } = observed;
    const roster = rosters.get(node.instance) ?? { present: new Map(), final: new Set() };
    rosters.set(node.instance, roster);
    const known = roster.present.get(member.id);
    if (observed.type === 'memberjoin') {
      roster.present.set(member.id, member.instance);
      if (known !== undefined) return `M1: ${member.id} joins ${node.id} without having left it`;
      if (!roster.final.has(member.instance)) return null;
      return `M7: ${member.id} is back at ${node.id} after it left or was replaced`;
    }
    roster.present.delete(member.id);
    if (observed.reason === 'leave' || observed.reason === 'replaced') {
      roster.final.add(member.instance);
    }
    if (known === member.instance) return null;
    return `M1: ${member.id} leaves ${node.id} without having joined it`;
  };
}

/**
 * M5: nobody is evicted by a node that heard from it within the suspicion window, and no leader is
 * given up for its silence sooner than the shortest suspicion of a quiet one. Silence is counted in
 * the judging node's own time, from the last message that reached it.
 */
export function evictionChecker(
  options: Pick<CheckerOptions, 'suspicionMs' | 'leaderSuspicionMinMs'>,
): Checker {
  const { suspicionMs, leaderSuspicionMinMs } = options;
  const heard = new Map<string, Map<string, number>>();
  const judge = (what: string, of: Identity, by: Identity, local: number, minMs: number) => {
    const silence = local - (heard.get(by.instance)?.get(of.instance) ?? -Infinity);
    // Half a millisecond for the arithmetic of clock rates.
    if (silence >= minMs - 0.5) return null;
    return `M5: ${by.id} ${what} ${of.id} after ${Math.round(silence)} ms of silence`;
  };
  return (observed) => {
    if (observed.type === 'heard') {
      const { node, from, local } = observed;
      const known = heard.get(node.instance);
      if (known !== undefined) known.set(from.instance, local);
      else heard.set(node.instance, new Map([[from.instance, local]]));
    } else if (observed.type === 'memberleave' && observed.reason === 'evicted') {
      const { node, member, local } = observed;
      return judge('evicts', member, node, local, suspicionMs);
    } else if (observed.type === 'change' && observed.reason === 'silent' && observed.previous) {
      const { node, previous, local } = observed;
      return judge('gives up', previous, node, local, QUIET_MS + leaderSuspicionMinMs);
    }
    return null;
  };
}

/** M5, M7: `leave` needs that the member left, and `gone` that it ended. */
export function departureChecker(): Checker {
  const ended = new Map<string, 'left' | 'closed' | 'crashed'>();
  return (observed) => {
    if (observed.type === 'ended') {
      if (ended.get(observed.node.instance) !== 'left')
        ended.set(observed.node.instance, observed.how);
      return null;
    }
    if (observed.type !== 'memberleave') return null;
    const { node, member, reason } = observed;
    const how = ended.get(member.instance);
    if (reason === 'leave' && how !== 'left') return `M7: ${node.id} says that ${member.id} left`;
    if (reason === 'gone' && how === undefined)
      return `M5: ${node.id} says that ${member.id} is gone`;
    return null;
  };
}

/** M1: a node fails as a duplicate only while another instance of its id runs. */
export function duplicateChecker(): Checker {
  const running = new Map<string, Set<string>>();
  return (observed) => {
    if (observed.type === 'ended') running.get(observed.node.id)?.delete(observed.node.instance);
    if (observed.type !== 'started' && observed.type !== 'failed') return null;
    const { id, instance } = observed.node;
    const instances = running.get(id) ?? new Set();
    running.set(id, instances);
    if (observed.type === 'started') {
      instances.add(instance);
      return null;
    }
    instances.delete(instance);
    if (observed.code !== 'duplicate-id' || instances.size > 0) return null;
    return `M1: ${id} fails as a duplicate, but no other instance of it runs`;
  };
}

/** X1: a fence admits rising epochs only, and one holder an epoch. */
export function fenceChecker(): Checker {
  const latest = new Map<string, FenceEntry>();
  return (observed) => {
    if (observed.type !== 'fence' || observed.entry.verdict !== 'admitted') return null;
    const { name, entry } = observed;
    const before = latest.get(name)?.token;
    latest.set(name, entry);
    if (before === undefined || entry.token.epoch > before.epoch) return null;
    if (entry.token.epoch === before.epoch && entry.token.holder === before.holder) return null;
    return `X1: fence ${name} admitted epoch ${entry.token.epoch} of ${entry.token.holder} after epoch ${before.epoch} of ${before.holder}`;
  };
}

/** Q6: no two leases are valid at one instant. */
export function leaseChecker(): Checker {
  return (observed) => {
    if (observed.type !== 'leases' || observed.holders.length < 2) return null;
    return `Q6: ${observed.holders.map(({ id }) => id).join(' and ')} lead at one time`;
  };
}

/** M11: nothing grows without bound. */
export function boundChecker(): Checker {
  return (observed) => {
    if (observed.type !== 'queue' || observed.count <= observed.max) return null;
    return `M11: ${observed.what} holds ${observed.count}, more than ${observed.max}`;
  };
}

/** Pings and pongs of a quarter of a minute, or of half of it when both ends ping. */
const UNDECIDED_MESSAGES = 30;
const UNDECIDED_MS = 8_000;
/** Without a byte for so long a member can be suspected. */
const QUIET_MS = 1_500;
