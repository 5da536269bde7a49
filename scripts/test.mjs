// The whole test run, from a fresh clone on: `npm test`. Goes on after a failed step, so that one
// run shows every failure, and ends with the line `N passed, N failed`.
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { CHROMIUM_ADVICE, ensureChromium } from './chromium.mjs';
import { command, forwardSignals } from './command.mjs';
import { ensureRedis, REDIS_ADVICE } from './redis.mjs';
import { playwrightTally, summaryLine, Tally, vitestTally } from './tally.mjs';
import { install, nodeProblem, root, tool } from './workspace.mjs';

// Vitest colours its output even into a file when CI is set.
if (!process.stdout.isTTY) process.env.NO_COLOR ??= '1';

const scratch = mkdtempSync(path.join(tmpdir(), 'doyen-test-'));
const total = new Tally();

async function main() {
  const problem = nodeProblem();
  if (problem) return finish(problem);
  heading('install');
  if (!(await install())) return finish('The dependencies could not be installed.');
  heading('browser');
  const chromium = await ensureChromium();
  if (!chromium) return finish(CHROMIUM_ADVICE);
  console.log(chromium);
  process.env.DOYEN_CHROMIUM = chromium;
  heading('redis');
  const redis = await ensureRedis();
  if (!redis) return finish(REDIS_ADVICE);
  console.log(redis);
  process.env.DOYEN_REDIS = redis;
  for (const [name, step] of Object.entries(steps)) {
    heading(name);
    const started = Date.now();
    total.add(await step(name));
    console.log(`(${name}: ${((Date.now() - started) / 1000).toFixed(1)} s)`);
  }
  return finish();
}

/** The limits add up to what a hanging run may take; a healthy one takes half of it. */
const steps = {
  types: (name) => check(name, 'typescript', 'tsc', ['-b'], 120_000),
  'types of the demo': (name) => demoTypes(name),
  lint: (name) => check(name, '@biomejs/biome', 'biome', ['check', '.'], 60_000),
  'unit tests': (name) => vitest(name, [], 960_000),
  'package tests': (name) => vitest(name, ['--config', 'scripts/pack/vitest.config.ts'], 180_000),
  'the example': (name) => vitest(name, ['--config', 'examples/vitest.config.ts'], 240_000),
  'browser tests of the demo': (name) => playwright(name, 'demo/playwright.config.ts', 480_000),
  'bench smoke': (name) => bench(name),
};

/** One tool that passes or fails as a whole. */
async function check(name, packageName, binName, args, limitMs) {
  const ended = await node([tool(packageName, binName), ...args], { limitMs });
  return judge(name, ended);
}

async function demoTypes(name) {
  const project = 'demo/tsconfig.json';
  if (!existsSync(path.join(root, project))) return missing(name, project);
  return check(name, 'typescript', 'tsc', ['-p', project, '--noEmit'], 120_000);
}

async function vitest(name, args, limitMs) {
  const report = path.join(scratch, `${name}.json`);
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const script = tool('vitest', 'vitest');
  const ended = await node([script, 'run', ...args, ...reporters], { limitMs });
  return judge(name, ended, vitestTally(report));
}

async function playwright(name, config, limitMs) {
  if (!existsSync(path.join(root, config))) return missing(name, config);
  const report = path.join(scratch, `${name}.json`);
  const ended = await node(
    [tool('@playwright/test', 'playwright'), 'test', '-c', config, '--reporter=list,json'],
    // Its workers force colours, about which Node then warns in every one of them.
    { limitMs, env: { PLAYWRIGHT_JSON_OUTPUT_NAME: report, NO_COLOR: undefined } },
  );
  return judge(name, ended, playwrightTally(report));
}

async function bench(name) {
  const ended = await node(['bench/run.mjs', '--smoke'], { limitMs: 240_000 });
  return judge(name, ended);
}

function node(args, options) {
  return command(process.execPath, args, { cwd: root, ...options });
}

/** A step that ends badly is a failure even where its report names none. */
function judge(name, { code, timedOut }, tally = new Tally()) {
  if (timedOut) tally.fail(`${name}: over its time limit`);
  else if (code !== 0 && tally.failed.length === 0) tally.fail(`${name}: exit code ${code}`);
  else if (code === 0 && tally.isEmpty) tally.passed += 1;
  return tally;
}

function missing(name, file) {
  const tally = new Tally();
  tally.fail(`${name}: ${file} is not there`);
  return tally;
}

function heading(name) {
  console.log(`\n━━━ ${name} ━━━`);
}

function finish(problem) {
  if (problem) total.fail(problem);
  heading('result');
  for (const name of total.failed) console.log(`failed: ${name}`);
  for (const name of total.skipped) console.log(`skipped: ${name}`);
  console.log(summaryLine(total));
  return total.failed.length === 0;
}

forwardSignals();
process.once('exit', () => rmSync(scratch, { recursive: true, force: true }));
process.exitCode = (await main()) ? 0 : 1;
