import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runSchedule } from '../../packages/core/src/testing/schedule-run.ts';
import { playScenario } from '../../packages/core/test/sim/scenario.ts';
import { command } from '../command.mjs';
import { root } from '../workspace.mjs';

// No bound at all for the agreement of a cluster: the failure that makes all the rest show.

const FAILING = { nodes: 3, forMs: 30_000, withinMs: 0 };

let folder = '';

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'doyen-sim-'));
});

afterAll(() => rm(folder, { recursive: true }));

test('a failing seed is narrowed down to a scenario that fails in the same way, until it is mended', async () => {
  const seed = await failingSeed();
  const file = path.join(folder, 'found.txt');
  const ended = await sim('--seed', `${seed}`, '--within', '0', '--shrink', '--out', file);
  expect(ended.code).toBe(1);
  expect(ended.output).toContain(`written to ${file}`);
  expect(ended.output).toContain(`npm run sim -- --seed ${seed} --nodes 3 --seconds 30 --within 0`);
  const found = await readFile(file, 'utf8');
  expect(found).toMatch(/^# not met within 0 ms/);
  const whole = await runSchedule({ ...FAILING, seed });
  expect(found.split('\n').length).toBeLessThan(whole.script.length);
  await expect(playScenario(found)).rejects.toThrow('not met within 0 ms');
  const mended = await playScenario(found.replace('settle within=0', 'settle'));
  expect(mended).toMatch(/\n----\n[\s\S]*\bn\d joined, leader n\d/);
  expect(await playScenario(mended)).toBe(mended);
});

test('a seed with which all is well writes nothing', async () => {
  const file = path.join(folder, 'none.txt');
  const ended = await sim('--seed', '1', '--shrink', '--out', file);
  expect(ended.code).toBe(0);
  await expect(readFile(file)).rejects.toThrow('ENOENT');
});

test('a number that is none is refused by name', async () => {
  const ended = await sim('--within', 'soon');
  expect(ended.code).toBe(1);
  expect(ended.output).toContain('--within must be a whole number from 0, got soon');
});

async function failingSeed(): Promise<number> {
  for (let seed = 1; seed < 50; seed += 1) {
    if ((await runSchedule({ ...FAILING, seed })).error !== null) return seed;
  }
  throw new Error('no seed of fifty fails, though none has any time');
}

function sim(...args: string[]) {
  const all = ['scripts/sim.mjs', '--nodes', '3', '--seconds', '30', ...args];
  return command(process.execPath, all, { cwd: root, limitMs: 120_000, quiet: true });
}
