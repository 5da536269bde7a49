// The job: a chain of steps. Each needs the result of the one before it, so that one lost, repeated
// or done out of turn shows in the last result.
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

/** The cluster that does it; the fence admits no other. */
export const CLUSTER = 'job-manager';

export const STEPS = 24;
/** So long that a manager is met in mid-shift, so short that nobody waits for the end. */
const STEP_MS = 250;

/**
 * How far the job is: all that the next manager needs to go on.
 *
 * @typedef {object} Checkpoint
 * @property {number} step the last one that is done
 * @property {string} result of it
 * @property {string} [by] id of the node that did it
 * @property {number} [epoch] of the term in which it was done
 */

/** @type {Checkpoint} */
export const BEGINNING = { step: 0, result: '' };

/** Does the next step. Rejects once `signal` aborts; nothing is left behind then. */
export async function nextStep({ step, result }, signal) {
  await sleep(STEP_MS, undefined, { signal });
  return { step: step + 1, result: resultOf(step + 1, result) };
}

/** What the last step must give, however many managers it took. */
export function lastResult() {
  let { result } = BEGINNING;
  for (let step = 1; step <= STEPS; step += 1) result = resultOf(step, result);
  return result;
}

/** What a step gives, from the result of the one before it. */
export function resultOf(step, before) {
  return createHash('sha256').update(`${step} ${before}`).digest('hex');
}
