import { readFileSync } from 'node:fs';

/** What a step of the test run came to. */
export class Tally {
  passed = 0;
  /** Names of what failed. @type {string[]} */
  failed = [];
  /** Names of what was skipped. @type {string[]} */
  skipped = [];

  get isEmpty() {
    return this.passed + this.failed.length + this.skipped.length === 0;
  }

  fail(name) {
    this.failed.push(name);
  }

  add(other) {
    this.passed += other.passed;
    this.failed.push(...other.failed);
    this.skipped.push(...other.skipped);
  }
}

/** The last line of a test run, for people and for scripts. */
export function summaryLine({ passed, failed, skipped }) {
  const skips = skipped.length > 0 ? `, ${skipped.length} skipped` : '';
  return `${passed} passed, ${failed.length} failed${skips}`;
}

export function vitestTally(file) {
  const tally = new Tally();
  for (const { name, status, message, assertionResults } of read(file)?.testResults ?? []) {
    for (const { fullName, status: verdict } of assertionResults) {
      if (verdict === 'passed') tally.passed += 1;
      else if (verdict === 'failed') tally.fail(fullName);
      else tally.skipped.push(fullName);
    }
    // A file that fails to load has no tests that could fail.
    if (status === 'failed' && !assertionResults.some((test) => test.status === 'failed')) {
      tally.fail(`${name}: ${message.split('\n')[0]}`);
    }
  }
  return tally;
}

export function playwrightTally(file) {
  const tally = new Tally();
  const report = read(file);
  for (const { message } of report?.errors ?? []) tally.fail(message.split('\n')[0]);
  const visit = (suite, above) => {
    for (const { title, tests } of suite.specs ?? []) {
      const name = [...above, title].join(' › ');
      for (const { status } of tests) {
        // 'flaky' passed only when tried again: that is a failure here.
        if (status === 'expected') tally.passed += 1;
        else if (status === 'skipped') tally.skipped.push(name);
        else tally.fail(`${name} (${status})`);
      }
    }
    for (const inner of suite.suites ?? []) visit(inner, [...above, inner.title]);
  };
  for (const suite of report?.suites ?? []) visit(suite, [suite.title]);
  return tally;
}

/** A step that was killed has written no report; its exit tells. */
function read(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    console.log(`(no report: ${error.message})`);
    return undefined;
  }
}
