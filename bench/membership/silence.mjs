/** Latency of the first word after a stall, and then some. */
const FIRST_WORD_MS = 100;

/** How long a member had truly been silent at that moment; 0 for one that ran. */
export function silence(stalls, id, at) {
  const stall = stalls.findLast((one) => one.id === id && one.from <= at);
  if (!stall || at > stall.to + FIRST_WORD_MS) return 0;
  return Math.min(at, stall.to) - stall.from;
}
