import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { root } from '../scripts/workspace.mjs';

/** `npm start` builds the demo first. */
const START_LIMIT_MS = 90_000;

/** Starts the built demo with its signaling server on a free port; `close()` ends it. */
export async function startDemo() {
  const server = spawn(process.execPath, ['scripts/start.mjs'], {
    cwd: root,
    env: { ...process.env, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const end = () => server.kill('SIGTERM');
  process.once('exit', end);
  const url = await localUrl(server);
  return {
    url,
    async close() {
      process.removeListener('exit', end);
      const ended = once(server, 'exit');
      end();
      await ended;
    },
  };
}

function localUrl(server) {
  return new Promise((resolve, reject) => {
    let printed = '';
    const limit = setTimeout(() => fail('it took too long'), START_LIMIT_MS);
    const fail = (why) => {
      clearTimeout(limit);
      server.kill('SIGTERM');
      reject(new Error(`The demo did not start: ${why}.\n${printed}`));
    };
    server.once('exit', (code) => fail(`exit code ${code}`));
    server.stdout.on('data', (chunk) => {
      printed += chunk;
      const url = /https?:\/\/(localhost|127\.0\.0\.1):\d+\S*/.exec(printed)?.[0];
      if (!url) return;
      clearTimeout(limit);
      server.removeAllListeners('exit');
      resolve(url);
    });
  });
}
