import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { command } from '../command.mjs';
import { root } from './source.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'doyen-ci-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs `.ci/run` with an npm that prints `lines` and ends with `code`. */
async function ciRun(lines: readonly string[], code: number) {
  const stub = `#!/bin/sh\nprintf '%s\\n' ${lines.map((line) => `'${line}'`).join(' ')}\nexit ${code}\n`;
  writeFileSync(path.join(folder, 'npm'), stub);
  chmodSync(path.join(folder, 'npm'), 0o755);
  const PATH = `${folder}:${process.env['PATH']}`;
  const env = { PATH, DOYEN_CHROMIUM: '/any', DOYEN_REDIS: '/any' };
  const ended = await command(path.join(root, '.ci/run'), [], {
    limitMs: 60_000,
    quiet: true,
    env,
  });
  return { code: ended.code, last: ended.output.trimEnd().split('\n').at(-1) };
}

describe.runIf(process.platform === 'linux')('.ci/run', () => {
  test('ends with the count of a run that passed', async () => {
    expect(await ciRun(['…', '12 passed, 0 failed'], 0)).toEqual({
      code: 0,
      last: '12 passed, 0 failed',
    });
  });

  test('fails on a skip, and counts it', async () => {
    expect(await ciRun(['skipped: x', '12 passed, 0 failed, 2 skipped'], 0)).toEqual({
      code: 1,
      last: '12 passed, 2 failed',
    });
  });

  test('fails when a test failed', async () => {
    expect(await ciRun(['12 passed, 3 failed'], 1)).toEqual({
      code: 1,
      last: '12 passed, 3 failed',
    });
  });

  test('fails when the run ended before it could count', async () => {
    expect(await ciRun(['Killed'], 137)).toEqual({ code: 1, last: '0 passed, 1 failed' });
  });

  test('fails when nothing was run', async () => {
    expect((await ciRun(['0 passed, 0 failed'], 0)).code).toBe(1);
  });
});
