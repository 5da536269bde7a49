// `npm start`: from a fresh clone to a page that can be opened, with nothing but Node and npm.
// `npm start -- --dev` serves the sources, and follows changes to them.
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { command, forwardSignals } from './command.mjs';
import { install, nodeProblem, root, tool } from './workspace.mjs';

const PORT = 5173;
const BUILD_LIMIT_MS = 180_000;

async function main() {
  const problem = nodeProblem() ?? portProblem();
  if (problem) return fail(problem);
  const stopForwarding = forwardSignals();
  if (!(await install())) return fail('The dependencies could not be installed.');
  const dev = process.argv.includes('--dev');
  if (!(await build({ dev }))) return fail('The demo could not be built.');
  stopForwarding();
  await serve({ dev });
}

/** The servers run compiled in any case; the page only when it is not served as source. */
async function build({ dev }) {
  console.log('Building…');
  const names = ['webrtc', 'signaling', 'yjs'].map((name) => `packages/${name}`);
  const packages = await run('typescript', 'tsc', ['-b', ...names]);
  return packages && (dev || (await run('vite', 'vite', ['build', 'demo', '--logLevel', 'warn'])));
}

async function run(packageName, binName, args) {
  const script = tool(packageName, binName);
  const ended = await command(process.execPath, [script, ...args], {
    cwd: root,
    limitMs: BUILD_LIMIT_MS,
  });
  return ended.code === 0;
}

async function serve({ dev }) {
  // Known only now: what it imports may not have been installed before.
  const file = path.join(root, 'demo/server.mjs');
  const { startDemo } = await import(pathToFileURL(file).href);
  const demo = await startDemo({ port: Number(process.env.PORT || PORT), dev });
  stopOnSignal(demo);
  console.log(`\nDoyen\n`);
  for (const url of demo.local) console.log(`  this machine    ${url}`);
  for (const url of demo.network) console.log(`  your network    ${url}`);
  console.log('\nOpen three tabs of it, here or on other devices: they elect a leader.');
  console.log(
    'Close the one that leads. The second page is a text editor with one socket for all.',
  );
  console.log('Ctrl-C stops the server.\n');
}

function stopOnSignal(demo) {
  // Being told to stop is the regular end, whoever else listens to the signal.
  process.exitCode = 0;
  for (const signal of ['SIGINT', 'SIGTERM']) {
    process.once(signal, async () => {
      await demo.close();
      process.exit(0);
    });
  }
}

function portProblem() {
  const { PORT: text } = process.env;
  const isPort = !text || (/^\d{1,5}$/.test(text) && Number(text) < 65_536);
  return isPort ? undefined : `PORT must be a number from 0 to 65535, got "${text}".`;
}

function fail(problem) {
  console.error(problem);
  process.exitCode = 1;
}

await main();
