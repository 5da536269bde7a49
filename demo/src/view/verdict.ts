import { nameOf } from '../name.ts';
import type { Condition } from '../tab.ts';
import type { ClusterView } from './cluster-view.ts';

export interface Situation {
  readonly condition: Condition;
  /** The node's own word for its state. */
  readonly state: string;
  readonly cluster: ClusterView;
  /** What does not work, when something does not. */
  readonly complaint: string | null;
}

/** One sentence that says what this tab is. */
export function verdictOf({ condition, state, cluster }: Situation): string {
  if (condition === 'crashed') return 'This tab has crashed: its node answers nobody.';
  if (condition === 'left') return 'This tab has left.';
  if (condition === 'failed') return 'This tab could not take part.';
  if (condition === 'frozen') return 'This tab is frozen: nothing runs here.';
  const { leader, self, members } = cluster;
  if (!leader) return state === 'joining' ? 'Looking for others…' : 'Nobody leads. Electing…';
  if (leader !== self) return `${nameOf(leader)} leads. This tab follows.`;
  return members.length > 1 ? 'This tab leads.' : 'This tab leads, alone.';
}

/** What to try next, or what is wrong. */
export function hintOf(situation: Situation): string {
  const { condition, cluster, complaint } = situation;
  if (condition === 'crashed') return 'The others notice within seconds, and go on without it.';
  if (condition === 'left') return 'The others were told, and go on without it.';
  if (condition === 'frozen')
    return 'The others elect another leader if it led. Thaw it to see it follow.';
  if (complaint) return complaint;
  if (condition === 'failed') return 'Join again to try once more.';
  const count = cluster.members.length;
  if (count === 1) return 'Open two more tabs, here or on another device of the network.';
  if (count === 2) return 'One more tab, and the picture survives its leader in company.';
  return cluster.leader === cluster.self
    ? 'Close this tab, or take it away below, and watch another one finish the picture.'
    : 'Close the leader’s tab, and watch another one finish the picture.';
}
