import { spread, table } from '../statistics.mjs';
import { Cluster } from './cluster.mjs';
import { CONTENDERS } from './contenders.mjs';
import { takeTurns } from './turns.mjs';

/** How many lead at one instant when many tabs are opened at once. Gives the times by contender. */
export async function printOpening({ site, runs, count }) {
  const results = await takeTurns(runs, (surroundings) => once({ ...surroundings, site, count }));
  console.log(`\n### ${count} tabs are opened at once\n`);
  console.log('Until one and only one began to lead that did so for a second; milliseconds.\n');
  const rows = [...results].map(([contender, list]) => {
    const most = list.map((run) => run.most);
    const took = list.map(({ tookMs }) => tookMs);
    return [CONTENDERS[contender].label, Math.max(...most), spread(took)];
  });
  table(['', 'most leaders at one instant', 'one leads after'], rows);
  return results;
}

async function once({ browser, site, contender, count }) {
  const cluster = new Cluster({ browser, site, contender });
  const from = cluster.clock();
  await cluster.openAtOnce(count);
  await cluster.settled();
  return { most: cluster.log.most, tookMs: cluster.log.soleSince - from };
}
