import * as v from 'valibot';
import type { LockRule } from '../machine/lock/lock.ts';
import type { Detection } from '../machine/machine.ts';
import type { Quorum } from '../machine/quorum/quorum.ts';
import { oldestNode, type Strategy } from '../machine/strategy.ts';
import type { Store } from '../store/store.ts';
import type { Transport } from '../transport/transport.ts';

/** Options of `join()`. */
export interface JoinOptions {
  /** Name of the cluster: 1 to 128 bytes of UTF-8 without control characters. */
  readonly cluster: string;
  /** How this node reaches others, for example `memory()`. One transport serves one node. */
  readonly transport: Transport;
  /**
   * Who leads. All nodes of a cluster must agree on it; others are refused (`election-mismatch`).
   * @defaultValue `oldestNode()`
   */
  readonly election?: Strategy | Quorum | LockRule;
  /** How soon silence counts. @defaultValue {@link DEFAULTS}`.detection` */
  readonly detection?: Partial<Detection>;
  /** Id of this node; the same form as `cluster`. @defaultValue random */
  readonly id?: string;
  /**
   * When this node started, in wall-clock milliseconds, for `oldestNode()`; 0 = youngest. Given
   * here it is taken as it is, also when the cluster is younger. @defaultValue the time of `join()`
   */
  readonly startedAt?: number;
  /**
   * `cluster`: a newcomer ranks behind the leader that it meets, whatever its clock says.
   * `wall-clock`: `startedAt` alone decides. @defaultValue `'cluster'`
   */
  readonly seniority?: 'cluster' | 'wall-clock';
  /** What this node says of itself to the others: JSON, 1 KiB at most. */
  readonly meta?: unknown;
  /**
   * Gives the epoch to start above, so that a cluster that restarts as a whole is not stale to the
   * resources that it guards. Awaited for 5 s before this node leads; when it fails, the node never
   * leads, and says so in a `fault` event with the code `floor-failed`.
   */
  readonly floor?: (options: { readonly signal: AbortSignal }) => Promise<number>;
  /**
   * What this node remembers across its restarts: with `quorum()` its vote, without which it only
   * observes; else the highest epoch, to start above it. Needs an `id`.
   */
  readonly store?: Store;
  /**
   * How long a starting node waits for others before it leads alone, in milliseconds, unless
   * discovery answers sooner. @defaultValue 3000
   */
  readonly joinGraceMs?: number;
  /**
   * A leader whose page has been hidden for `afterMs` hands the lead to a member that has been
   * visible for as long, as `transfer()` does. Each leader goes by its own option; a handover that
   * fails is tried again after 30 s. @defaultValue the lead stays where it is
   */
  readonly preferVisible?: { readonly afterMs: number };
  /** Aborted before: `join()` rejects with its reason. Aborted later: the node leaves. */
  readonly signal?: AbortSignal;
}

/** The defaults of {@link JoinOptions}; all in milliseconds. Frozen. */
export const DEFAULTS: {
  readonly detection: Detection;
  readonly joinGraceMs: number;
} = /* @__PURE__ */ Object.freeze({
  detection: /* @__PURE__ */ Object.freeze({
    heartbeatIntervalMs: 1000,
    suspicionMs: 20_000,
    leaderSuspicionMinMs: 2000,
  }),
  joinGraceMs: 3000,
});

/** Options with every default filled in. */
export interface ResolvedOptions extends JoinOptions {
  readonly election: Strategy | Quorum | LockRule;
  readonly detection: Detection;
  readonly seniority: 'cluster' | 'wall-clock';
  readonly joinGraceMs: number;
}

/**
 * Checks options, and fills in the defaults.
 * @throws TypeError or RangeError that names the option, what was expected, and what came.
 */
export function resolveOptions(options: JoinOptions): ResolvedOptions {
  const result = v.safeParse(schema(), options);
  if (!result.success) throw optionError(result.issues[0]);
  const { detection = {} } = options;
  if (options.store && options.id === undefined) {
    throw new TypeError('id must be given with a store, which remembers for one id');
  }
  const suspicionMs = detection.suspicionMs ?? DEFAULTS.detection.suspicionMs;
  const resolved = {
    heartbeatIntervalMs: detection.heartbeatIntervalMs ?? DEFAULTS.detection.heartbeatIntervalMs,
    suspicionMs,
    leaderSuspicionMinMs:
      detection.leaderSuspicionMinMs ??
      Math.min(DEFAULTS.detection.leaderSuspicionMinMs, suspicionMs),
  };
  checkOrder(resolved, 'heartbeatIntervalMs', 'leaderSuspicionMinMs');
  checkOrder(resolved, 'leaderSuspicionMinMs', 'suspicionMs');
  return {
    ...options,
    ...(options.meta !== undefined && { meta: plainMeta(options.meta) }),
    election: options.election ?? oldestNode(),
    seniority: options.seniority ?? 'cluster',
    joinGraceMs: options.joinGraceMs ?? DEFAULTS.joinGraceMs,
    detection: resolved,
  };
}

/**
 * A copy of what JSON keeps of `meta`, so that later changes to it go unseen.
 * @throws TypeError when it is no JSON, RangeError above 1 KiB.
 */
