import { BASELINES, DOYEN } from './protocols.mjs';

export const PROTOCOLS = [DOYEN, ...BASELINES];

/**
 * What a run measures. Runs and crashes by number of nodes: a cluster of 200 takes half a minute of
 * a core to meet, so several leaders of the same one crash in turn.
 */
export function planOf({ isSmoke, isFull }) {
  if (isSmoke) return SMOKE;
  return isFull ? FULL : DEFAULT;
}

const SECONDS = 1000;
const MINUTES = 60 * SECONDS;

const DEFAULT = {
  reproduction: { runs: 100, detectionRuns: 300, lossRuns: 4, lossSeconds: 5000 },
  failover: {
    own: { 200: runs(1, 3), 50: runs(20), 10: runs(200), 5: runs(300), 3: runs(300), 2: runs(300) },
    baseline: {
      200: runs(1),
      50: runs(10),
      10: runs(100),
      5: runs(100),
      3: runs(100),
      2: runs(100),
    },
  },
  evictions: { nodes: 5, hours: 1, ownRuns: 100, baselineRuns: 40 },
  traffic: { sizes: [200, 50, 10, 5, 3, 2], forMs: 30 * SECONDS },
  heal: {
    own: [
      { partitionMs: 5 * SECONDS, runs: { 200: 1, 50: 3, 10: 20, 5: 20, 3: 20, 2: 20 } },
      { partitionMs: MINUTES, runs: { 200: 1, 50: 3, 10: 20, 5: 20, 3: 20, 2: 20 } },
      { partitionMs: 30 * MINUTES, runs: { 200: 1, 50: 3, 10: 5, 5: 10, 3: 10, 2: 10 } },
    ],
    baseline: [
      { partitionMs: 5 * SECONDS, runs: { 50: 1, 10: 10, 5: 10, 3: 10, 2: 10 } },
      { partitionMs: MINUTES, runs: { 50: 1, 10: 10, 5: 10, 3: 10, 2: 10 } },
      { partitionMs: 30 * MINUTES, runs: { 10: 5, 5: 5, 3: 5, 2: 5 } },
    ],
  },
};

/** Ten thousand node-hours, some hours of a processor; `--seeds` takes them in parts. */
const FULL = { ...DEFAULT, evictions: { ...DEFAULT.evictions, ownRuns: 2000 } };

const SMOKE = {
  reproduction: { runs: 4, detectionRuns: 10, lossRuns: 1, lossSeconds: 300 },
  failover: { own: { 10: runs(3), 2: runs(3) }, baseline: { 10: runs(2) } },
  evictions: { nodes: 5, hours: 0.2, ownRuns: 2, baselineRuns: 1 },
  traffic: { sizes: [10], forMs: 10 * SECONDS },
  heal: {
    own: [{ partitionMs: 5 * SECONDS, runs: { 5: 2 } }],
    baseline: [{ partitionMs: 5 * SECONDS, runs: { 5: 1 } }],
  },
};

function runs(seeds, crashes = 1) {
  return { seeds, crashes };
}
