import { lastResult, STEPS } from '../job.mjs';

/**
 * @typedef {object} Facts
 * @property {import('./cast.mjs').Report} before a step of the manager that was cut off
 * @property {import('./cast.mjs').Report} after how the next one began
 * @property {import('../job.mjs').Checkpoint[]} journal all that the store has let in, oldest first
 * @property {import('./cast.mjs').Report[]} reports
 */

/** What is not as it should be. @param {Facts} facts */
export function problemsOf({ before, after, journal, reports }) {
  const problems = [];
  for (let step = 1; step <= STEPS; step += 1) {
    const entries = journal.filter((entry) => entry.step === step);
    if (entries.length === 0) problems.push(`step ${step} was lost`);
    if (entries.length > 1)
      problems.push(`step ${step} was repeated: ${entries.map(termOf).join(', ')}`);
  }
  if (journal.at(-1)?.result !== lastResult()) problems.push('the last result is wrong');
  for (const [index, entry] of journal.entries()) {
    const earlier = journal[index - 1];
    if (!earlier || earlier.epoch <= entry.epoch) continue;
    problems.push(`${termOf(entry)} wrote after ${termOf(earlier)}`);
  }
  if (after.step !== before.step) {
    problems.push(`${termOf(after)} went on after step ${after.step} instead of ${before.step}`);
  }
  const isLate = ({ epoch, high }) => epoch === before.epoch && high >= after.epoch;
  if (!refusalsOf(reports).some(isLate)) problems.push(`no write of ${termOf(before)} was refused`);
  return problems;
}

/** What was done, and by whom. @param {Facts} facts */
export function summaryOf({ before, journal, reports }) {
  const refusals = refusalsOf(reports).map(
    ({ by, epoch, step, high }) =>
      `step ${step} of ${by}, epoch ${epoch}: the fence was at ${high}`,
  );
  const terms = reports.filter(({ type }) => type === 'manages').map(termOf);
  const last = reports.findLast(({ by, type }) => by === before.by && type === 'leader');
  return [
    `Steps    ${journal.length} written of ${STEPS}: ${shiftsOf(journal).join(', ')}`,
    `Refused  ${refusals.length} late: ${refusals.join('; ') || 'none'}`,
    `Epochs   ${terms.join(', ')}`,
    `Healed   ${before.by} follows ${last.leader}, epoch ${last.epoch}`,
  ];
}

function refusalsOf(reports) {
  return reports.filter(({ type }) => type === 'refused');
}

/** Who wrote what without a break. */
function shiftsOf(journal) {
  const shifts = [];
  for (const entry of journal) {
    const shift = shifts.at(-1);
    if (shift?.by === entry.by && shift.last + 1 === entry.step) shift.last = entry.step;
    else shifts.push({ ...entry, first: entry.step, last: entry.step });
  }
  return shifts.map(({ first, last, ...term }) => {
    return `${first === last ? first : `${first}–${last}`} by ${termOf(term)}`;
  });
}

function termOf({ by, epoch }) {
  return `${by} (epoch ${epoch})`;
}
