import { parentPort } from 'node:worker_threads';
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
    parentPort.postMessage({ problem: String(error.stack ?? error) });
  }
});
