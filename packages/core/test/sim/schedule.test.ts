import { describe, expect, it } from 'vitest';
import { faultSchedule } from '../../src/testing/fault-schedule.ts';
import { runSchedule, shrinkSchedule } from '../../src/testing/schedule-run.ts';
import { perform } from '../../src/testing/script.ts';
import { SimulationError, simulate } from '../../src/testing/simulate.ts';

const ids = ['n1', 'n2', 'n3'];

describe('fault schedules', () => {
  it('are the same for the same seed, end with calm, and leave out what they are told to', () => {
    const options = { seed: 5, ids, forMs: 600_000 };
    const script = faultSchedule(options);
    expect(script).toEqual(faultSchedule(options));
    expect(script).not.toEqual(faultSchedule({ ...options, seed: 6 }));
    expect(script.at(-1)).toBe('calm');
    expect(script.some((line) => line.startsWith('crash'))).toBe(true);
    const without = faultSchedule({ ...options, without: ['crash'] });
    expect(without.some((line) => line.startsWith('crash'))).toBe(false);
  });

  it('tell a failed run by its error, with the command that repeats it', async () => {
    const script = ['crash n1', 'expect n1 within=10', 'calm'];
    const { error, views } = await runSchedule({ seed: 5, nodes: 3, forMs: 9_000, script });
    expect(error).toBeInstanceOf(SimulationError);
    expect(error?.message).toContain('npm run sim -- --seed 5 --nodes 3 --seconds 9');
    expect(views).toHaveLength(2);
  });

  it('are narrowed down to the lines that make them fail', async () => {
    const script = ['run 100', 'loss 0.01', 'run 5000', 'crash n1', 'run 10', 'heal'];
    const options = { seed: 5, nodes: 3, forMs: 9_000 };
    const failing = [...script, 'expect n1 within=50', 'heal', 'calm'];
    const run = await runSchedule({ ...options, script: failing });
    const { script: shrunk } = await shrinkSchedule(options, run);
    expect(shrunk).toEqual(['expect n1 within=50', 'calm']);
  });
});

describe('scripts', () => {
  it('refuse a line that is no command', async () => {
    const sim = simulate({ seed: 1, nodes: 1 });
    await expect(perform(sim, 'explode n1')).rejects.toThrow(
      'no such command in a script: explode',
    );
  });
});
