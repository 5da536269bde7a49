import { seededRandom } from '../../packages/core/dist/testing/sim-random.js';
import { startCluster } from './protocols.mjs';

const SETTLE_MS = 30_000;
const LOSS = 0.01;
const STEP_MS = 50;
/** A state that holds for so long is taken to be healed. */
const STABLE_MS = 10_000;
const LIMIT_MS = 120_000;

/** Two random halves are parted; how long after the heal until all see all, and one leader. */
export async function heal({ protocol, nodes, seed, partitionMs }) {
  const cluster = startCluster({ protocol, seed, nodes });
  cluster.net.loss(LOSS);
  await cluster.run(SETTLE_MS);
  const random = seededRandom(seed, 1_000_007);
  const shuffled = cluster.ids.map((id) => ({ id, at: random() })).sort((a, b) => a.at - b.at);
  const half = shuffled.slice(0, Math.ceil(nodes / 2)).map(({ id }) => id);
  cluster.net.partition([half]);
  await cluster.run(partitionMs);
  cluster.net.heal();
  return { healMs: await healed(cluster) };
}

async function healed(cluster) {
  const begun = cluster.now;
  let since = isWhole(cluster) ? begun : Number.POSITIVE_INFINITY;
  while (cluster.now < begun + LIMIT_MS) {
    await cluster.run(STEP_MS);
    if (!isWhole(cluster)) since = Number.POSITIVE_INFINITY;
    else if (since === Number.POSITIVE_INFINITY) since = cluster.now;
    if (cluster.now - since >= STABLE_MS) return since - begun;
  }
  return Number.POSITIVE_INFINITY;
}

function isWhole(cluster) {
  const { running } = cluster;
  const leader = cluster.leader(running[0]);
  if (leader === null) return false;
  return running.every(
    (id) => cluster.leader(id) === leader && cluster.roster(id).length === running.length,
  );
}
