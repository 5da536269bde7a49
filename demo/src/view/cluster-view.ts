/** What the page shows of the cluster, at one moment, as this tab sees it. */
export interface ClusterView {
  readonly self: string;
  readonly leader: string | null;
  readonly epoch: number;
  readonly members: readonly MemberView[];
}

export interface MemberView {
  readonly id: string;
  readonly isSelf: boolean;
  readonly isLeader: boolean;
  readonly isSuspect: boolean;
  /** `silent`: no direct link, and nobody who could pass anything on. */
  readonly link: 'self' | 'direct' | 'relayed' | 'silent' | 'cut';
  readonly rttMs: number | undefined;
  /** Tiles of the picture that it computed. */
  readonly tiles: number;
}

export function describeLink({ link, rttMs }: MemberView): string {
  if (link === 'self') return 'this tab';
  if (link === 'cut') return 'link cut here';
  if (link === 'silent') return 'no answer';
  if (link === 'relayed') return 'by way of another';
  return rttMs === undefined ? 'direct' : `direct, ${formatMs(rttMs)}`;
}

export function formatMs(ms: number): string {
  if (ms < 10) return `${ms.toFixed(1)} ms`;
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}
