import type { Elect } from '../election.ts';
import { NAME_BYTES_MAX } from '../reading.ts';
import { compareText } from '../record.ts';
import { oldestNode, type Strategy } from '../strategy.ts';
import { VOTERS_MAX } from './config.ts';
import { QuorumElection } from './election.ts';
import type { QuorumSettings } from './settings.ts';

/** Options of {@link quorum}; durations in milliseconds. */
export interface QuorumOptions<Evidence = unknown> {
  /**
   * Ids of the nodes that vote first; all of them name the same. A node votes only with a `store`
   * and an `id` of its own. Later the voters change by `node.voters` alone.
   */
  readonly voters: readonly string[];
  /** Who stands first when nobody leads; never who gets a vote. @defaultValue `oldestNode()` */
  readonly rankBy?: Strategy;
  /**
   * How recent this node's copy of the application's state is, as JSON of at most 160 characters: a
   * number, a text, or an array of them, compared in order. Nobody votes for a node that is behind.
   */
  readonly evidence?: () => Evidence;
  /** Negative when `a` is older than `b`. @defaultValue numbers and texts in their order */
  readonly compareEvidence?: (a: Evidence, b: Evidence) => number;
  /**
   * A voter that has heard a leader elects no other for so long, and one that starts again is silent
   * for so long. @defaultValue 3000
   */
  readonly stickyMs?: number;
  /** Between two beats of the leader. @defaultValue 500, at most a sixth of `stickyMs` */
  readonly beatMs?: number;
  /**
   * How long a term is valid after the last beat that a majority has acknowledged, counted from when
   * it was sent; at most 0.8 × `stickyMs`, as clocks differ. @defaultValue 0.8 × `stickyMs`
   */
  readonly leaseMs?: number;
  /**
   * Shortest and longest silence of a leader until the first in rank stands; above `stickyMs`.
   * @defaultValue `[stickyMs + 500, stickyMs + 800]`
   */
  readonly electionTimeoutMs?: readonly [number, number];
  /** How much later each next in rank stands; 1200 on timers of a second. @defaultValue 400 */
  readonly rankStepMs?: number;
  /** By how much the random part of the timeout grows with each failure. @defaultValue 1.5 */
  readonly backoffFactor?: number;
  /** Up to which it grows. @defaultValue 10 000 */
  readonly backoffMaxMs?: number;
  /** Whether a node asks if it would be elected before it stands. @defaultValue true */
  readonly preVote?: boolean;
  /**
   * A voter that is out of the roster and silent for so long is removed; `null` for never. It has to
   * be added again. @defaultValue 12 000
   */
  readonly removeAfterMs?: number | null;
  /** No voter is removed unasked when so many or fewer are left. @defaultValue 3 */
  readonly votersMin?: number;
  /** Between two changes of the voters that nobody asked for. @defaultValue 6000 */
  readonly settleMs?: number;
}

/** An election by votes, as {@link quorum} makes it. */
export interface Quorum {
  readonly mode: 'quorum';
  readonly name: string;
  /** Ids of the first voters, sorted. */
  readonly voters: readonly string[];
  readonly rankBy: Strategy;
  /** @internal */
  readonly elect: Elect;
}

/**
 * A leader that a majority of named voters has elected, and still acknowledges: at most one an
 * epoch, whatever the network does (Q0 to Q11).
 * @throws TypeError or RangeError that names the option, what was expected, and what came.
 */
export function quorum<Evidence = unknown>(options: QuorumOptions<Evidence>): Quorum {
  const settings = settingsOf(options as QuorumOptions);
  const { rankBy = oldestNode() } = options;
  const election: Quorum = {
    mode: 'quorum',
    name: `quorum/${rankBy.name}`,
    voters: settings.founders,
    rankBy,
    elect: (kernel) => new QuorumElection(kernel, settings),
  };
  return Object.freeze(election);
}

function settingsOf(options: QuorumOptions): QuorumSettings {
  checkKnown(options);
  const founders = checkVoters(options.voters);
  const stickyMs = whole('stickyMs', options.stickyMs ?? 3000, 100, DURATION_MAX);
  const beatMs = whole(
    'beatMs',
    options.beatMs ?? Math.min(500, Math.floor(stickyMs / 6)),
    1,
    stickyMs / 3,
  );
  const leaseMax = Math.floor(LEASE_SHARE * stickyMs);
  const leaseMs = whole('leaseMs', options.leaseMs ?? leaseMax, beatMs, leaseMax);
  const { removeAfterMs = 12_000, preVote = true } = options;
  if (typeof preVote !== 'boolean') throw wrong('preVote', 'true or false', preVote);
  return {
    founders,
    timing: {
      stickyMs,
      beatMs,
      leaseMs,
      electionTimeoutMs: checkTimeout(options, stickyMs),
      rankStepMs: whole('rankStepMs', options.rankStepMs ?? 400, 0, DURATION_MAX),
      backoffFactor: number('backoffFactor', options.backoffFactor ?? 1.5, 1, 10),
      backoffMaxMs: whole('backoffMaxMs', options.backoffMaxMs ?? 10_000, 0, DURATION_MAX),
    },
    preVote,
    evidence: {
      read: callable('evidence', options.evidence) ?? null,
      compare: callable('compareEvidence', options.compareEvidence) ?? compareInOrder,
    },
    roll: {
      removeAfterMs:
        removeAfterMs === null ? null : whole('removeAfterMs', removeAfterMs, 0, DURATION_MAX),
      votersMin: whole('votersMin', options.votersMin ?? 3, 1, VOTERS_MAX),
      settleMs: whole('settleMs', options.settleMs ?? 6000, 0, DURATION_MAX),
    },
    groupOf: uidOf,
  };
}

