import { seededRandom } from '../../packages/core/dist/testing/sim-random.js';
import { DoyenCluster } from './doyen-cluster.mjs';
import { startCluster } from './protocols.mjs';
import { silence } from './silence.mjs';

/** Doyen's default `suspicionMs`: the measure of silence for every protocol. */
const WINDOW_MS = 20_000;
const STALL_MS = [1000, 60_000];
const STALL_GAP_MEAN_MS = 180_000;
const LOSS = 0.05;
const SETTLE_MS = 30_000;
/** Of ten tabs; two clusters of five share them. */
const THROTTLES_MS = [0, 0, 0, 0, 1000, 1000, 1000, 1000, 1000, 60_000];
/** Others evict the same member for the same silence within this time. */
const EPISODE_MS = 30_000;

/** Members stall at random for some hours; who is evicted, and how long it had been silent. */
export async function evictions({ protocol, nodes, seed, hours }) {
  const cluster = startCluster({ protocol, seed, nodes });
  const forMs = hours * 3_600_000;
  const stalls = planStalls(cluster.ids, seed, forMs);
  let violation = null;
  try {
    await cluster.run(SETTLE_MS / 2);
    cluster.net.loss(LOSS);
    throttle(cluster, seed);
    await cluster.run(SETTLE_MS / 2);
    await play(cluster, stalls);
  } catch (error) {
    if (!DoyenCluster.isViolation(error)) throw error;
    violation = error.message.split('\n')[0];
  }
  const counts = count(cluster, stalls);
  return { ...counts, nodeHours: (nodes * cluster.now) / 3_600_000, violation };
}

function throttle(cluster, seed) {
  const pair = Math.floor(seed / 2);
  const random = seededRandom(pair, 1_000_004);
  const shuffled = THROTTLES_MS.map((intervalMs) => ({ intervalMs, at: random() }));
  shuffled.sort((one, two) => one.at - two.at);
  const offset = seed % 2 === 0 ? 0 : 5;
  for (const [at, id] of cluster.ids.entries()) {
    const { intervalMs } = shuffled[(at + offset) % shuffled.length];
    if (intervalMs > 0) cluster.throttle(id, intervalMs);
  }
}

/** Stalls of every member, with exponential gaps between them; several may stall at a time. */
function planStalls(ids, seed, forMs) {
  const random = seededRandom(seed, 1_000_005);
  const [shortest, longest] = STALL_MS;
  return ids.flatMap((id) => {
    const stalls = [];
    let at = SETTLE_MS;
    for (;;) {
      at += Math.ceil(-Math.log(1 - random()) * STALL_GAP_MEAN_MS);
      const end = at + Math.round(shortest + random() * (longest - shortest));
      if (end > forMs) return stalls;
      stalls.push({ id, from: at, to: end });
      at = end;
    }
  });
}

async function play(cluster, stalls) {
  const acts = stalls.flatMap(({ id, from, to }) => [
    { at: from, run: () => cluster.pause(id) },
    { at: to, run: () => cluster.resume(id) },
  ]);
  acts.sort((one, two) => one.at - two.at);
  for (const act of acts) {
    await cluster.run(act.at - cluster.now);
    act.run();
  }
  await cluster.run(EPISODE_MS);
}

function count(cluster, stalls) {
  const counts = { right: 0, hasty: 0, running: 0, judgements: 0, stalls: 0, shortStalls: 0 };
  for (const id of cluster.ids) {
    const own = stalls.filter((stall) => stall.id === id && stall.to <= cluster.now);
    counts.stalls += own.length;
    counts.shortStalls += own.filter(({ from, to }) => to - from < WINDOW_MS).length;
  }
  const evicted = cluster.ids.flatMap((id) => cluster.events(id));
  for (const { judgements, silenceMs } of episodes(evicted, stalls)) {
    counts.judgements += judgements;
    if (silenceMs >= WINDOW_MS) counts.right += 1;
    else if (silenceMs > 0) counts.hasty += 1;
    else counts.running += 1;
  }
  return counts;
}

/** What several members conclude from one silence is one eviction, and as bad as the worst of them. */
function episodes(events, stalls) {
  const evicted = events.filter(({ type }) => type === 'evicted').sort((a, b) => a.at - b.at);
  const found = [];
  const latest = new Map();
  for (const { at, member } of evicted) {
    const silenceMs = silence(stalls, member, at);
    const episode = latest.get(member);
    if (episode && at - episode.at < EPISODE_MS) {
      episode.judgements += 1;
      episode.silenceMs = Math.min(episode.silenceMs, silenceMs);
      continue;
    }
    const begun = { at, silenceMs, judgements: 1 };
    latest.set(member, begun);
    found.push(begun);
  }
  return found;
}
