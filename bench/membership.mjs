import { printAims } from './membership/aims.mjs';
import { planOf } from './membership/plan.mjs';
import { Pool } from './membership/pool.mjs';
import {
  printEvictions,
  printEvictionsOf,
  printFailover,
  printHeal,
  printReproduction,
  printTraffic,
} from './membership/tables.mjs';

/**
 * How soon a crash is found, how often a member is lost that was not gone, and what that costs: in
 * the simulator, beside four well-known detectors on the same virtual network.
 */
export async function run({ isSmoke, isFull = false, seeds = null }) {
  const plan = planOf({ isSmoke, isFull });
  const pool = new Pool();
  const startedAt = performance.now();
  const before = process.cpuUsage();
  try {
    if (seeds !== null) return await printEvictionsOf(pool, plan.evictions, seeds);
    console.log('Seeds count from 1 in every row. Latency 20–60 ms one way.\n');
    await printReproduction(pool, plan.reproduction);
    const violations = [];
    const failover = await printFailover(pool, plan.failover, violations);
    const traffic = await printTraffic(pool, plan.traffic, violations);
    const heal = await printHeal(pool, plan.heal, violations);
    const evictions = await printEvictions(pool, plan.evictions, violations);
    printAims({ failover, traffic, heal, evictions, violations });
  } finally {
    const { user, system } = process.cpuUsage(before);
    const tookS = Math.round((performance.now() - startedAt) / 1000);
    const processorS = Math.round((user + system) / 1_000_000);
    console.log(`\nTook ${tookS} s, with ${processorS} s of processor time.`);
    await pool.close();
  }
}
