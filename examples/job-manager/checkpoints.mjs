// Where checkpoints are kept, as a worker sees it: anybody reads, only the newest leader writes.
import { httpFence, redisFence } from '@doyen/core/fence';
import { createClient } from 'redis';
import { CLUSTER } from './job.mjs';

/**
 * @typedef {object} Checkpoints
 * @property {{ open(token: import('@doyen/core').Token): Promise<void> }} fence
 * @property {() => Promise<import('./job.mjs').Checkpoint | null>} read null before the first
 * @property {(token: import('@doyen/core').Token, checkpoint: import('./job.mjs').Checkpoint) => Promise<void>} write
 *   rejects with a `FencedError`, and nothing changed, when the token is not the newest
 */

/** @returns {Promise<Checkpoints>} behind an `http:` or in a `redis:` address */
export function openCheckpoints(url) {
  return url.startsWith('redis:') ? redisCheckpoints(url) : httpCheckpoints(url);
}

async function httpCheckpoints(url) {
  const fence = httpFence({ url });
  return {
    fence,
    async read() {
      const response = await fetch(url);
      if (!response.ok) throw new Error(`reading ${url}: status ${response.status}`);
      return response.json();
    },
    async write(token, checkpoint) {
      const body = JSON.stringify(checkpoint);
      const response = await fence.admit(token, { method: 'PUT', body });
      await response.body?.cancel();
      if (!response.ok) throw new Error(`writing ${url}: status ${response.status}`);
    },
  };
}

/** All keys are in one hash slot, so that one script may use them on a Redis Cluster too. */
const KEYS = {
  fence: `{${CLUSTER}}:fence`,
  checkpoint: `{${CLUSTER}}:checkpoint`,
  journal: `{${CLUSTER}}:journal`,
};

async function redisCheckpoints(url) {
  const client = await connect({ url });
  const fence = redisFence({ client, key: KEYS.fence, cluster: CLUSTER });
  return {
    fence,
    async read() {
      return JSON.parse((await client.get(KEYS.checkpoint)) ?? 'null');
    },
    async write(token, checkpoint) {
      const text = JSON.stringify(checkpoint);
      // In one step, together with the check of the token.
      await fence.admit(token, [
        ['SET', KEYS.checkpoint, text],
        ['RPUSH', KEYS.journal, text],
      ]);
    },
  };
}

/** All checkpoints that were ever written to Redis, oldest first. */
export async function redisJournal(socket) {
  const client = await connect({ socket });
  try {
    const entries = await client.lRange(KEYS.journal, 0, -1);
    return entries.map((entry) => JSON.parse(entry));
  } finally {
    client.destroy();
  }
}

function connect(options) {
  // Commands fail while the connection is lost; the client comes back by itself.
  const client = createClient(options).on('error', (error) => console.error(String(error)));
  return client.connect();
}
