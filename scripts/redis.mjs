import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { command } from './command.mjs';
import { aptInstall } from './debian.mjs';

/** It starts in some 30 ms; a busy machine may need long. */
const START_LIMIT_MS = 20_000;

/** Path or name of a redis-server that starts, at last installed; undefined when there is none. */
export async function ensureRedis() {
  const found = await findRedis();
  if (found) return found;
  await aptInstall('redis-server');
  return findRedis();
}

/** What to tell a user whose machine has no Redis and got none. */
export const REDIS_ADVICE =
  'No redis-server was found, and none could be installed. Install Redis (Debian: `apt-get ' +
  'install redis-server`), or name one: DOYEN_REDIS=/path/to/redis-server npm test';

/**
 * Starts a Redis that listens on a socket in `folder`, where it also keeps what it stores.
 *
 * @param {{ folder: string, isDurable?: boolean }} options `isDurable`: keeps every write.
 */
export async function startRedis({ folder, isDurable = false }) {
  const binary = await findRedis();
  if (!binary) throw new Error(REDIS_ADVICE);
  const socket = path.join(folder, 'redis.sock');
  const settings = {
    port: '0',
    unixsocket: socket,
    dir: folder,
    save: '',
    appendonly: isDurable ? 'yes' : 'no',
    appendfsync: 'always',
  };
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
  const child = spawn(binary, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const end = () => child.kill('SIGKILL');
  process.once('exit', end);
  const exited = once(child, 'exit').then(() => process.off('exit', end));
  await isReady(child);
  return {
    socket,
    /** As a crash would: nothing is flushed, nobody is told. */
    async kill() {
      end();
      await exited;
    },
  };
}

async function findRedis() {
  const binary = process.env.DOYEN_REDIS ?? 'redis-server';
  const { code, output } = await command(binary, ['--version'], { limitMs: 10_000, quiet: true });
  return code === 0 && output.startsWith('Redis') ? binary : undefined;
}

/** Reads all that it prints, lest it waits for a reader; resolves once it serves. */
function isReady(child) {
  return new Promise((resolve, reject) => {
    const printed = [];
    const fail = () => {
      child.kill('SIGKILL');
      reject(new Error(`redis-server did not start:\n${printed.join('\n')}`));
    };
    const limit = setTimeout(fail, START_LIMIT_MS);
    child.once('exit', fail);
    createInterface({ input: child.stdout }).on('line', (line) => {
      printed.push(line);
      if (!line.includes('ready to accept connections')) return;
      clearTimeout(limit);
      child.off('exit', fail);
      resolve(undefined);
    });
  });
}
