import { seededRandom } from '../../packages/core/dist/testing/sim-random.js';
import { DoyenCluster } from './doyen-cluster.mjs';
import { startCluster } from './protocols.mjs';

const SETTLE_MS = 40_000;
const LOSS = 0.01;
const CRASHED_SHARE = 0.1;

/** What a node sends a second: idle, and after a tenth of the members crashed at once. */
export async function traffic({ protocol, nodes, seed, forMs }) {
  const cluster = startCluster({ protocol, seed, nodes });
  cluster.net.loss(LOSS);
  await cluster.run(SETTLE_MS);
  const idle = await measure(cluster, forMs);
  const random = seededRandom(seed, 1_000_006);
  const count = Math.max(1, Math.round(CRASHED_SHARE * nodes));
  for (let crash = 0; crash < count; crash += 1) {
    const { running } = cluster;
    cluster.crash(running[Math.floor(random() * running.length)]);
  }
  try {
    return { idle, crash: await measure(cluster, forMs), violation: null };
  } catch (error) {
    if (!DoyenCluster.isViolation(error)) throw error;
    return { idle, crash: null, violation: error.message.split('\n')[0] };
  }
}

async function measure(cluster, forMs) {
  const ids = cluster.running;
  const read = () => ids.map((id) => ({ ...cluster.stats(id) }));
  const before = read();
  await cluster.run(forMs);
  const seconds = forMs / 1000;
  const sent = read().map((after, at) => ({
    bytes: (after.bytesSent - before[at].bytesSent) / seconds,
    messages: (after.messagesSent - before[at].messagesSent) / seconds,
  }));
  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
  return {
    bytes: mean(sent.map(({ bytes }) => bytes)),
    messages: mean(sent.map(({ messages }) => messages)),
    bytesMost: Math.max(...sent.map(({ bytes }) => bytes)),
  };
}
