// `npm run example`: from a fresh clone to the story, with nothing but Node and npm.
import { parseArgs } from 'node:util';
import { command, forwardSignals } from '../../scripts/command.mjs';
import { install, nodeProblem, root, tool } from '../../scripts/workspace.mjs';

const USAGE = `Usage: npm run example [-- OPTIONS]

  --nodes N    so many workers, 3 to 7 (3)
  --redis      keeps the checkpoints in Redis, which must be installed, instead of a file
  --unfenced   lets the store believe everybody: then the story ends badly`;

const BUILD_LIMIT_MS = 180_000;

async function main() {
  const options = optionsOf(process.argv.slice(2));
  if (typeof options === 'string') return fail(options);
  const problem = nodeProblem();
  if (problem) return fail(problem);
  const stopForwarding = forwardSignals();
  if (!(await install())) return fail('The dependencies could not be installed.');
  if (!(await build())) return fail('The packages do not compile.');
  stopForwarding();
  endOnSignals();
  // Known only now: what it imports may not have been installed before.
  const { tellStory } = await import('./story/story.mjs');
  if (!(await tellStory(options))) process.exitCode = 1;
}

/** What was asked for; a text when that makes no sense. */
function optionsOf(args) {
  try {
    const { values } = parseArgs({
      args,
      options: {
        nodes: { type: 'string', default: '3' },
        redis: { type: 'boolean', default: false },
        unfenced: { type: 'boolean', default: false },
      },
    });
    if (!/^[3-7]$/.test(values.nodes)) return `--nodes must be 3 to 7\n\n${USAGE}`;
    if (values.redis && values.unfenced)
      return `--unfenced is for the store of its own\n\n${USAGE}`;
    return { workerCount: Number(values.nodes), isRedis: values.redis, isFenced: !values.unfenced };
  } catch (error) {
    return `${error.message}\n\n${USAGE}`;
  }
}

async function build() {
  const args = [tool('typescript', 'tsc'), '-b', 'packages/webrtc', 'packages/signaling'];
  const { code } = await command(process.execPath, args, { cwd: root, limitMs: BUILD_LIMIT_MS });
  return code === 0;
}

/** What was begun is cleared away by listeners of `exit`. */
function endOnSignals() {
  for (const [signal, code] of Object.entries({ SIGINT: 130, SIGTERM: 143, SIGHUP: 129 })) {
    process.once(signal, () => process.exit(code));
  }
}

function fail(problem) {
  console.error(problem);
  process.exitCode = 1;
}

await main();