export function plainMeta(meta: unknown): unknown {
  if (meta === undefined) return undefined;
  const json = jsonOf(meta);
  if (json === undefined) throw new TypeError(`meta must be JSON, got ${shown(meta)}`);
  const sizeBytes = byteLength(json);
  if (sizeBytes > META_BYTES_MAX) {
    throw new RangeError(`meta must be at most ${META_BYTES_MAX} bytes of JSON, got ${sizeBytes}`);
  }
  return JSON.parse(json);
}

/** Whether `text` may name a cluster, a node or a channel. */
export function isText(text: string): boolean {
  // A lone surrogate travels as another character: two ids would be one, or one two.
  return text !== '' && !/[\p{Cc}\p{Cs}]/u.test(text) && byteLength(text) <= TEXT_BYTES_MAX;
}

/** The name tells nodes with other rules apart, so it must be there, and fit into a hello. */
function isElection(value: unknown): boolean {
  const { name, compare, elect } = (value ?? {}) as Record<string, unknown>;
  return (
    (isFunction(compare) || isFunction(elect)) &&
    typeof name === 'string' &&
    isText(name) &&
    byteLength(name) <= 64
  );
}

/** A value for an error message: short, and never throws. */
export function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 64));
  if (typeof value === 'function') return 'a function';
  if (typeof value === 'object' && value !== null)
    return Array.isArray(value) ? 'an array' : 'an object';
  return String(value);
}

/** Checks an argument that is a duration in milliseconds. */
export function checkMs(name: string, ms: number): void {
  if (typeof ms !== 'number') throw new TypeError(`${name} must be a number, got ${shown(ms)}`);
  if (!(ms >= 0)) throw new RangeError(`${name} must be 0 or more milliseconds, got ${ms}`);
}

// Built at each use, so that importing this file does nothing. Only a few parts of the library, all
// types being custom ones: each further part would cost every page that loads this.
function schema() {
  const a = <Type>(expectation: string, is: (value: unknown) => boolean) =>
    v.custom<Type>(is, expectation);
  const text = v.pipe(
    a<string>('a string', (value) => typeof value === 'string'),
    v.check(isText, '1 to 128 bytes of UTF-8 without control characters'),
  );
  const whole = (min: number) =>
    v.pipe(
      a<number>('a number', (value) => typeof value === 'number'),
      v.check(
        (n) => Number.isSafeInteger(n) && n >= min && n <= NUMBER_MAX,
        `an integer, ${min} or more`,
      ),
    );
  const methods = (...names: string[]) =>
    a(`an object with ${names.join(', ')}`, (value) =>
      names.every((name) => isFunction((value as Record<string, unknown> | null)?.[name])),
    );
  return v.strictObject(
    {
      cluster: text,
      transport: methods('start', 'send', 'close'),
      election: v.optional(
        a('quorum(), or a strategy: { name of 1 to 64 bytes, compare }', isElection),
      ),
      detection: v.optional(
        v.strictObject(
          {
            heartbeatIntervalMs: v.optional(whole(1)),
            suspicionMs: v.optional(whole(1)),
            leaderSuspicionMinMs: v.optional(whole(1)),
          },
          'an object',
        ),
      ),
      id: v.optional(text),
      startedAt: v.optional(whole(0)),
      seniority: v.optional(
        a("'cluster' or 'wall-clock'", (is) => is === 'cluster' || is === 'wall-clock'),
      ),
      meta: v.optional(a('JSON', () => true)),
      floor: v.optional(a('a function', isFunction)),
      store: v.optional(methods('read', 'write')),
      joinGraceMs: v.optional(whole(0)),
      preferVisible: v.optional(v.strictObject({ afterMs: whole(0) }, 'an object')),
      signal: v.optional(methods('addEventListener', 'throwIfAborted')),
    },
    'an object',
  );
}

function isFunction(value: unknown): boolean {
  return typeof value === 'function';
}

function optionError(issue: v.BaseIssue<unknown>): TypeError | RangeError {
  const path = v.getDotPath(issue) ?? 'options';
  if (issue.expected === 'never') return new TypeError(`${path} is no option`);
  const isMissing = issue.type === 'strict_object' && issue.expected !== 'Object';
  const expectation = isMissing ? 'given' : issue.message;
  const ErrorClass = issue.kind === 'validation' ? RangeError : TypeError;
  return new ErrorClass(`${path} must be ${expectation}, got ${shown(issue.input)}`);
}

function checkOrder(detection: Detection, low: keyof Detection, high: keyof Detection): void {
  if (detection[low] <= detection[high]) return;
  throw new RangeError(
    `detection.${low} must be at most detection.${high} (${detection[high]}), got ${detection[low]}`,
  );
}

function jsonOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch (error) {
    throw new TypeError('meta must be JSON', { cause: error });
  }
}

function byteLength(text: string): number {
  return new TextEncoder().encode(text).length;
}

const TEXT_BYTES_MAX = 128;
const META_BYTES_MAX = 1024;
// Far above any use, and far below what loses precision when added to a clock.
const NUMBER_MAX = 2 ** 52;
