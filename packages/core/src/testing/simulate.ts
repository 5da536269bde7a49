import { BOOLEAN, checkOptions, checkValue, DURATION, FUNCTION } from '../option-check.ts';
import { DEFAULTS } from '../runtime/options.ts';
import type { Lane } from '../transport/transport.ts';
import { allCheckers, type Checker, type Observation } from './checkers.ts';
import { Scheduler } from './scheduler.ts';
import { Settling } from './settling.ts';
import { SimClock } from './sim-clock.ts';
import { SimFence } from './sim-fence.ts';
import { SimHost } from './sim-host.ts';
import { SimLocks } from './sim-locks.ts';
import { SimNet } from './sim-net.ts';
import { SimNetwork, type SimStats, type SimTransport } from './sim-network.ts';
import {
  electionMode,
  readOf,
  type SimClockFault,
  type SimNode,
  type SimNodeOptions,
} from './sim-node.ts';
import {
  checkNumber,
  checkSimulateOptions,
  nodeOptionsOf,
  type SimulateOptions,
} from './sim-options.ts';
import { SimProcess } from './sim-process.ts';
import { between, type Random, seededRandom } from './sim-random.ts';
import { SimStore } from './sim-store.ts';
import { describeBytes, describeEvent, Trace } from './trace.ts';

export type { SimulateOptions };

/**
 * Starts a cluster in virtual time. It runs the shipped runtime, machine and codec on simulated
 * hosts and a simulated network, deterministically, with checkers of the rules after every event.
 * Nothing happens before the first `run` or `runUntil`.
 * @throws TypeError or RangeError that names a wrong option.
 */
export function simulate(options: SimulateOptions): Simulation {
  return new Simulation(options);
}

/** A violated rule, or something that should have happened and did not. */
export class SimulationError extends Error {
  static {
    SimulationError.prototype.name = 'SimulationError';
  }
}

/** A simulated cluster. See {@link simulate}. */
export class Simulation {
  /** The network and its faults. */
  readonly net: SimNet;
  readonly seed: number;
  readonly cluster: string;
  readonly #options: SimulateOptions;
  readonly #nodeOptions: SimNodeOptions;
  readonly #scheduler = new Scheduler();
  readonly #network: SimNetwork;
  readonly #random: Random;
  readonly #diskRandom: Random;
  readonly #trace: Trace;
  readonly #checker: Checker;
  readonly #mode: ReturnType<typeof electionMode>;
  readonly #processes = new Map<string, SimProcess>();
  readonly #fences = new Map<string, SimFence>();
  readonly #stores = new Map<string, SimStore>();
  readonly #locks: SimLocks;
  /** Nodes to which something happened since the checkers last looked. */
  readonly #touched = new Set<SimProcess>();
  #violation: string | null = null;
  #isRunning = false;
  #startCount = 0;

