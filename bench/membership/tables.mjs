import { spread, table } from '../statistics.mjs';
import { falseEvictionsPerBeat } from './baselines/heartbeat.mjs';
import { phi } from './baselines/phi.mjs';
import {
  falseSuspicionPerProbe,
  firstDetectionPeriods,
  memberlistWindow,
} from './baselines/suspicion-window.mjs';
import { PROTOCOLS } from './plan.mjs';
import { DOYEN } from './protocols.mjs';
import { mean, quantile, seconds } from './samples.mjs';

const LOSS = 0.05;

/** Every baseline first does what its authors say it does. */
export async function printReproduction(pool, plan) {
  const { runs, detectionRuns, lossRuns, lossSeconds } = plan;
  const samples = async (figure, count) => {
    const results = await pool.all(reproductions(figure, count, {}));
    return results.flatMap((result) => result.samples);
  };
  const rate = async (figure) => {
    const results = await pool.all(reproductions(figure, lossRuns, { seconds: lossSeconds }));
    const sum = (key) => results.reduce((total, result) => total + result[key], 0);
    return `${(sum('hits') / sum('trials')).toExponential(1)} (${sum('hits')} of ${sum('trials').toLocaleString('en')})`;
  };
  const range = (values) => `${mean(values).toFixed(2)}; ${spread(values, 2)}`;
  const { minMs, maxMs } = memberlistWindow(10);
  console.log('### Published figures of the baselines\n');
  table(
    ['baseline', 'figure', 'published', 'here: mean; median (least–most)'],
    [
      [
        'heartbeat',
        'crash to eviction, s (3 beats missed, half an interval of slack)',
        '2.5–3.5 and the latency',
        range(await samples('heartbeatDetection', runs)),
      ],
      [
        'heartbeat',
        'false evictions a beat at 5 % loss, p³',
        falseEvictionsPerBeat(LOSS).toExponential(1),
        await rate('heartbeatLoss'),
      ],
      [
        'SWIM',
        'periods until somebody suspects, n = 50, e/(e − 1)',
        firstDetectionPeriods().toFixed(2),
        range(await samples('swimDetection', detectionRuns)),
      ],
      [
        'SWIM',
        'false suspicions a probe at 5 % loss, 3 helpers',
        falseSuspicionPerProbe(LOSS).toExponential(1),
        await rate('swimLoss'),
      ],
      [
        'memberlist LAN',
        'suspicion when all confirm, n = 10, s',
        seconds(minMs),
        range(await samples('memberlistShortest', runs)),
      ],
      [
        'memberlist LAN',
        'suspicion when nobody confirms, n = 10, s',
        seconds(maxMs),
        range(await samples('memberlistLongest', Math.ceil(runs / 4))),
      ],
      [
        'Akka phi',
        'last answer to unreachable, s (docs: about 5.5)',
        '4.52–5.52',
        range(await samples('akkaDetection', Math.ceil(runs / 4))),
      ],
      [
        'Akka phi',
        'φ after 500, 1000, 1200, 1400, 1600, 1700 ms (mean 1 s, σ 100 ms)',
        '0.1, 0.3, 1.6, 4.7, 10.8, 15.3 (± 0.1)',
        [500, 1000, 1200, 1400, 1600, 1700]
          .map((silenceMs) => phi(silenceMs, 1000, 100).toFixed(1))
          .join(', '),
      ],
    ],
  );
}

function reproductions(figure, count, options) {
  return seedsOf(count).map((seed) => ({ experiment: 'reproduce', figure, seed, ...options }));
}

