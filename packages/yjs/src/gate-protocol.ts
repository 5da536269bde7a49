/** The names that a leader's connection has at the gate: query parameters of its address. */
export const PARAMS = {
  cluster: 'doyen-cluster',
  epoch: 'doyen-epoch',
  holder: 'doyen-holder',
  /** `1`: whoever was refused asks for a place beside the leader's. */
  guest: 'doyen-guest',
} as const;

/**
 * How a gate closes connections. All are final by the convention of y-websocket (4400 to 4499): it
 * does not come back by itself.
 */
export const CLOSE = {
  /** The parameters are wrong. */
  malformed: 4400,
  /** A newer leader is known; the reason is a {@link Refusal} as JSON. */
  fenced: 4409,
  /** The same leader has connected again. */
  replaced: 4410,
  /** Too many guests. */
  crowded: 4429,
  /** Sent by a leader that was the last of its cluster: its epochs end here. */
  last: 4000,
} as const;

/** Why a gate refuses a leader. */
export interface Refusal {
  readonly verdict: 'stale' | 'conflict';
  /** The highest epoch that was admitted. */
  readonly high: number;
  /** Whether its holder is connected, or else in how many milliseconds the gate forgets it. */
  readonly isHeld: boolean;
  readonly forgetMs?: number;
}

/** At most 123 bytes, as much as a close frame holds. */
export function encodeRefusal({ verdict, high, isHeld, forgetMs }: Refusal): string {
  return JSON.stringify({ verdict, high, isHeld, forgetMs });
}

/** `undefined` for what is none: it comes from a server. */
export function decodeRefusal(reason: string): Refusal | undefined {
  let value: Partial<Refusal> | null;
  try {
    value = JSON.parse(reason);
  } catch (_notJson) {
    return undefined;
  }
  const { verdict, high, isHeld, forgetMs } = value ?? {};
  if (verdict !== 'stale' && verdict !== 'conflict') return undefined;
  if (!Number.isSafeInteger(high) || typeof isHeld !== 'boolean') return undefined;
  const wait = typeof forgetMs === 'number' && forgetMs >= 0 ? { forgetMs } : {};
  return { verdict, high: high as number, isHeld, ...wait };
}
