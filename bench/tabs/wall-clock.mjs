/**
 * Wall-clock milliseconds with fractions, for pages and for Node. All processes of a machine share
 * that clock; `Date.now()` tells it in whole milliseconds only, so it is read where it ticks.
 */
export function wallClock() {
  const before = Date.now();
  let tick = before;
  while (tick === before) tick = Date.now();
  const offset = tick - performance.now();
  return () => performance.now() + offset;
}