/** Results of Doyen by number of nodes: the last survivor's times of every crash. */
export async function printFailover(pool, plan, violations) {
  console.log('\n### The leader crashes: 1 % loss\n');
  console.log(
    'Seconds from the crash until the last survivor no longer names the leader, and until the last' +
      '\nnames another: median (least–most), p99; of fewer than 100 crashes p99 is the most.\n',
  );
  const head = ['nodes', 'protocol', 'crashes', 'leadership lost', 'p99', 'new leader', 'p99'];
  const cases = PROTOCOLS.flatMap((protocol) => {
    const sizes = Object.entries(protocol === DOYEN ? plan.own : plan.baseline);
    return sizes.map(([nodes, { seeds, crashes }]) => ({
      job: { experiment: 'failover', protocol, nodes: Number(nodes), crashes },
      seeds,
    }));
  });
  const own = new Map();
  const rows = (await measured(pool, cases, violations)).map(
    ({ job: { protocol, nodes }, results }) => {
      const crashes = results.flat().filter(isWhole);
      const lost = crashes.map(({ losses }) => Math.max(...losses));
      const changed = crashes.map(({ changes }) => Math.max(...changes));
      if (protocol === DOYEN) own.set(nodes, { lost, changed });
      return [nodes, protocol, crashes.length, ...timesOf(lost), ...timesOf(changed)];
    },
  );
  table(head, inOrder(rows));
  return own;
}

function timesOf(values) {
  const limits = `${seconds(Math.min(...values))}–${seconds(Math.max(...values))}`;
  return [`${seconds(quantile(values, 0.5))} (${limits})`, seconds(quantile(values, 0.99))];
}

export async function printTraffic(pool, { sizes, forMs }, violations) {
  console.log('\n### Traffic: 1 % loss\n');
  console.log(
    `Payload bytes and messages that a node sends a second, over ${forMs / 1000} s; then a tenth of the members` +
      '\ncrashes at once. Baselines send ids and numbers in the fewest bytes, and carry no claims.\n',
  );
  const cases = PROTOCOLS.flatMap((protocol) => {
    return sizes.map((nodes) => ({
      job: { experiment: 'traffic', protocol, nodes, forMs },
      seeds: 1,
    }));
  });
  const own = new Map();
  const rows = (await measured(pool, cases, violations)).map(
    ({ job: { protocol, nodes }, results }) => {
      const { idle, crash } = results[0];
      if (!idle) return [nodes, protocol, ...Array(6).fill('')];
      if (protocol === DOYEN) own.set(nodes, { idle, crash });
      return [nodes, protocol, ...ratesOf(idle), ...ratesOf(crash)];
    },
  );
  const columns = ['B/s', 'busiest node', 'messages/s'];
  const head = ['idle', 'crash'].flatMap((phase) => columns.map((name) => `${phase}: ${name}`));
  table(['nodes', 'protocol', ...head], inOrder(rows));
  return own;
}

function ratesOf(rates) {
  if (!rates) return ['', '', ''];
  const { bytes, bytesMost, messages } = rates;
  return [bytes.toFixed(0), bytesMost.toFixed(0), messages.toFixed(1)];
}

export async function printHeal(pool, plan, violations) {
  console.log('\n### Two halves are parted, and meet again: 1 % loss\n');
  console.log(
    'Seconds from the end of the partition until all rosters are complete and all name one leader:' +
      '\nmedian (least–most); *never*: not within two minutes. SWIM and memberlist leave that to a' +
      '\nnew join; Akka ends the processes of one half, which start anew here.\n',
  );
  const cases = PROTOCOLS.flatMap((protocol) => {
    return (protocol === DOYEN ? plan.own : plan.baseline).flatMap(({ partitionMs, runs }) => {
      return Object.entries(runs).map(([nodes, seeds]) => ({
        job: { experiment: 'heal', protocol, nodes: Number(nodes), partitionMs },
        seeds,
      }));
    });
  });
  const own = [];
  const rows = (await measured(pool, cases, violations)).map(({ job, results }) => {
    const { nodes, protocol, partitionMs } = job;
    const times = results.filter(isWhole).map(({ healMs }) => healMs);
    if (protocol === DOYEN) own.push(...times);
    return [nodes, protocol, `${partitionMs / 1000} s`, times.length, timesOf(times)[0]];
  });
  table(['nodes', 'protocol', 'partition', 'runs', 'healed after'], inOrder(rows));
  return own;
}

