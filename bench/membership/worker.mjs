import { parentPort } from 'node:worker_threads';
import { DoyenCluster } from './doyen-cluster.mjs';
import { evictions } from './evictions.mjs';
import { failover } from './failover.mjs';
import { heal } from './heal.mjs';
import { reproduce } from './reproduction.mjs';
import { traffic } from './traffic.mjs';

const EXPERIMENTS = { failover, evictions, traffic, heal, reproduce };

parentPort.on('message', async ({ experiment, ...job }) => {
  try {
    parentPort.postMessage({ result: await EXPERIMENTS[experiment](job) });
  } catch (error) {
    // A rule that is violated is a figure too; anything else is a fault of the benchmark.
    if (DoyenCluster.isViolation(error)) {
      parentPort.postMessage({ result: { violation: error.message.split('\n')[0] } });
      return;
    }
    parentPort.postMessage({ problem: String(error.stack ?? error) });
  }
});
