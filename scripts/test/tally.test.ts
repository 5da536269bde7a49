import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { playwrightTally, summaryLine, Tally, vitestTally } from '../tally.mjs';

const scratch = mkdtempSync(path.join(tmpdir(), 'doyen-tally-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

function report(content: unknown): string {
  const file = path.join(scratch, 'report.json');
  writeFileSync(file, JSON.stringify(content));
  return file;
}

describe('the count of a test run', () => {
  test('names what vitest saw fail and skip', () => {
    const assertionResults = [
      { fullName: 'a', status: 'passed' },
      { fullName: 'b', status: 'failed' },
      { fullName: 'c', status: 'pending' },
      { fullName: 'd', status: 'todo' },
    ];
    const file = report({
      testResults: [{ name: 'x', status: 'failed', message: '', assertionResults }],
    });
    expect(vitestTally(file)).toEqual({ passed: 1, failed: ['b'], skipped: ['c', 'd'] });
  });

  test('counts a file that vitest could not load as a failure', () => {
    const broken = { name: 'x.test.ts', status: 'failed', message: 'no\nmore' };
    const file = report({ testResults: [{ ...broken, assertionResults: [] }] });
    expect(vitestTally(file).failed).toEqual(['x.test.ts: no']);
  });

  test('counts what Playwright saw, a flaky test as failed', () => {
    const spec = (title: string, status: string) => ({ title, tests: [{ status }] });
    const inner = { title: 'group', specs: [spec('b', 'flaky'), spec('c', 'skipped')] };
    const file = report({
      errors: [{ message: 'no server' }],
      suites: [{ title: 'f.ts', specs: [spec('a', 'expected')], suites: [inner] }],
    });
    expect(playwrightTally(file)).toEqual({
      passed: 1,
      failed: ['no server', 'f.ts › group › b (flaky)'],
      skipped: ['f.ts › group › c'],
    });
  });

  test('is told in one plain line, with skips only if there are some', () => {
    const tally = Object.assign(new Tally(), { passed: 3, failed: ['a'] });
    expect(summaryLine(tally)).toBe('3 passed, 1 failed');
    tally.skipped.push('b');
    expect(summaryLine(tally)).toBe('3 passed, 1 failed, 1 skipped');
  });
});
