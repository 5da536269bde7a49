// Runs a cluster with random faults in virtual time, and prints what happened:
//   npm run sim -- --seed 7 [--nodes 5] [--seconds 120] [--quorum | --lock] [--without crash]… [--messages]
// Once the faults are over, the nodes must agree within 30 s, or `--within` other seconds.
// `--shrink [--out FILE]` narrows a failing seed down, and writes what is left as a scenario, by
// default among the scenarios that the tests replay.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { command, forwardSignals } from './command.mjs';
import { install, root, tool } from './workspace.mjs';

const BUILD_LIMIT_MS = 120_000;

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    nodes: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '120' },
    without: { type: 'string', multiple: true, default: [] },
    quorum: { type: 'boolean', default: false },
    lock: { type: 'boolean', default: false },
    within: { type: 'string', default: '30' },
    messages: { type: 'boolean', default: false },
    shrink: { type: 'boolean', default: false },
    out: { type: 'string' },
  },
});

forwardSignals();
await build();
const { runSchedule, scenarioOf, shrinkSchedule } = await import(
  '../packages/core/dist/testing/schedule-run.js'
);

const options = {
  seed: number('seed', 0),
  nodes: number('nodes', 1),
  forMs: number('seconds', 0) * 1000,
  without: values.without,
  voting: values.quorum,
  locking: values.lock,
  withinMs: number('within', 0) * 1000,
  trace: values.messages ? 'messages' : 'events',
};
const whole = await runSchedule(options);
const isShrunk = values.shrink && whole.error !== null;
const run = isShrunk ? await shrinkSchedule(options, whole) : whole;
process.stdout.write(run.trace);
process.stdout.write(`\n${run.views.join('\n')}\n\n${run.summary}\n`);
if (isShrunk) write(run);
if (run.error !== null) {
  process.stderr.write(`\n${run.error.message}\n`);
  process.exitCode = 1;
}

async function build() {
  if (!(await install())) throw new Error('The dependencies could not be installed.');
  const args = [tool('typescript', 'tsc'), '-b', 'packages/core'];
  const { code } = await command(process.execPath, args, { cwd: root, limitMs: BUILD_LIMIT_MS });
  if (code !== 0) throw new Error('The core does not compile.');
}

function write(shrunk) {
  const { seed, nodes } = options;
  const place = path.join(root, 'packages/core/scenarios', `found-${nodes}-${seed}.txt`);
  const file = values.out ?? place;
  writeFileSync(file, scenarioOf(shrunk));
  process.stdout.write(`\n${shrunk.script.join('\n')}\n\nwritten to ${file}\n`);
}

/** A whole number given on the command line. */
function number(name, min) {
  const value = Number(values[name]);
  if (Number.isSafeInteger(value) && value >= min) return value;
  throw new RangeError(`--${name} must be a whole number from ${min}, got ${values[name]}`);
}
