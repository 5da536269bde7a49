import { shown } from '../runtime/options.ts';
import type { Locks } from './locks.ts';
import type { TimerWorker } from './worker-timer.ts';

/** Options of `tabs()`. */
export interface TabsOptions {
  /**
   * What the names of all channels and locks begin with: 1 to 64 letters, digits, `_`, `.` and `-`.
   * Clusters of one name but different prefixes know nothing of each other.
   * @defaultValue `'doyen'`
   */
  readonly name?: string;
  /**
   * Most links at a time. At the limit no more are made, which is said once with a fault
   * `links-exhausted`; members without a link are reached over others. @defaultValue 64
   */
  readonly linksMax?: number;
  /**
   * Makes the worker whose timers go on while the page is hidden; it must run the script that
   * {@link WORKER_SCRIPT} is. For pages whose content security policy has no `worker-src blob:`.
   * `false`: none; hidden pages then have the slow timers that browsers leave them.
   * @defaultValue a worker made from a `blob:` address
   */
  readonly worker?: false | (() => TimerWorker);
  /** @defaultValue that of the platform */
  readonly BroadcastChannel?: typeof BroadcastChannel;
  /** `null`: do without. @defaultValue those of the platform */
  readonly locks?: Locks | null;
}

export type CheckedOptions = TabsOptions & Required<Pick<TabsOptions, 'name' | 'linksMax'>>;

/** Throws `TypeError` or `RangeError` naming the option. */
export function checkOptions(options: TabsOptions): CheckedOptions {
  if (typeof options !== 'object' || options === null) {
    throw new TypeError(`options must be an object, got ${shown(options)}`);
  }
  for (const name of Object.keys(options)) {
    if (!Object.hasOwn(RULES, name)) throw new TypeError(`${name} is no option`);
  }
  for (const [name, [type, expectation, isMet]] of Object.entries(RULES)) {
    const value = options[name as keyof TabsOptions];
    if (value === undefined || isMet(value)) continue;
    const ErrorClass = typeof value === type ? RangeError : TypeError;
    throw new ErrorClass(`${name} must be ${expectation}, got ${shown(value)}`);
  }
  return { ...options, name: options.name ?? 'doyen', linksMax: options.linksMax ?? LINKS_MAX };
}

const isFunction = (value: unknown): boolean => typeof value === 'function';

type Rule = readonly [type: string, expectation: string, isMet: (value: unknown) => boolean];

const RULES: Readonly<Record<keyof TabsOptions, Rule>> = {
  name: [
    'string',
    '1 to 64 letters, digits, "_", "." and "-", no "-" first',
    (value) => typeof value === 'string' && /^[\w.][\w.-]{0,63}$/.test(value),
  ],
  linksMax: [
    'number',
    'a positive integer',
    (value) => Number.isSafeInteger(value) && Number(value) > 0,
  ],
  worker: ['function', 'false or a function', (value) => value === false || isFunction(value)],
  BroadcastChannel: ['function', 'a class', isFunction],
  locks: [
    'Locks',
    'null or an object with request and query',
    (value) => value === null || ['request', 'query'].every((n) => isFunction(Object(value)[n])),
  ],
};

/** Far more tabs than anybody has of one page; a link costs a channel and a waiting lock request. */
const LINKS_MAX = 64;