function checkKnown(options: unknown): void {
  if (typeof options !== 'object' || options === null) throw wrong('options', 'an object', options);
  const unknown = Object.keys(options).find((name) => !OPTIONS.has(name));
  if (unknown !== undefined) throw new TypeError(`${unknown} is no option of quorum()`);
  const { rankBy } = options as QuorumOptions;
  if (rankBy === undefined || typeof rankBy?.compare === 'function') return;
  throw wrong('rankBy', 'a strategy, such as oldestNode()', rankBy);
}

function checkVoters(voters: unknown): readonly string[] {
  if (!Array.isArray(voters)) throw wrong('voters', 'an array of ids', voters);
  if (voters.length === 0 || voters.length > VOTERS_MAX) {
    throw new RangeError(`voters must be 1 to ${VOTERS_MAX} ids, got ${voters.length}`);
  }
  for (const id of voters) {
    if (typeof id !== 'string') throw wrong('voters', 'an array of ids', id);
    if (!isId(id)) throw new RangeError(`voters must be ids, got ${JSON.stringify(id)}`);
  }
  const ids = [...(voters as string[])].sort(compareText);
  const twice = ids.find((id, index) => id === ids[index + 1]);
  if (twice === undefined) return ids;
  throw new RangeError(`voters must be different ids, got ${twice} twice`);
}

/** As `join()` takes them: 1 to 128 bytes of UTF-8 without control characters. */
function isId(text: string): boolean {
  if (text === '' || /[\p{Cc}\p{Cs}]/u.test(text)) return false;
  return encodeURIComponent(text).replace(/%../g, '-').length <= NAME_BYTES_MAX;
}

function checkTimeout({ electionTimeoutMs }: QuorumOptions, stickyMs: number): [number, number] {
  const range = electionTimeoutMs ?? [stickyMs + 500, stickyMs + 800];
  if (!Array.isArray(range) || range.length !== 2) {
    throw wrong('electionTimeoutMs', 'a shortest and a longest time', range);
  }
  // A voter that stood within its own sticky window would break what it has promised (Q5).
  const low = whole('electionTimeoutMs[0]', range[0], stickyMs + 1, DURATION_MAX);
  return [low, whole('electionTimeoutMs[1]', range[1], low, DURATION_MAX)];
}

function whole(name: string, value: unknown, low: number, high: number): number {
  const checked = number(name, value, low, high);
  if (Number.isInteger(checked)) return checked;
  throw new RangeError(`${name} must be whole, got ${checked}`);
}

function number(name: string, value: unknown, low: number, high: number): number {
  if (typeof value !== 'number') throw wrong(name, 'a number', value);
  if (value >= low && value <= high) return value;
  throw new RangeError(`${name} must be from ${low} to ${high}, got ${value}`);
}

function callable<T>(name: string, value: T): T {
  if (value === undefined || typeof value === 'function') return value;
  throw wrong(name, 'a function', value);
}

function wrong(name: string, expectation: string, value: unknown): TypeError {
  const shown = typeof value === 'object' && value !== null ? 'an object' : String(value);
  return new TypeError(`${name} must be ${expectation}, got ${shown}`);
}

/** Numbers, texts, and arrays of them, element by element. */
function compareInOrder(a: unknown, b: unknown): number {
  if (!Array.isArray(a) || !Array.isArray(b)) return compareScalars(a, b);
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const order = compareScalars(a[i], b[i]);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

/** `NaN`, which counts as older, for what cannot be compared. */
function compareScalars(a: unknown, b: unknown): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return typeof a === 'string' && typeof b === 'string' ? compareText(a, b) : Number.NaN;
}

function uidOf(random: () => number): string {
  const draw = () =>
    Math.floor(random() * UID_RANGE)
      .toString(36)
      .padStart(UID_LENGTH, '0');
  return draw() + draw();
}

/** Clocks may differ in rate by a ninth in either direction until two leases could overlap (Q6). */
const LEASE_SHARE = 0.8;
const DURATION_MAX = 2 ** 31 - 1;
/** Twice eight digits of base 36: 82 bits. */
const UID_LENGTH = 8;
const UID_RANGE = 36 ** UID_LENGTH;
const OPTIONS: ReadonlySet<string> = /* @__PURE__ */ new Set([
  'voters',
  'rankBy',
  'evidence',
  'compareEvidence',
  'stickyMs',
  'beatMs',
  'leaseMs',
  'electionTimeoutMs',
  'rankStepMs',
  'backoffFactor',
  'backoffMaxMs',
  'preVote',
  'removeAfterMs',
  'votersMin',
  'settleMs',
]);
