import { seededRandom } from '../../packages/core/dist/testing/sim-random.js';
import { startCluster } from './protocols.mjs';

const SETTLE_MS = 20_000;
/** Longer than the slowest baseline needs at the sizes measured. */
const WATCH_MS = 90_000;
const STEP_MS = 1000;
const LOSS = 0.01;

/**
 * The leader crashes at a random moment; how long until each survivor no longer names it, and until
 * each names another. With `crashes` above 1 the next leader crashes too, once all is quiet again.
 */
export async function failover({ protocol, nodes, seed, crashes = 1 }) {
  const cluster = startCluster({ protocol, seed, nodes });
  const random = seededRandom(seed, 1_000_003);
  cluster.net.loss(LOSS);
  const runs = [];
  for (let crash = 0; crash < crashes; crash += 1) {
    await cluster.run(SETTLE_MS + Math.floor(random() * 5000));
    await agree(cluster);
    runs.push(await crashLeader(cluster));
  }
  return runs;
}

/** Loss alone makes some baselines doubt their leader now and then. */
async function agree(cluster) {
  for (let waited = 0; waited < WATCH_MS; waited += STEP_MS) {
    const leader = cluster.leader(cluster.running[0]);
    if (leader !== null && cluster.running.every((id) => cluster.leader(id) === leader)) return;
    await cluster.run(STEP_MS);
  }
  throw new Error('The nodes do not agree on a leader.');
}

async function crashLeader(cluster) {
  const victim = cluster.leader(cluster.running.at(-1));
  const crashedAt = cluster.now;
  cluster.crash(victim);
  const deadline = crashedAt + WATCH_MS;
  const isOver = () => cluster.running.every((id) => ![null, victim].includes(cluster.leader(id)));
  while (!isOver() && cluster.now < deadline) await cluster.run(STEP_MS);
  const survivors = cluster.running.map((id) => since(cluster.events(id), crashedAt, victim));
  return {
    losses: survivors.map(({ lostMs }) => lostMs),
    changes: survivors.map(({ changedMs }) => changedMs),
  };
}

function since(events, crashedAt, victim) {
  const later = events.filter(({ at, type }) => type === 'leader' && at >= crashedAt);
  const lost = later.find(({ leader }) => leader !== victim);
  const changed = later.find(({ leader }) => leader !== victim && leader !== null);
  const msOf = (event) => (event ? event.at - crashedAt : Number.POSITIVE_INFINITY);
  return { lostMs: msOf(lost), changedMs: msOf(changed) };
}
