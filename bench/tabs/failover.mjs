import { setTimeout } from 'node:timers/promises';
import { table } from '../statistics.mjs';
import { Cluster } from './cluster.mjs';
import { CONTENDERS } from './contenders.mjs';
import { figure } from './figure.mjs';
import { takeTurns } from './turns.mjs';

const TABS = 4;
/** For somebody else to lead; who takes longer is taken to do it never. */
const LIMIT_MS = 20_000;
/** For two that lead at once to notice it, after one has come back. */
const AFTERMATH_MS = 3000;

/**
 * What happens to the leader. Each gives `act`, whose time is the beginning; and, where the leader
 * comes back, `undo`.
 */
const SCENARIOS = {
  'tab closed': async (leader) => ({ act: () => leader.close(), isEnd: true }),

  'renderer crashes': async (leader) => ({ act: await leader.crashing(), isEnd: true }),

  'process killed': async (leader) => ({ act: await leader.killing(), isEnd: true }),

  frozen: async (leader, { others }) => {
    await others[0].show();
    await leader.untilHidden();
    const { freeze, thaw } = await leader.freezing();
    return { act: freeze, undo: thaw };
  },

  'back/forward cache': async (leader, { site }) => {
    const act = () => leader.leaveFor(site.url('elsewhere'));
    return { act, undo: () => leader.goBack() };
  },
};

/** How long it takes until another tab leads. Gives the times by scenario and contender. */
export async function printFailover({ site, runs, isSmoke }) {
  const scenarios = Object.keys(SCENARIOS).slice(0, isSmoke ? 1 : undefined);
  const results = new Map();
  for (const scenario of scenarios) {
    const play = (surroundings) => once({ ...surroundings, site, scenario });
    results.set(scenario, await takeTurns(runs, play));
  }
  console.log(`\n### Failover: ${TABS} tabs, what happens to the leader’s\n`);
  console.log('Milliseconds from the act until another tab says that it leads.\n');
  const rows = Object.entries(CONTENDERS).map(([contender, { label }]) => {
    const times = scenarios.map((scenario) => {
      const took = results
        .get(scenario)
        .get(contender)
        .map(({ tookMs }) => tookMs);
      return figure(took, LIMIT_MS);
    });
    return [label, ...times];
  });
  table(['', ...scenarios], rows);
  if (!isSmoke) printAftermath(results);
  return results;
}

function printAftermath(results) {
  console.log(
    '\nWhen the former leader is back: the most that led at one instant since the act.\n',
  );
  const most = (runs) => Math.max(...runs.map((run) => run.most));
  const rows = Object.entries(CONTENDERS).map(([contender, { label }]) => {
    const frozen = results.get('frozen').get(contender);
    const cached = results.get('back/forward cache').get(contender);
    const restored = cached.filter(({ isRestored }) => isRestored);
    const kept = `${restored.length} of ${cached.length}`;
    return [label, most(frozen), kept, restored.length > 0 ? most(restored) : '–'];
  });
  table(['', 'thawed', 'restored from the cache', 'restored'], rows);
}

async function once({ browser, site, scenario, contender }) {
  const cluster = new Cluster({ browser, site, contender });
  await cluster.open(TABS);
  const leader = await cluster.settled();
  await leader.show();
  const surroundings = { others: cluster.others(leader), site };
  const { act, undo, isEnd } = await SCENARIOS[scenario](leader, surroundings);
  const from = cluster.clock();
  if (isEnd) cluster.log.loses(leader, from);
  const acted = act();
  const successionAt = () => cluster.log.successionAfter(from, leader);
  while (successionAt() === null && cluster.clock() - from < LIMIT_MS) await setTimeout(5);
  await acted;
  const tookMs = (successionAt() ?? Number.POSITIVE_INFINITY) - from;
  if (!undo) return { tookMs };
  await undo();
  await setTimeout(AFTERMATH_MS);
  await cluster.catchUp(leader);
  return { tookMs, most: cluster.log.most, isRestored: cluster.isRestored(leader) };
}