  /** @internal */
  constructor(options: SimulateOptions) {
    checkSimulateOptions(options);
    const { seed, nodes = 3, latencyMs = [5, 30], startSpreadMs = 0, cluster = 'sim' } = options;
    this.#options = options;
    this.#nodeOptions = nodeOptionsOf(options);
    this.seed = seed;
    this.cluster = cluster;
    this.#random = seededRandom(seed, 0);
    this.#diskRandom = seededRandom(seed, DISK_STREAM);
    const listed =
      typeof nodes === 'number'
        ? Array.from({ length: nodes }, (_, index) => `n${index + 1}`)
        : nodes;
    const all = listed.map((node) => (typeof node === 'string' ? { id: node } : node));
    this.#trace = new Trace(`# seed ${seed}, nodes ${all.map(({ id }) => id).join(' ')}`);
    this.#network = new SimNetwork({
      scheduler: this.#scheduler,
      random: seededRandom(seed, 1),
      latencyMs,
      watcher: this.#networkWatcher(),
    });
    this.#locks = this.#makeLocks();
    this.net = new SimNet(
      this.#network,
      () => this.ids,
      (what) => this.#act(what),
    );
    const detection = { ...DEFAULTS.detection, ...options.detection };
    this.#mode = electionMode(options.election?.());
    this.#checker = allCheckers({
      ...detection,
      exclusiveEpochs: this.#mode !== 'bully',
      hasLastResort: this.#mode === 'quorum',
    });
    for (const { id, ...own } of all)
      this.#start(id, own, between(this.#random, [0, startSpreadMs]));
  }

  /** Virtual milliseconds since the simulation began. */
  get now(): number {
    return this.#scheduler.now;
  }

  /** Ids of all nodes that were ever started, in that order. */
  get ids(): readonly string[] {
    return [...this.#processes.keys()];
  }

  /** Ids of the nodes that have neither crashed nor left; paused ones count. */
  get running(): readonly string[] {
    return this.ids.filter((id) => this.#process(id).isUp);
  }

  /**
   * Ids of the nodes that run and stand still neither in a pause nor in a freeze: only there can an
   * application do something.
   */
  get awake(): readonly string[] {
    return this.running.filter((id) => this.#process(id).host.condition === 'running');
  }

  /** The node that was started last under this id, also when it has crashed or left since. */
  node(id: string): SimNode {
    return this.#process(id).node;
  }

  /** Lets virtual time pass. Rejects with a {@link SimulationError} when a rule is violated. */
  async run(ms: number): Promise<void> {
    checkNumber('ms', ms, 0, Number.MAX_SAFE_INTEGER);
    await this.#loop(this.now + ms, () => false);
  }

  /**
   * Lets virtual time pass until `isMet()`, which is asked after every event.
   * @returns how many virtual milliseconds that took.
   * @throws SimulationError with the seed and the end of the trace when it is not met within
   * `withinMs` (default 60 000), or when a rule is violated.
   */
  async runUntil(
    isMet: () => boolean,
    options: { readonly withinMs?: number } = {},
  ): Promise<number> {
    checkValue('isMet', isMet, FUNCTION);
    checkOptions({ withinMs: DURATION }, options);
    const { withinMs = 60_000 } = options;
    const begun = this.now;
    if (await this.#loop(begun + withinMs, isMet)) return this.now - begun;
    throw this.#error(`not met within ${withinMs} ms: ${isMet}`);
  }

  /**
   * Resolves after so many virtual milliseconds: what `setTimeout` is to real code. With `node`, to
   * code that runs there: its clock counts, and nothing happens while it stands still or after it
   * has ended.
   */
  sleep(
    ms: number,
    { signal, node }: { readonly signal?: AbortSignal; readonly node?: string } = {},
  ): Promise<void> {
    checkNumber('ms', ms, 0, Number.MAX_SAFE_INTEGER);
    return new Promise((resolve, reject) => {
      const abort = () => {
        cancel();
        reject(signal?.reason);
      };
      const cancel = this.#timer(ms, node, () => {
        signal?.removeEventListener('abort', abort);
        resolve();
      });
      if (signal?.aborted) abort();
      else signal?.addEventListener('abort', abort, { once: true });
    });
  }

  /** Starts another node. */
  add(id: string, options: SimNodeOptions = {}): SimNode {
    const known = this.#processes.get(id);
    if (known?.isUp) {
      throw new RangeError(`id must be new or that of a node that has ended, got ${id}`);
    }
    this.#act(`add ${id}`);
    return this.#start(id, options, this.now);
  }

  /** The node leaves, as `node.leave()` says. */
  leave(id: string): void {
    const { node } = this.#upProcess(id);
    this.#act(`leave ${id}`);
    node.leave().catch((error: unknown) => this.#act(`leave ${id} failed: ${error}`));
    this.#touched.add(this.#process(id));
  }

  /** The node stops without a word; its links stay up at their other ends. */
  crash(id: string): void {
    const process = this.#upProcess(id);
    this.#act(`crash ${id}`);
    process.crash();
  }

  /**
   * Starts a new instance under the same id and options; one that still runs crashes first.
   * `amnesia`: what it had stored is gone.
   */
  restart(id: string, options: { readonly amnesia?: boolean } = {}): SimNode {
    checkOptions({ amnesia: BOOLEAN }, options);
    const { amnesia = false } = options;
    const process = this.#process(id);
    this.#act(`restart ${id}${amnesia ? ' with amnesia' : ''}`);
    if (process.isUp) process.crash();
    // Stores are kept by elections that use them; a fresh one forgets.
    if (amnesia) this.#stores.delete(id);
    return this.#start(id, process.options, this.now);
  }

  /** A silent stall: nothing runs on the node's host, and what comes for it is queued. */
  pause(id: string): void {
    const process = this.#upProcess(id);
    this.#act(`pause ${id}`);
    process.pause();
  }

  /**
   * Ends a stall, and a freeze as `thaw` does: the node gets what was queued, then its overdue timers
   * fire. Without one, nothing happens.
   */
  resume(id: string): void {
    const process = this.#upProcess(id);
    this.#act(`resume ${id}`);
    this.#resume(process);
  }

  /** As `pause`, and the node gets the browser's `freeze` event before it stops. */
  freeze(id: string): void {
    const process = this.#upProcess(id);
    this.#act(`freeze ${id}`);
    process.freeze();
  }

  /** The node's page is covered by another one. */
  hide(id: string): void {
    const process = this.#upProcess(id);
    this.#act(`hide ${id}`);
    process.show(false);
  }

  /** The node's page can be seen again, as it can in the beginning. */
  show(id: string): void {
    const process = this.#upProcess(id);
    this.#act(`show ${id}`);
    process.show(true);
  }

  /** Ends a freeze: the node gets the browser's `resume` event first, then all as in `resume`. */
  thaw(id: string): void {
    const process = this.#upProcess(id);
    this.#act(`thaw ${id}`);
    this.#resume(process);
  }

  /** The node's clocks go wrong. */
  clock(id: string, fault: SimClockFault): void {
    const { host } = this.#upProcess(id);
    const { jumpMs = 0, rate } = fault;
    this.#act(`clock ${id} jump=${jumpMs}${rate === undefined ? '' : ` rate=${rate}`}`);
    host.setClock(fault);
  }

  /**
   * The node's timers fire only on a grid of so many milliseconds, as in a hidden tab; 0 ends it. All
   * nodes have the same grid, as tabs of one browser do, unless its `phaseMs` says otherwise.
   */
  throttle(
    id: string,
    intervalMs: number,
    { phaseMs = 0 }: { readonly phaseMs?: number } = {},
  ): void {
    const { host } = this.#upProcess(id);
    checkNumber('intervalMs', intervalMs, 0, Number.MAX_SAFE_INTEGER);
    checkNumber('phaseMs', phaseMs, 0, Number.MAX_SAFE_INTEGER);
    this.#act(`throttle ${id} ${intervalMs}`);
    host.throttle(intervalMs, phaseMs);
  }

  /**
   * The node's liveness lock is released: everybody who has a link to it is told that it is gone.
   * Only the end of a page releases its lock, so a node that still runs crashes first.
   */
  proof(id: string): void {
    const process = this.#process(id);
    this.#act(`proof ${id}`);
    if (process.isUp) process.crash();
    this.#scheduler.schedule(this.now, () => process.transport.hintOthers('gone'));
  }

  /** A resource with a fence that nodes can act on with their `term.token`. */
  fence(name: string): SimFence {
    const known = this.#fences.get(name);
    if (known !== undefined) return known;
    let lastTold = '';
    const fence = new SimFence(this.cluster, (use) => {
      const entry = { at: this.now, ...use };
      const { epoch, holder } = entry.token;
      const told = `fence ${name} ${entry.verdict} epoch=${epoch} holder=${holder}`;
      // A leader at work repeats itself: what is news is who acts, and what comes of it.
      if (told !== lastTold) this.#trace.add(this.now, 'sim', told);
      lastTold = told;
      this.#observe({ type: 'fence', name, entry });
      return entry;
    });
    this.#fences.set(name, fence);
    return fence;
  }

  /** The durable store of a node. */
  store(id: string): SimStore {
    this.#process(id);
    return this.#store(id);
  }

  /** Everything that happened, one line an event; the same bytes for the same seed. */
  trace(): string {
    return this.#trace.text();
  }

  /** What the network has carried for the nodes of this id so far. */
  stats(id: string): SimStats {
    this.#process(id);
    return { ...this.#network.stats(id) };
  }

  /** @internal When and where it stands, how to come here again, and what happened of late. */
  where(): string {
    const replay =
      this.#options.replay ?? `the same test repeats it: simulate({ seed: ${this.seed} })`;
    return `at ${this.now} ms, seed ${this.seed}; ${replay}\n${this.#trace.tail(TAIL_LINES)}`;
  }

  /** @internal Tells the checkers what the simulator cannot see by itself. */
  observe(observation: Observation): void {
    this.#observe(observation);
  }

  #store(id: string): SimStore {
    const known = this.#stores.get(id);
    if (known !== undefined) return known;
    const store = new SimStore({
      act: (what) => this.#act(`store ${id} ${what}`),
      later: (happen) => {
        const delayMs = between(this.#diskRandom, DISK_MS);
        this.#scheduler.schedule(this.now + delayMs, happen);
      },
    });
    this.#stores.set(id, store);
    return store;
  }

  #makeLocks(): SimLocks {
    return new SimLocks({
      told: (id, what) => this.#trace.add(this.now, id, what),
      later: (what, happen) => {
        const delayMs = what === 'disk' ? between(this.#diskRandom, DISK_MS) : LOCK_MS;
        this.#scheduler.schedule(this.now + delayMs, happen);
      },
    });
  }

  #timer(ms: number, node: string | undefined, ring: () => void): () => void {
    if (node !== undefined) return this.#process(node).host.timer(ring, ms);
    const task = this.#scheduler.schedule(this.now + ms, ring);
    return () => {
      task.cancelled = true;
    };
  }

  #start(id: string, own: SimNodeOptions, startAt: number): SimNode {
    this.#startCount += 1;
    const seeded = seededRandom(this.seed, 1 + this.#startCount);
    const offsetMs = Math.floor(seeded() * CLOCK_OFFSET_MAX_MS);
    // Names must differ from start to start, whatever follows.
    let isNamed = false;
    const random = () => (isNamed && this.#options.jitter === false ? 0.5 : seeded());
    const clock = new SimClock(this.#scheduler, startAt, offsetMs);
    const ran = () => this.#touched.add(process);
    const host = new SimHost({ scheduler: this.#scheduler, clock, random, startAt, ran });
    const process = new SimProcess({
      id,
      cluster: this.cluster,
      options: own,
      common: this.#nodeOptions,
      host,
      transport: this.#network.transport(id, host),
      store: this.#store(id),
      locks: this.#locks,
      watcher: {
        now: () => this.now,
        recorded: (event) => this.#trace.add(this.now, id, describeEvent(event)),
        observed: (observation) => this.#observe(observation),
      },
    });
    isNamed = true;
    this.#processes.set(id, process);
    this.#options.started?.(process.node, this);
    return process.node;
  }

  #resume(process: SimProcess): void {
    process.resume();
    this.#network.redial();
    this.#touched.add(process);
  }

  /** True when `isMet()` was, false when the time was up. */
  async #loop(until: number, isMet: () => boolean): Promise<boolean> {
    if (this.#isRunning) throw new TypeError('A simulation can run once at a time only.');
    this.#isRunning = true;
    const settling = new Settling();
    try {
      for (;;) {
        await settling.settle();
        this.#check();
        if (isMet()) return true;
        const task = this.#scheduler.take(until);
        if (task === null) break;
        task.run();
      }
      this.#scheduler.advanceTo(until);
      return isMet();
    } finally {
      settling.close();
      this.#isRunning = false;
    }
  }

  #check(): void {
    for (const process of this.#touched) {
      if (process.host.condition === 'running') this.#observe(readOf(process.node));
      this.#checkQueue(`the queue of ${process.id}`, process.host.heldCount);
    }
    if (this.#mode !== 'bully' && this.#touched.size > 0) this.#checkLeases();
    this.#touched.clear();
    this.#checkQueue('the network', this.#scheduler.size);
    if (this.#violation !== null) throw this.#error(this.#violation);
  }

  /**
   * As somebody sees it who looks at all nodes at once, those included that stand still: but who is
   * robbed of a lock is told so, and that waits for it to run again.
   */
  #checkLeases(): void {
    const isTold = ({ host }: SimProcess) => this.#mode !== 'lock' || host.condition === 'running';
    const running = [...this.#processes.values()].filter((one) => one.isUp && isTold(one));
    const holders = running.map(({ node }) => node).filter(({ leadership }) => leadership.isSelf);
    if (holders.length > 1) this.#observe({ type: 'leases', holders });
  }

  #checkQueue(what: string, count: number): void {
    if (count > QUEUE_MAX) this.#observe({ type: 'queue', what, count, max: QUEUE_MAX });
  }

  /** Kept until the event is over: a listener's throw would go to the platform, not to the test. */
  #observe(observation: Observation): void {
    this.#violation ??= this.#checker(observation);
  }

  #error(what: string): SimulationError {
    return new SimulationError(`${what}\n${this.where()}`);
  }

  #networkWatcher() {
    const logsMessages = this.#options.trace === 'messages';
    return {
      delivered: (to: SimTransport, from: SimTransport, lane: Lane, bytes: Uint8Array) => {
        const local = to.host.now();
        this.#observe({ type: 'heard', node: to, from, local });
        if (logsMessages) {
          this.#trace.add(this.now, to.id, `heard ${from.id} ${lane} ${describeBytes(bytes)}`);
        }
      },
      closed: (transport: SimTransport) => {
        this.#observe({ type: 'ended', node: transport, how: 'closed' });
      },
    };
  }

  #act(what: string): void {
    this.#trace.add(this.now, 'sim', what);
  }

  #process(id: string): SimProcess {
    const process = this.#processes.get(id);
    if (process !== undefined) return process;
    throw new RangeError(`id must be one of ${this.ids.join(', ')}, got ${id}`);
  }

  #upProcess(id: string): SimProcess {
    const process = this.#process(id);
    if (process.isUp) return process;
    throw new RangeError(`${id} must run, but it has ended`);
  }
}

/** A durable write of a small record, on flash. */
const DISK_MS = [1, 8] as const;
/** From the lock manager of a browser to a page. */
const LOCK_MS = 2;
/** Its own stream of the seed: how often a disk is asked shall not change what the network does. */
const DISK_STREAM = 2 ** 31;
/** Monotonic clocks begin anywhere within a day, so that mixing up those of two nodes shows. */
const CLOCK_OFFSET_MAX_MS = 86_400_000;
/** What any queue of a simulation may hold: far above what a healthy run needs. */
const QUEUE_MAX = 60_000;
/** As much of the trace as fits an error message. */
const TAIL_LINES = 40;
