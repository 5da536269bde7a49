/**
 * What is left of a suspicion of `elapsedMs` after `confirmations` of at most `expected`: from
 * `maxMs` down to `minMs` on a logarithmic curve (Lifeguard, Dadgar et al. 2018, §IV-B). May be
 * negative. With nobody expected to confirm, `minMs` holds.
 */
export function suspicionRemaining(
  confirmations: number,
  expected: number,
  elapsedMs: number,
  minMs: number,
  maxMs: number,
): number {
  if (expected < 1) return minMs - elapsedMs;
  const share = Math.log(confirmations + 1) / Math.log(expected + 1);
  const total = Math.floor(maxMs - (maxMs - minMs) * share);
  return Math.max(minMs, total) - elapsedMs;
}

/** More confirmations than this do not make a suspicion surer: their errors are correlated. */
export const CONFIRMATIONS_MAX = 3;
