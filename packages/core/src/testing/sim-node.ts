import type { LockRule, OpenLock } from '../machine/lock/lock.ts';
import type { Detection } from '../machine/machine.ts';
import type { Member } from '../machine/member.ts';
import type { Quorum } from '../machine/quorum/quorum.ts';
import type { Strategy } from '../machine/strategy.ts';
import { createNode, type DoyenNode } from '../runtime/node.ts';
import type { JoinOptions } from '../runtime/options.ts';
import type { Observation } from './checkers.ts';
import type { SimHost } from './sim-host.ts';
import type { SimLocks } from './sim-locks.ts';
import type { SimTransport } from './sim-network.ts';
import type { SimStore } from './sim-store.ts';

/** One public event of a node, with ids in place of members. */
export interface SimEvent {
  /** Virtual milliseconds. */
  readonly at: number;
  readonly type: string;
  /** Of `change`: id of the leader, `null` for nobody. */
  readonly leader?: string | null;
  readonly previous?: string | null;
  readonly epoch?: number;
  /** Of events about a member: its id. */
  readonly member?: string;
  readonly reason?: string;
  /** Of `statechange`. */
  readonly state?: string;
  /** Of `violation`: the rule; of `fault`: the code. */
  readonly code?: string;
}

/** A node in a simulation: the public node, and what it has reported so far. */
export type SimNode = DoyenNode & {
  /** Public events of the node and of its leadership, oldest first. */
  readonly events: readonly SimEvent[];
};

/** Options of one simulated node; those of the simulation unless given. */
export interface SimNodeOptions
  extends Partial<Omit<JoinOptions, 'cluster' | 'transport' | 'id' | 'election' | 'signal'>> {
  readonly election?: () => Strategy | Quorum | LockRule;
  readonly detection?: Partial<Detection>;
  /** `false`: it has no store, so that it only observes where voters decide. */
  readonly voter?: boolean;
  /** How its clocks are wrong from the beginning on, as in `sim.clock()`. */
  readonly clock?: SimClockFault;
}

/** How the clocks of a node are wrong. */
export interface SimClockFault {
  /** How far the wall clock jumps, in milliseconds; negative is back. @defaultValue 0 */
  readonly jumpMs?: number;
  /** How fast its monotonic clock and its timers run from now on; 1 is right. */
  readonly rate?: number;
}

/** Who is told what happens to a node. */
export interface SimNodeWatcher {
  recorded(event: SimEvent): void;
  observed(observation: Observation): void;
  now(): number;
}

/** Starts the shipped runtime on a simulated host. */
export function startNode(parts: {
  readonly id: string;
  readonly cluster: string;
  readonly options: SimNodeOptions;
  readonly host: SimHost;
  readonly transport: SimTransport;
  readonly store: SimStore;
  readonly locks: SimLocks;
  readonly watcher: SimNodeWatcher;
}): SimNode {
  const { id, cluster, host, transport, watcher } = parts;
  const { election: elect, voter = true, clock: _clock, ...options } = parts.options;
  const election = placed(elect?.(), parts.locks.for(id, host));
  const isVoter = voter && electionMode(election) === 'quorum';
  const store = isVoter && parts.store.for((happen) => host.arrive(happen));
  const node = createNode(
    { ...options, ...(store && { store }), ...(election && { election }), cluster, id, transport },
    host,
  );
  const events: SimEvent[] = [];
  record(node, (event) => {
    const dated = { at: watcher.now(), ...event };
    events.push(dated);
    watcher.recorded(dated);
  });
  observe(node, host, watcher);
  return Object.defineProperty(node, 'events', { value: events, enumerable: true }) as SimNode;
}

/** How the leader is found: by votes, by a lock, or by rank. */
export function electionMode(
  election: Strategy | Quorum | LockRule | undefined,
): 'quorum' | 'lock' | 'bully' {
  return election && 'elect' in election ? election.mode : 'bully';
}

/** An election under a lock, with the simulated one in place of the platform's. */
function placed(
  election: Strategy | Quorum | LockRule | undefined,
  open: OpenLock,
): Strategy | Quorum | LockRule | undefined {
  return election && 'open' in election ? { ...election, open } : election;
}

/** What the checkers may read of a node after something happened to it. */
export function readOf(node: DoyenNode): Observation {
  const { isSelf, epoch, current } = node.leadership;
  const { state, members } = node;
  return {
    type: 'read',
    node,
    isSelf,
    epoch,
    leader: current,
    isOver: state === 'left' || state === 'failed',
    memberCount: members.length,
  };
}

function record(node: DoyenNode, add: (event: Omit<SimEvent, 'at'>) => void): void {
  for (const type of MEMBER_EVENTS) {
    node.addEventListener(type, ({ member }) => add({ type, member: member.id }));
  }
  node.addEventListener('memberleave', ({ type, member, reason }) => {
    add({ type, member: member.id, reason });
  });
  node.addEventListener('statechange', ({ type, state }) => add({ type, state }));
  node.addEventListener('violation', ({ type, rule, detail }) => {
    add({ type, code: rule, reason: detail });
  });
  node.addEventListener('fault', ({ type, code, message }) => add({ type, code, reason: message }));
  node.voters.addEventListener('change', () => {
    const { config, role } = node.voters;
    const voters = config?.voters.map(({ id }) => id).join(' ') ?? 'unknown';
    const version = config ? ` ${config.epoch}.${config.version}` : '';
    add({ type: 'voters', state: role, reason: `${voters}${version}` });
  });
  node.leadership.addEventListener('change', ({ type, leader, previous, epoch, reason }) => {
    add({ type, leader: idOf(leader), previous: idOf(previous), epoch, reason });
  });
  node.leadership.addEventListener('overrun', ({ type, epoch }) => add({ type, epoch }));
}

function observe(node: DoyenNode, host: SimHost, watcher: SimNodeWatcher): void {
  watcher.observed({ type: 'started', node });
  const leave = node.leave.bind(node);
  // Whoever makes it leave: the test, its own code, its signal, the end of its page.
  node.leave = () => {
    watcher.observed({ type: 'ended', node, how: 'left' });
    return leave();
  };
  const { leadership } = node;
  const setCandidacy = leadership.setCandidacy.bind(leadership);
  leadership.setCandidacy = (isCandidate) => {
    setCandidacy(isCandidate);
    watcher.observed({ type: 'candidacy', node, isCandidate });
  };
  node.addEventListener('statechange', ({ state, error }) => {
    if (state === 'failed') watcher.observed({ type: 'failed', node, code: error?.code });
  });
  node.addEventListener('memberjoin', ({ member }) => {
    watcher.observed({ type: 'memberjoin', node, member });
  });
  node.addEventListener('memberleave', ({ member, reason }) => {
    const local = host.now();
    watcher.observed({ type: 'memberleave', node, member, reason, local });
  });
  leadership.addEventListener('change', ({ leader, epoch, previous, reason }) => {
    const local = host.now();
    watcher.observed({ type: 'change', node, leader, epoch, previous, reason, local });
  });
}

function idOf(member: Member | null): string | null {
  return member?.id ?? null;
}

const MEMBER_EVENTS = [
  'memberjoin',
  'membersuspect',
  'memberalive',
  'memberupdate',
  'linkchange',
] as const;
