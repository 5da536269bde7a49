import { quorum } from '../packages/core/dist/index.js';
import { simulate } from '../packages/core/dist/testing/index.js';
import { seededRandom } from '../packages/core/dist/testing/sim-random.js';
import { command } from '../scripts/command.mjs';
import { root } from '../scripts/workspace.mjs';
import { run as runFences } from './fences.mjs';
import { median, table } from './statistics.mjs';

const LATENCY_MS = [20, 60];
const SETTLE_MS = 15_000;
const LIMIT_MS = 120_000;
const GRID_MS = 1000;
const CHECK_LIMIT_MS = 120_000;

/** How soon the timers of a hidden tab fire, and how those of several tabs lie to each other. */
const TIMERS = {
  free: () => undefined,
  '1 Hz': (sim, random) => {
    for (const id of sim.ids)
      sim.throttle(id, GRID_MS, { phaseMs: Math.floor(random() * GRID_MS) });
  },
  '1 Hz, aligned': (sim) => {
    for (const id of sim.ids) sim.throttle(id, GRID_MS);
  },
};

// The textbook draws one timeout from a range as wide as it is long, stands at once, and draws anew
// after a split vote. Beside it Doyen's own way at the same shortest timeout, and its defaults.
const SHORT = { stickyMs: 1400, beatMs: 250 };
const RULES = {
  'Doyen, defaults': {},
  'Doyen, 1500 ms': { ...SHORT, electionTimeoutMs: [1500, 1800] },
  'textbook, 1500–3000 ms': {
    ...SHORT,
    electionTimeoutMs: [1500, 3000],
    rankStepMs: 0,
    backoffFactor: 1,
    preVote: false,
  },
};

/** How soon voters have a new leader after a crash, how often they split, and what that costs. */
export async function run({ isSmoke }) {
  const crashes = isSmoke ? 2 : 200;
  console.log(
    `Simulated, latency ${LATENCY_MS.join('–')} ms one way, seeds from 1, ${crashes} crashes a row.`,
  );
  console.log('Seconds from the crash until the last survivor names another leader.\n');
  const rows = [];
  for (const voters of isSmoke ? [3] : [3, 5, 7]) {
    for (const [timers, throttle] of Object.entries(TIMERS)) {
      for (const [name, options] of Object.entries(RULES)) {
        rows.push(await row({ voters, timers, throttle, name, options, crashes }));
      }
    }
  }
  const costs = ['messages', 'durable writes'];
  table(['voters', 'timers', 'rule', 'p50', 'p99', 'most', 'split votes', ...costs], rows);
  console.log(
    '\nSplit votes: elections that took more than one epoch. Messages: questions and votes of',
  );
  console.log('one election, trials included; writes: on all disks together; medians.\n');
  await printChecker({ isSmoke });
  await runFences({ isSmoke });
}

/** How fast every state of the ballots is visited; `npm run check` visits more of them. */
async function printChecker({ isSmoke }) {
  const bounds = ['--epochs', '2', '--versions', isSmoke ? '2' : '3', '--fence'];
  const script = 'packages/core/test/checker/check.mjs';
  const { code, output } = await command(process.execPath, [script, ...bounds], {
    cwd: root,
    limitMs: CHECK_LIMIT_MS,
    quiet: true,
  });
  if (code !== 0) throw new Error(`The checker failed:\n${output}`);
  console.log(`The checker, \`npm run check -- ${bounds.join(' ')}\`:`);
  console.log(`\n\`\`\`text\n${output.slice(output.indexOf('\n\n')).trim()}\n\`\`\`\n`);
}

async function row({ voters, timers, throttle, name, options, crashes }) {
  const elections = [];
  for (let seed = 1; seed <= crashes; seed++) {
    elections.push(await failover({ voters, throttle, options, seed }));
  }
  const times = elections.map(({ ms }) => ms).sort((a, b) => a - b);
  const at = (share) => (times[Math.ceil(share * times.length) - 1] / 1000).toFixed(2);
  const splits = elections.filter(({ epochs }) => epochs > 1).length;
  return [
    voters,
    timers,
    name,
    at(0.5),
    at(0.99),
    at(1),
    `${((100 * splits) / crashes).toFixed(1)} %`,
    median(elections.map(({ messages }) => messages)),
    median(elections.map(({ writes }) => writes)),
  ];
}

async function failover({ voters, throttle, options, seed }) {
  const ids = Array.from({ length: voters }, (_, index) => `n${index + 1}`);
  const sim = simulate({
    seed,
    nodes: voters,
    latencyMs: LATENCY_MS,
    trace: 'messages',
    election: () => quorum({ voters: ids, ...options }),
  });
  await sim.runUntil(() => leaderOf(sim) !== null);
  const random = seededRandom(seed, 1_000_019);
  throttle(sim, random);
  // At any moment of a beat, and of the grid.
  await sim.run(SETTLE_MS + Math.floor(random() * 2000));
  const victim = leaderOf(sim);
  const { epoch } = sim.node(victim).leadership;
  const before = countsOf(sim);
  sim.crash(victim);
  const ms = await sim.runUntil(() => leaderOf(sim) !== null, { withinMs: LIMIT_MS });
  const after = countsOf(sim);
  return {
    ms,
    epochs: sim.node(leaderOf(sim)).leadership.epoch - epoch,
    messages: after.messages - before.messages,
    writes: after.writes - before.writes,
  };
}

/** The leader that all running nodes name, unless it has crashed. */
function leaderOf(sim) {
  const named = new Set(sim.running.map((id) => sim.node(id).leadership.current?.id ?? null));
  const [leader] = named;
  return named.size === 1 && sim.running.includes(leader) ? leader : null;
}

/** Questions and votes that arrived, by the first bytes of their lines in the trace. */
function countsOf(sim) {
  const messages = sim.trace().match(ELECTION_MESSAGE)?.length ?? 0;
  const writes = sim.ids.reduce((sum, id) => sum + sim.store(id).writeCount, 0);
  return { messages, writes };
}

// Version 1, type 14 (ballot), a length of one or two bytes, version 1, type 0 or 1 (ask, vote).
const ELECTION_MESSAGE = / control 010e(?:[0-7][0-9a-f]|[89a-f][0-9a-f][0-7][0-9a-f])010[01]/g;
