import { AKKA, Akka } from './baselines/akka.mjs';
import { HEARTBEAT, Heartbeat } from './baselines/heartbeat.mjs';
import { MEMBERLIST } from './baselines/memberlist.mjs';
import { SWIM, Swim } from './baselines/swim.mjs';
import { DoyenCluster } from './doyen-cluster.mjs';
import { VirtualCluster } from './virtual-cluster.mjs';

/** Names as the tables print them; Doyen first. */
export const DOYEN = 'Doyen';
export const BASELINES = ['heartbeat', 'SWIM', 'memberlist LAN', 'Akka phi'];

const CREATE = {
  heartbeat: (context, changed) => new Heartbeat(context, { ...HEARTBEAT, ...changed }),
  SWIM: (context, changed) => new Swim(context, { ...SWIM, ...changed }),
  'memberlist LAN': (context, changed) => new Swim(context, { ...MEMBERLIST, ...changed }),
  'Akka phi': (context, changed) => new Akka(context, { ...AKKA, ...changed }),
};

/** A cluster that runs a protocol; `changed` are parameters other than a baseline's published ones. */
export function startCluster({ protocol, changed = {}, seed, nodes, latencyMs = LATENCY_MS }) {
  if (protocol === DOYEN) return new DoyenCluster({ seed, nodes, latencyMs });
  const create = (context) => CREATE[protocol](context, changed);
  return new VirtualCluster({ seed, nodes, latencyMs, create });
}

/** One way, of every message, in all experiments. */
export const LATENCY_MS = [20, 60];
