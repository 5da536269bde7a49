// `npm run bench [-- PART…] [-- --smoke]`: prints figures as Markdown; see bench/README.md.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import os from 'node:os';
import { command, forwardSignals } from '../scripts/command.mjs';
import { install, root, tool } from '../scripts/workspace.mjs';

const PARTS = ['sizes', 'machine', 'traffic', 'membership', 'terms', 'fences', 'mesh', 'tabs'];
const BUILD_LIMIT_MS = 120_000;

async function main() {
  const args = process.argv.slice(2);
  const isSmoke = args.includes('--smoke');
  const isFull = args.includes('--full');
  const seeds = seedsOf(args.find((arg) => arg.startsWith('--seeds=')));
  const chosen = args.filter((arg) => !arg.startsWith('--'));
  const stranger = chosen.find((part) => !PARTS.includes(part));
  if (stranger) throw new RangeError(`Parts are ${PARTS.join(', ')}; got ${stranger}.`);
  await build();
  printMachine(args);
  for (const part of chosen.length > 0 ? chosen : PARTS) {
    console.log(`\n## ${part}\n`);
    const { run } = await import(`./${part}.mjs`);
    await run({ isSmoke, isFull, seeds });
  }
}

/** `--seeds=1-500`: the part of a long run that one sitting takes; what it counts adds up. */
function seedsOf(option) {
  if (option === undefined) return null;
  const [, from, to] = /^--seeds=(\d{1,6})-(\d{1,6})$/.exec(option) ?? [];
  if (Number(from) >= 1 && Number(to) >= Number(from))
    return { from: Number(from), to: Number(to) };
  throw new RangeError(`--seeds must be like 1-500, got ${option.slice('--seeds='.length)}`);
}

/** Figures are of what users get: the built packages. */
async function build() {
  if (!(await install())) throw new Error('The dependencies could not be installed.');
  const packages = ['core', 'signaling', 'webrtc', 'yjs'].map((name) => `packages/${name}`);
  const { code } = await command(process.execPath, [tool('typescript', 'tsc'), '-b', ...packages], {
    cwd: root,
    limitMs: BUILD_LIMIT_MS,
  });
  if (code !== 0) throw new Error('The packages do not compile.');
}

function printMachine(args) {
  const cpu = os.cpus();
  const memoryGib = Math.round(os.totalmem() / 2 ** 30);
  console.log(`- command: \`npm run bench${args.length > 0 ? ` -- ${args.join(' ')}` : ''}\``);
  console.log(`- commit: ${commit()}`);
  console.log(`- machine: ${cpu.length} × ${cpu[0]?.model.trim()}, ${memoryGib} GiB`);
  console.log(`- system: ${systemName()}, Node ${process.versions.node}`);
  console.log(`- load before: ${os.loadavg()[0]?.toFixed(2)}`);
}

function commit() {
  try {
    return execFileSync('git', ['describe', '--always', '--dirty'], { cwd: root })
      .toString()
      .trim();
  } catch (error) {
    return `unknown (${error.code ?? 'no repository'})`;
  }
}

function systemName() {
  if (process.platform !== 'linux') return `${os.type()} ${os.release()}`;
  const name = /PRETTY_NAME="(.*)"/.exec(readFileSync('/etc/os-release', 'utf8'))?.[1];
  return `${name ?? 'Linux'}, kernel ${os.release()}`;
}

forwardSignals();
await main();
