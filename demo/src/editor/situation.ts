import { nameOf } from '../name.ts';
import type { Copy } from './copy.ts';
import type { SocketCounts } from './socket-counter.ts';

/** What the page says, as this tab knows it at one moment. */
export interface Situation {
  /** The node's own word for its state. */
  readonly state: string;
  readonly self: string;
  readonly leader: string | null;
  /** It has not answered for a while. */
  readonly isLeaderQuiet: boolean;
  readonly epoch: number;
  readonly tabs: number;
  /** Null when a tab does not say which browser it is in. */
  readonly browsers: number | null;
  /** Of the connection to the server, whoever holds it. */
  readonly status: 'connecting' | 'connected' | 'disconnected';
  /** This copy has had everything of the server. */
  readonly isSynced: boolean;
  readonly unsynced: number;
  readonly sockets: SocketCounts | null;
  /** The server was asked for its counts and did not answer. */
  readonly isUnanswered: boolean;
}

export function situationOf(copy: Copy): Situation {
  const { node, provider, sockets } = copy;
  const leader = node.leadership.current?.id ?? null;
  return {
    state: node.state,
    self: node.id,
    leader,
    isLeaderQuiet: node.members.some(({ id, status }) => id === leader && status === 'suspect'),
    epoch: node.leadership.epoch,
    tabs: node.members.length,
    browsers: copy.browsers,
    status: provider.status,
    isSynced: provider.synced,
    unsynced: provider.unsynced,
    sockets: sockets.counts,
    isUnanswered: sockets.isUnanswered,
  };
}

export function isOver({ state }: Situation): boolean {
  return state === 'left' || state === 'failed';
}

/** One sentence that says what this tab is. */
export function verdictOf(situation: Situation): string {
  const { state, self, leader, isLeaderQuiet, status } = situation;
  if (isOver(situation)) return 'This tab has left.';
  if (leader === null)
    return state === 'joining' ? 'Looking for others…' : 'Nobody leads. Electing…';
  const isConnected = status === 'connected';
  if (leader === self) {
    return isConnected
      ? 'This tab leads, and holds the socket.'
      : 'This tab leads, without a socket.';
  }
  const name = nameOf(leader);
  if (isLeaderQuiet) return `${name} leads, but does not answer.`;
  return isConnected ? `${name} leads. This tab syncs through it.` : `${name} leads.`;
}

export function roleOf(situation: Situation): string {
  const { self, leader, isLeaderQuiet, status } = situation;
  if (isOver(situation)) return 'none';
  if (leader === null || isLeaderQuiet || status !== 'connected') return 'no way to the server';
  return leader === self ? 'holds the socket' : `syncs through ${nameOf(leader)}`;
}

/** What to try next, or what is wrong. */
export function hintOf(situation: Situation): string {
  if (isOver(situation)) return 'What is written here would reach nobody. Load the page again.';
  const { status, isUnanswered, isLeaderQuiet, tabs, self, leader, sockets } = situation;
  if (status !== 'connected' && isUnanswered) {
    return 'The server does not answer. The tabs sync among each other, and hold what it has not confirmed.';
  }
  if (isLeaderQuiet) {
    return 'If it stays silent another tab takes over, about 20 s after its last word at the latest.';
  }
  if (status === 'disconnected')
    return 'The server has closed the connection; it is asked again later.';
  if (status === 'connecting') return 'Connecting to the server…';
  if (sockets && sockets.guests > 0) {
    return 'There are tabs that reach the server and not these here: they have a socket of their own, as guests.';
  }
  if (tabs === 1)
    return 'Open more tabs, here and in another browser. The server will still have one socket.';
  return leader === self
    ? 'Close this tab: another one takes over the socket.'
    : 'Close the leader’s tab, or its whole browser: another tab takes over the socket.';
}

export function tabsOf({ tabs, browsers }: Situation): string {
  const count = tabs === 1 ? '1 tab' : `${tabs} tabs`;
  if (browsers === null) return count;
  return `${count} in ${browsers === 1 ? '1 browser' : `${browsers} browsers`}`;
}

export function socketsOf({ sockets }: Situation): string {
  if (!sockets) return '';
  const plural = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`;
  return `${plural(sockets.leaders, 'leader')}, ${plural(sockets.guests, 'guest')}`;
}
