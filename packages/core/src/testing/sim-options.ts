import type { LockRule } from '../machine/lock/lock.ts';
import type { Quorum } from '../machine/quorum/quorum.ts';
import type { Strategy } from '../machine/strategy.ts';
import {
  BOOLEAN,
  checkGiven,
  checkValue,
  FUNCTION,
  type Rule,
  type Rules,
  TEXT,
} from '../option-check.ts';
import { shown } from '../runtime/options.ts';
import type { SimNode, SimNodeOptions } from './sim-node.ts';
import type { Simulation } from './simulate.ts';

/** Options of {@link simulate}; what is not named here goes to every node as in `join()`. */
export interface SimulateOptions extends SimNodeOptions {
  /** A whole number from 0: equal seeds and equal calls give equal runs, to the byte. */
  readonly seed: number;
  /** How many nodes (`n1`, `n2`, …), or which. @defaultValue 3 */
  readonly nodes?: number | readonly (string | ({ readonly id: string } & SimNodeOptions))[];
  /** Makes the election of one node. @defaultValue `() => oldestNode()` */
  readonly election?: () => Strategy | Quorum | LockRule;
  /** Shortest and longest time of a message on its way. @defaultValue `[5, 30]` */
  readonly latencyMs?: readonly [number, number];
  /** Nodes start at random within so many milliseconds. @defaultValue 0: all at once */
  readonly startSpreadMs?: number;
  /** @defaultValue `'sim'` */
  readonly cluster?: string;
  /**
   * Whether nodes draw at random when they time what they do. Without it, times can be computed in
   * the head, and do not hang on how often something is drawn. @defaultValue true
   */
  readonly jitter?: boolean;
  /** `messages`: the trace also has a line for each message that arrives. @defaultValue `'events'` */
  readonly trace?: 'events' | 'messages';
  /** Called with each node that starts, restarts included: where an application sets its node up. */
  readonly started?: (node: SimNode, sim: Simulation) => void;
  /** Command that repeats the run, for error messages. @defaultValue says what the seed is */
  readonly replay?: string;
}

/** What goes to every node. */
export function nodeOptionsOf(options: SimulateOptions): SimNodeOptions {
  const {
    seed: _seed,
    nodes: _nodes,
    latencyMs: _latencyMs,
    startSpreadMs: _startSpreadMs,
    cluster: _cluster,
    jitter: _jitter,
    trace: _trace,
    started: _started,
    replay: _replay,
    ...nodeOptions
  } = options;
  return nodeOptions;
}

/** Those of nodes are checked when nodes start. @throws TypeError or RangeError that names the option. */
export function checkSimulateOptions(options: SimulateOptions): void {
  if (typeof options !== 'object' || options === null)
    throw new TypeError(`options must be an object, got ${shown(options)}`);
  checkGiven(RULES, options);
  const { seed, nodes = 3, latencyMs = [0, 0], startSpreadMs = 0 } = options;
  checkWhole('seed', seed, 0, 2 ** 32 - 1);
  if (typeof nodes === 'number') checkWhole('nodes', nodes, 0, NODES_MAX);
  else {
    checkValue('nodes', nodes, NODES);
    checkIds(nodes.map((node) => (typeof node === 'string' ? node : node.id)));
  }
  checkRange('latencyMs', latencyMs);
  checkNumber('startSpreadMs', startSpreadMs, 0, Number.MAX_SAFE_INTEGER);
}

/** @throws TypeError or RangeError that names the argument. */
export function checkNumber(name: string, value: number, low: number, high: number): void {
  if (typeof value !== 'number')
    throw new TypeError(`${name} must be a number, got ${shown(value)}`);
  if (value >= low && value <= high) return;
  throw new RangeError(`${name} must be from ${low} to ${high}, got ${value}`);
}

/** @throws TypeError or RangeError that names the argument. */
export function checkRange(name: string, range: readonly [number, number]): void {
  checkValue(name, range, RANGE);
  const [low, high] = range;
  checkNumber(`${name}[0]`, low, 0, Number.MAX_SAFE_INTEGER);
  checkNumber(`${name}[1]`, high, low, Number.MAX_SAFE_INTEGER);
}

function checkWhole(name: string, value: number, low: number, high: number): void {
  checkNumber(name, value, low, high);
  if (!Number.isInteger(value)) throw new RangeError(`${name} must be whole, got ${value}`);
}

function checkIds(ids: readonly string[]): void {
  const twice = ids.find((id, index) => ids.indexOf(id) !== index);
  if (twice !== undefined)
    throw new RangeError(`nodes must have different ids, got ${twice} twice`);
}

const RULES: Rules<
  Pick<SimulateOptions, 'cluster' | 'election' | 'jitter' | 'replay' | 'started' | 'trace'>
> = {
  cluster: TEXT,
  election: FUNCTION,
  jitter: BOOLEAN,
  replay: TEXT,
  started: FUNCTION,
  trace: [
    'string',
    "'events' or 'messages'",
    (value) => value === 'events' || value === 'messages',
  ],
};

const NODES: Rule = [
  'array',
  'a number, or an array of ids and of { id }',
  (value) => Array.isArray(value) && value.every((node) => typeof (node?.id ?? node) === 'string'),
];

const RANGE: Rule = [
  'array',
  'an array of two numbers',
  (value) => Array.isArray(value) && value.length === 2,
];

/** More nodes than any cluster that the protocol is meant for. */
const NODES_MAX = 1_000;
