import { median, table } from '../statistics.mjs';
import { CONTENDERS } from './contenders.mjs';

/** Where bare locks work, how many times as long Doyen may take. */
const RATIO_MAX = 1.5;

/** `results`: of each scenario the times of all runs, by contender; infinite where nobody led. */
export function printAims(results) {
  console.log('\n### Aims\n');
  console.log('Medians; where bare locks hand the lead over, as a multiple of their time.\n');
  const rows = Object.entries(CONTENDERS).flatMap(([contender, { label, isOurs }]) => {
    if (!isOurs) return [];
    return [...results].map(([scenario, times]) => [
      `${label}: ${scenario}`,
      ...judge(median(times.get(contender)), median(times.get('locks'))),
    ]);
  });
  table(['what', 'aim, at most', 'measured', 'met'], rows);
}

/** The aim, what was measured, and whether it is met. */
export function judge(ours, bare) {
  const met = (isMet) => (isMet ? 'yes' : '**no**');
  if (Number.isFinite(bare)) {
    const ratio = ours / bare;
    return [`${RATIO_MAX} ×`, `${ratio.toFixed(2)} ×`, met(ratio <= RATIO_MAX)];
  }
  const hasLed = Number.isFinite(ours);
  return ['finite', hasLed ? `${ours.toFixed(0)} ms` : 'never', met(hasLed)];
}
