import { execFileSync } from 'node:child_process';
import os from 'node:os';
import { parseArgs } from 'node:util';
import type { WorldOptions } from './bounds.ts';
import { BROKEN_RULES } from './broken-rules.ts';
import { search } from './search.ts';
import { traceOf } from './trace.ts';
import { World } from './world.ts';

// The long run, started by check.mjs: without bounds on the command line, all of these.

/** Together they hold everything that the rules are about; each takes a minute or some. */
const WORLDS: readonly (readonly [string, WorldOptions])[] = [
  ['with a fence', { hasFence: true }],
  ['with others at work while a voter writes', { epochs: 2, hasOpenWrites: true }],
  ['with a voter that loses its storage', { epochs: 2, hasLoss: true }],
  ['with one voter more', { voters: 4, epochs: 2, versions: 2 }],
];

const { values } = parseArgs({
  options: {
    voters: { type: 'string', default: '3' },
    epochs: { type: 'string', default: '3' },
    versions: { type: 'string', default: '3' },
    fence: { type: 'boolean', default: false },
    loss: { type: 'boolean', default: false },
    'open-writes': { type: 'boolean', default: false },
    without: { type: 'string' },
  },
});

console.log(machine());
if (values.without) checkWithout(values.without);
else if (process.argv.length > 2) check('as bounded', boundsGiven());
else {
  for (const [name, options] of WORLDS) check(name, options);
  for (const { name } of BROKEN_RULES) checkWithout(name);
}

function check(name: string, options: WorldOptions): void {
  const world = new World(options);
  const { voters, epochs, versions } = world.bounds;
  const size = `${voters} voters, ${epochs} epochs, ${versions} versions of the config`;
  console.log(`\n${size}, ${name}`);
  const started = performance.now();
  const result = search(world);
  const seconds = (performance.now() - started) / 1000;
  const { states, named, depth, transitions, isExhausted, finding } = result;
  console.log(
    `  ${text(states)} distinct states up to the names of voters, ${text(named)} by name\n` +
      `  ${text(transitions)} transitions, ${depth} steps deep, ${isExhausted ? '' : 'not '}exhausted\n` +
      `  ${text(states / seconds)} states a second, ${seconds.toFixed(1)} s, ${memory()}\n` +
      `  ${finding ? `broken:\n${traceOf(world, finding)}` : 'no epoch is won twice, no fence and no disk goes back'}`,
  );
  if (finding) process.exitCode = 1;
}

function checkWithout(name: string): void {
  const broken = BROKEN_RULES.find((one) => one.name === name);
  const names = BROKEN_RULES.map((one) => one.name).join(', ');
  if (!broken) throw new RangeError(`--without must be one of ${names}, got ${name}`);
  const world = new World({ ...broken.world, watched: ['wins'] });
  const { states, finding } = search(world);
  console.log(`\nwithout ${name}: two win one epoch when ${broken.when}; ${text(states)} states`);
  console.log(finding ? traceOf(world, finding) : 'nothing was found');
  if (!finding) process.exitCode = 1;
}

function boundsGiven(): WorldOptions {
  return {
    voters: number('voters', 4),
    epochs: number('epochs', 9),
    versions: number('versions', 9),
    hasFence: values.fence,
    hasLoss: values.loss,
    hasOpenWrites: values['open-writes'],
  };
}

function number(name: 'voters' | 'epochs' | 'versions', max: number): number {
  const value = Number(values[name]);
  if (Number.isSafeInteger(value) && value >= 1 && value <= max) return value;
  throw new RangeError(`--${name} must be a whole number from 1 to ${max}, got ${values[name]}`);
}

function machine(): string {
  const cpus = os.cpus();
  const load = os.loadavg()[0]?.toFixed(1);
  const memoryGib = Math.round(os.totalmem() / 2 ** 30);
  return [
    `${new Date().toISOString().slice(0, 10)}, commit ${commit()}, Node ${process.versions.node}`,
    `${cpus.length} × ${cpus[0]?.model.trim()}, ${memoryGib} GiB, load before ${load}; one core is used`,
  ].join('\n');
}

function commit(): string {
  try {
    return execFileSync('git', ['rev-parse', '--short', 'HEAD']).toString().trim();
  } catch (error) {
    return `unknown (${(error as NodeJS.ErrnoException).code ?? 'no repository'})`;
  }
}

function memory(): string {
  return `${Math.ceil(process.memoryUsage().rss / 2 ** 20)} MiB`;
}

function text(count: number): string {
  return Math.round(count).toLocaleString('en');
}
