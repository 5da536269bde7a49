/**
 * How long a suspect has left after `confirmations` of `expected` (Lifeguard, Dadgar et al. 2018;
 * memberlist's `remainingSuspicionTime`). May be negative.
 */
export function remainingMs(confirmations, expected, elapsedMs, minMs, maxMs) {
  if (expected < 1) return minMs - elapsedMs;
  const share = Math.log(confirmations + 1) / Math.log(expected + 1);
  return Math.max(minMs, Math.floor(maxMs - share * (maxMs - minMs))) - elapsedMs;
}

/** memberlist's window in a cluster of `size`, with the multipliers of its LAN profile. */
export function memberlistWindow(
  size,
  { intervalMs = 1000, multiplier = 4, maxMultiplier = 6 } = {},
) {
  const scale = Math.max(1, Math.log10(Math.max(1, size)));
  const minMs = Math.floor(multiplier * scale * 1000) * (intervalMs / 1000);
  // Two cannot count: the suspect, and the member that began the suspicion.
  const wanted = multiplier - 2;
  return { minMs, maxMs: maxMultiplier * minMs, expected: size - 2 < wanted ? 0 : wanted };
}

/** How often memberlist passes a piece of news on. */
export function retransmitLimit(size, multiplier = 4) {
  return multiplier * Math.ceil(Math.log10(size + 1));
}

/** λ·log n of the SWIM paper, with λ = 3: periods of suspicion, and times a piece of news is sent. */
export function swimRounds(size) {
  return 3 * Math.ceil(Math.log(size + 1));
}

/** Expected periods until somebody pings a member that has failed: e/(e − 1) (SWIM, §3.1). */
export function firstDetectionPeriods() {
  return Math.E / (Math.E - 1);
}

/** Probability that a probe of a healthy member finds nothing, directly and over all helpers. */
export function falseSuspicionPerProbe(loss, helpers = 3) {
  const direct = 1 - (1 - loss) ** 2;
  return direct * (1 - (1 - loss) ** 4) ** helpers;
}
