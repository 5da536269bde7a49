import { oldestNode } from '@doyen/core';
import { simulate } from '@doyen/core/testing';
import { table } from './statistics.mjs';

const SETTLE_MS = 30_000;
const MEASURED_MS = 60_000;

/** What a node of an idle cluster sends, in simulated time: payload bytes, without framing. */
export async function run({ isSmoke }) {
  const rows = [];
  for (const nodes of isSmoke ? [3] : [3, 10, 50]) rows.push(await idle(nodes));
  console.log(
    'Budget at 10 nodes: 1 kB/s, and 500 virtual seconds a real second, checkers included.\n',
  );
  table(['nodes', 'sent by a node', 'a message', 'virtual seconds a real second'], rows);
}

async function idle(nodes) {
  const sim = simulate({ seed: 1, nodes, election: () => oldestNode(), latencyMs: [5, 30] });
  await sim.run(SETTLE_MS);
  const before = total(sim);
  const started = performance.now();
  await sim.run(MEASURED_MS);
  const speed = MEASURED_MS / (performance.now() - started);
  const after = total(sim);
  const bytes = after.bytesSent - before.bytesSent;
  const messages = after.messagesSent - before.messagesSent;
  const rate = bytes / nodes / (MEASURED_MS / 1000);
  return [nodes, `${rate.toFixed(0)} B/s`, `${(bytes / messages).toFixed(1)} B`, speed.toFixed(0)];
}

function total(sim) {
  const sum = { bytesSent: 0, messagesSent: 0 };
  for (const id of sim.ids) {
    const { bytesSent, messagesSent } = sim.stats(id);
    sum.bytesSent += bytesSent;
    sum.messagesSent += messagesSent;
  }
  return sum;
}
