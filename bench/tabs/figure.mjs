import { spread } from '../statistics.mjs';

/** Median and spread; what has not happened within `limitMs` is infinite. */
export function figure(times, limitMs, digits = 0) {
  const never = `never (${limitMs / 1000} s)`;
  const finite = times.filter(Number.isFinite);
  if (finite.length === 0) return never;
  const missed = times.length - finite.length;
  return spread(finite, digits) + (missed > 0 ? `; ${missed} of ${times.length} ${never}` : '');
}
