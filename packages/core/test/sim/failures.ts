import { runSchedule } from '../../src/testing/schedule-run.ts';

/**
 * The first lines of what goes wrong in clusters that each go through a minute of random faults, with
 * all checkers on. They name the command that repeats a seed; with `--shrink` it narrows it down.
 */
export async function failures(options: {
  readonly nodes: number;
  readonly from: number;
  readonly count: number;
  /** Voters decide, and their disks fail too. */
  readonly voting?: boolean;
  /** Who holds the lock leads. */
  readonly locking?: boolean;
}): Promise<string[]> {
  const { nodes, from, count, voting = false, locking = false } = options;
  const failed: string[] = [];
  for (let seed = from; seed < from + count; seed += 1) {
    const { error } = await runSchedule({ seed, nodes, forMs: 60_000, voting, locking });
    if (error !== null) failed.push(error.message.split('\n').slice(0, 2).join('; '));
  }
  return failed;
}

/** A guard against hanging: the seeds of one test take half a minute of one core, shared or not. */
export const TIMEOUT_MS = 600_000;