export async function printEvictions(pool, plan, violations) {
  const { nodes, hours, ownRuns, baselineRuns } = plan;
  console.log('\n### Evictions of members that were not gone: 5 % loss\n');
  console.log(
    `Clusters of ${nodes} for ${hours} h each; every member stalls for 1–60 s, three minutes apart on average; half of` +
      '\nthe tabs have timers once a second, a tenth once a minute. An eviction counts once, whoever' +
      '\njoins in; its silence is the true one. *Right*: 20 s or longer. *Hasty*: shorter. *Running*:' +
      '\nthe member was not silent at all. A run ends where a checker of the simulator objects.\n',
  );
  const counts = [];
  for (const protocol of PROTOCOLS) {
    const to = protocol === DOYEN ? ownRuns : baselineRuns;
    counts.push(await evictionsOf(pool, { protocol, nodes, hours, seeds: { from: 1, to } }));
  }
  const own = counts[PROTOCOLS.indexOf(DOYEN)];
  violations.push(...own.ended);
  evictionsTable(counts);
  return own;
}

/** Those of Doyen with some of the seeds: what it counts adds up over runs. */
export async function printEvictionsOf(pool, { nodes, hours }, seeds) {
  console.log(`Clusters of ${nodes} for ${hours} h each, seeds ${seeds.from} to ${seeds.to}.\n`);
  evictionsTable([await evictionsOf(pool, { protocol: DOYEN, nodes, hours, seeds })]);
}

async function evictionsOf(pool, { protocol, nodes, hours, seeds }) {
  const jobs = Array.from({ length: seeds.to - seeds.from + 1 }, (_, at) => {
    return { experiment: 'evictions', protocol, nodes, hours, seed: seeds.from + at };
  });
  const results = await pool.all(jobs);
  const total = (key) => results.reduce((sum, result) => sum + result[key], 0);
  const isWrong = ({ hasty, running }) => hasty + running > 0;
  return {
    protocol,
    nodeHours: total('nodeHours'),
    counts: ['stalls', 'shortStalls', 'right', 'hasty', 'running'].map(total),
    wrong: total('hasty') + total('running'),
    wrongSeeds: jobs.filter((_, at) => isWrong(results[at])).map(({ seed }) => seed),
    ended: results.flatMap(({ violation }, at) => {
      return violation === null ? [] : [`${JSON.stringify(jobs[at])}: ${violation}`];
    }),
  };
}

function evictionsTable(evictions) {
  const rows = evictions.map(({ protocol, nodeHours, counts }) => {
    return [protocol, nodeHours.toFixed(0), ...counts];
  });
  table(['protocol', 'node-hours', 'stalls', 'below 20 s', 'right', 'hasty', 'running'], rows);
  for (const { ended, wrongSeeds, protocol } of evictions) {
    if (protocol !== DOYEN) continue;
    for (const text of ended.slice(0, 10)) console.log(`\nEnded by a checker: ${text}`);
    if (wrongSeeds.length > 0) console.log(`\nWrong with seeds ${wrongSeeds.join(', ')}.`);
  }
}

/** Cases with the results of their seeds, in the given order; the largest clusters start first. */
async function measured(pool, cases, violations) {
  const largestFirst = [...cases].sort((one, two) => two.job.nodes - one.job.nodes);
  const done = new Map(
    largestFirst.map((one) => {
      return [one, pool.all(seedsOf(one.seeds).map((seed) => ({ ...one.job, seed })))];
    }),
  );
  await Promise.all(done.values());
  return Promise.all(
    cases.map(async (one) => {
      const all = await done.get(one);
      const ended = all.flatMap(({ violation }, at) => {
        return violation ? [`${JSON.stringify({ ...one.job, seed: at + 1 })}: ${violation}`] : [];
      });
      for (const text of ended) console.log(`Ended by a checker: ${text}\n`);
      violations.push(...ended);
      return { ...one, results: all };
    }),
  );
}

/** Whether no checker of the simulator ended the run. */
function isWhole({ violation }) {
  return !violation;
}

/** By the first column, and within it as they came. */
function inOrder(rows) {
  return rows.sort(([one], [two]) => one - two);
}

function seedsOf(count) {
  return Array.from({ length: count }, (_, at) => at + 1);
}
