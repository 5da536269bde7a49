import { HEARTBEAT } from './baselines/heartbeat.mjs';
import { startCluster } from './protocols.mjs';

const LOSS = 0.05;

/** One published figure of a baseline, measured here: a list of samples, or a count of trials. */
export function reproduce({ figure, ...job }) {
  return FIGURES[figure](job);
}

const FIGURES = {
  /** From the crash until the first survivor evicts. */
  async heartbeatDetection({ seed }) {
    const cluster = startCluster({ protocol: 'heartbeat', seed, nodes: 10 });
    await cluster.run(10_000 + ((seed * 137) % 1000));
    const crashedAt = cluster.now;
    cluster.crash('n5');
    await cluster.run(10_000);
    const found = cluster.running.map((id) => cluster.events(id).find(isAbout('n5')).at);
    return { samples: found.map((at) => (at - crashedAt) / 1000) };
  },

  async heartbeatLoss({ seed, seconds }) {
    const nodes = 5;
    const cluster = startCluster({ protocol: 'heartbeat', seed, nodes });
    cluster.net.loss(LOSS);
    await cluster.run(seconds * 1000);
    const evicted = cluster.ids.flatMap((id) => cluster.events(id).filter(isEviction));
    const beats = (nodes * (nodes - 1) * seconds * 1000) / HEARTBEAT.intervalMs;
    return { hits: evicted.length, trials: beats };
  },

  /** Protocol periods from the crash until somebody suspects; targets at random, as in the paper. */
  async swimDetection({ seed }) {
    const changed = { selection: 'random', isSynchronous: true };
    const cluster = startCluster({ protocol: 'SWIM', changed, seed, nodes: 50 });
    // All rounds begin 2 ms later.
    await cluster.run(5000);
    cluster.crash('n7');
    const crashedAt = cluster.now;
    await cluster.run(20_000);
    const at = firstNote(cluster, 'suspicion', 'n7');
    return { samples: [Math.floor((at - crashedAt) / 1000)] };
  },

  async swimLoss({ seed, seconds }) {
    const cluster = startCluster({ protocol: 'SWIM', seed, nodes: 10 });
    cluster.net.loss(LOSS);
    await cluster.run(seconds * 1000);
    const notes = cluster.ids.flatMap((id) => cluster.events(id));
    const hits = notes.filter(({ type }) => type === 'suspicion').length;
    const trials = cluster.ids.reduce((sum, id) => sum + cluster.protocol(id).probes, 0);
    return { hits, trials };
  },

  /** The suspicion window, when everybody confirms. */
  async memberlistShortest({ seed }) {
    const cluster = startCluster({ protocol: 'memberlist LAN', seed, nodes: 10 });
    await cluster.run(20_000);
    cluster.crash('n5');
    await cluster.run(40_000);
    return { samples: windowsOf(cluster, cluster.running).slice(0, 1) };
  },

  /** The window of a node that hears nobody, so that nobody confirms. */
  async memberlistLongest({ seed }) {
    const cluster = startCluster({ protocol: 'memberlist LAN', seed, nodes: 10 });
    await cluster.run(20_000);
    cluster.net.partition([['n5']]);
    await cluster.run(60_000);
    return { samples: windowsOf(cluster, ['n5']).slice(0, 1) };
  },

  /** From the last answer that came until the member is marked unreachable. */
  async akkaDetection({ seed }) {
    const cluster = startCluster({ protocol: 'Akka phi', seed, nodes: 10 });
    await cluster.run(120_000);
    cluster.crash('n5');
    await cluster.run(10_000);
    const notes = cluster.running.flatMap((id) => cluster.events(id));
    const found = notes.filter(({ type }) => type === 'unreachable');
    return { samples: found.map(({ value }) => value / 1000) };
  },
};

function isEviction({ type }) {
  return type === 'evicted';
}

function isAbout(id) {
  return ({ type, member }) => type === 'evicted' && member === id;
}

function firstNote(cluster, type, value) {
  const notes = cluster.running.flatMap((id) => cluster.events(id));
  return Math.min(
    ...notes.filter((note) => note.type === type && note.value === value).map(({ at }) => at),
  );
}

/** In seconds; the first is that of the node whose own time was up, others heard of it. */
function windowsOf(cluster, ids) {
  const notes = ids.flatMap((id) => cluster.events(id)).filter(({ type }) => type === 'window');
  return notes.sort((one, two) => one.at - two.at).map(({ value }) => value / 1000);
}
