import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Machine } from '../packages/core/dist/machine/machine.js';
import { oldestNode } from '../packages/core/dist/machine/strategy.js';
import { spread, table } from './statistics.mjs';

const NODES = 10;
/** Nodes must have met and elected before anything is counted. */
const WARM_UP_MS = 20_000;
const PAYLOAD = new Uint8Array(100);

/**
 * How many messages one core's machines decode, judge and answer in a second: no network, no
 * timers, virtual time. A message counts once, where it is received; its making is in the time.
 */
export async function run({ isSmoke }) {
  const messages = isSmoke ? 20_000 : 500_000;
  const runs = isSmoke ? 1 : 7;
  const rows = [];
  for (const [name, work] of Object.entries({
    heartbeats,
    'channel messages of 100 B': channels,
  })) {
    const results = Array.from({ length: runs }, () => measure(work, messages));
    const rates = results.map(({ rate }) => rate);
    const growths = results.map(({ growthBytes }) => growthBytes / 1000);
    rows.push([name, spread(rates), `${spread(growths)} kB`]);
  }
  console.log(`${NODES} nodes in full mesh, ${messages.toLocaleString('en')} messages a run.`);
  console.log(`Median of ${runs} (least–most); budget: 200,000 messages a second.\n`);
  table(['traffic', 'messages a second', 'heap growth in the second half'], rows);
}

function measure(work, messages) {
  const mesh = new Mesh(NODES);
  mesh.run(WARM_UP_MS);
  if (!mesh.isElected) throw new Error('The nodes have not elected a leader.');
  const started = performance.now();
  const first = mesh.received;
  while (mesh.received - first < messages / 2) work(mesh);
  const halfway = heapBytes();
  const paused = halfway.tookMs;
  while (mesh.received - first < messages) work(mesh);
  const tookMs = performance.now() - started - paused;
  const growthBytes = heapBytes().bytes - halfway.bytes;
  return { rate: ((mesh.received - first) / tookMs) * 1000, growthBytes };
}

function heartbeats(mesh) {
  mesh.run(1_000);
}

/** A second's worth of messages, and the heartbeats that go on beside them. */
function channels(mesh) {
  for (let count = 0; count < 100; count += 1) mesh.broadcast(PAYLOAD);
  mesh.run(1_000);
}

function heapBytes() {
  const started = performance.now();
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  return { bytes: process.memoryUsage().heapUsed, tookMs: performance.now() - started };
}

/** Machines whose links deliver at once and in order. */
class Mesh {
  received = 0;
  #now = 0;
  #nodes;
  #queue = [];

  constructor(count) {
    this.#nodes = Array.from({ length: count }, (_, at) => new Machine(options(at)));
    for (const [at, machine] of this.#nodes.entries()) {
      for (const to of this.#nodes.keys()) if (to !== at) machine.linkUp(String(to), 0);
      machine.discovery(0, 0);
      this.#collect(at);
    }
    this.#deliver();
  }

  get isElected() {
    const leaders = new Set(this.#nodes.map(({ leader }) => leader?.id));
    return leaders.size === 1 && !leaders.has(undefined);
  }

  broadcast(bytes) {
    this.#nodes[0].channelSend('bench', null, bytes, 0, this.#now);
    this.#collect(0);
    this.#deliver();
  }

  /** Lets virtual time pass. */
  run(ms) {
    const end = this.#now + ms;
    for (;;) {
      const next = Math.min(...this.#nodes.map((machine) => machine.nextDeadline()));
      if (next > end) break;
      this.#now = Math.max(this.#now, next);
      for (const [at, machine] of this.#nodes.entries()) {
        if (machine.nextDeadline() > this.#now) continue;
        machine.advance(this.#now);
        this.#collect(at);
      }
      this.#deliver();
    }
    this.#now = end;
  }

  #collect(from) {
    for (const effect of this.#nodes[from].drain()) {
      if (effect.type === 'send') this.#queue.push(from, Number(effect.peer), effect.bytes);
      else if (effect.event.type === 'violation') throw new Error(effect.event.detail);
    }
  }

  #deliver() {
    for (let at = 0; at < this.#queue.length; at += 3) {
      const [from, to, bytes] = [this.#queue[at], this.#queue[at + 1], this.#queue[at + 2]];
      this.received += 1;
      this.#nodes[to].receive(String(from), bytes, this.#now);
      this.#collect(to);
    }
    this.#queue.length = 0;
  }
}

function options(at) {
  const strategy = oldestNode();
  return {
    id: `n${String(at).padStart(2, '0')}`,
    instance: `instance-${at}`,
    startedAt: 1_000 + at,
    restampable: true,
    strategy,
    fingerprint: strategy.name,
    detection: { heartbeatIntervalMs: 1_000, suspicionMs: 20_000, leaderSuspicionMinMs: 2_000 },
    joinGraceMs: 3_000,
    floorPending: false,
    random: generator(at + 1),
    now: 0,
  };
}

/** Mulberry32: the same run every time. */
function generator(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
