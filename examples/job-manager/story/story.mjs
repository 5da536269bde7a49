import { lineOf } from './line.mjs';
import { play } from './plot.mjs';
import { Stage } from './stage.mjs';
import { problemsOf, summaryOf } from './verdict.mjs';

/** It takes less than half of it; a busy machine may need long. */
const LIMIT_MS = 60_000;

/**
 * Plays the story, and prints it; gives whether it went as it should.
 *
 * @param {object} options
 * @param {number} options.workerCount
 * @param {boolean} options.isRedis what keeps the checkpoints
 * @param {boolean} options.isFenced whether that checks who writes
 */
export async function tellStory({ workerCount, isRedis, isFenced }) {
  const teller = new Teller();
  const stage = new Stage({ workerCount, listener: (report) => teller.hear(report) });
  const limit = setTimeout(() => stage.cast.fail(`${LIMIT_MS / 1000} s are over`), LIMIT_MS);
  try {
    await stage.set({ isRedis, isFenced });
    const managers = await play(stage);
    teller.isDone = true;
    return conclude({ ...managers, journal: await stage.journal(), reports: stage.cast.reports });
  } catch (error) {
    console.error(`\n${error.message}`);
    return false;
  } finally {
    clearTimeout(limit);
    teller.isDone = true;
    await stage.clear();
  }
}

function conclude(facts) {
  const problems = problemsOf(facts);
  console.log(`\n${summaryOf(facts).join('\n')}\n`);
  if (problems.length === 0) console.log('All went as it should.');
  else for (const problem of problems) console.log(`This should not be: ${problem}.`);
  return problems.length === 0;
}

/** Prints what is reported, until the story is done. */
class Teller {
  isDone = false;
  #startedAt = performance.now();

  hear(report) {
    const line = lineOf(report);
    if (this.isDone || line === undefined) return;
    const seconds = ((performance.now() - this.#startedAt) / 1000).toFixed(1);
    console.log(`${seconds.padStart(5)} s  ${report.by.padEnd(10)} ${line}`);
  }
}
