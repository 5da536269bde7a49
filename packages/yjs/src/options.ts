import type { DoyenNode } from '@doyen/core';
import type { Awareness } from 'y-protocols/awareness';
import type { WebSocketConstructor } from './uplink.ts';

/** Options of `doyenProvider()`. */
export interface ProviderOptions {
  /** A node, as `join()` gives it. Every member that should hold the document opens the room. */
  readonly node: DoyenNode;
  /** Name of the document: 1 to 100 bytes. The server finds it in the path, as with y-websocket. */
  readonly room: string;
  /**
   * Address of a y-websocket server, `ws:` or `wss:`, without a query. Without it members keep each
   * other's documents equal, and nobody else does.
   */
  readonly url?: string;
  /** Cursors and names. @defaultValue a new one, which `destroy()` destroys too */
  readonly awareness?: Awareness;
  /**
   * Query parameters of the connection, such as a token. A function is asked at the beginning of
   * each term, and again when the server has closed the connection for good.
   */
  readonly params?: Params | (() => Params | Promise<Params>);
  /**
   * Whether a leader that the gate refuses for 5 s, while a newer one that it cannot reach is
   * connected, asks for a second connection as a guest. @defaultValue false
   */
  readonly fallback?: boolean;
  /** @defaultValue that of the platform; Node 20 has none */
  readonly WebSocket?: WebSocketConstructor;
}

type Params = Readonly<Record<string, string>>;

/** @throws TypeError or RangeError that names the option, what was expected and what came. */
export function checkOptions(options: ProviderOptions): void {
  const given: Partial<Record<string, unknown>> = { ...options };
  for (const name of Object.keys(given)) {
    if (!Object.hasOwn(RULES, name)) throw new TypeError(`${name} is no option`);
  }
  for (const [name, [expectation, isMet]] of Object.entries(RULES)) {
    const value = given[name];
    if (isMet(value) || (value === undefined && !REQUIRED.has(name))) continue;
    const ErrorClass = typeof value === 'string' ? RangeError : TypeError;
    throw new ErrorClass(`${name} must be ${expectation}, got ${shown(value)}`);
  }
}

type Rule = readonly [expectation: string, isMet: (value: unknown) => boolean];

const isFunction = (value: unknown): boolean => typeof value === 'function';

const RULES: Readonly<Record<keyof ProviderOptions, Rule>> = {
  node: ['a node', (value) => isFunction((value as Partial<DoyenNode> | null)?.channel)],
  room: ['1 to 100 bytes of UTF-8 without control characters', isRoom],
  url: ['an address with ws: or wss: and no query', isAddress],
  awareness: ['an Awareness', (value) => isFunction((value as Partial<Awareness>)?.getStates)],
  params: ['an object of strings, or a function', (value) => isFunction(value) || isParams(value)],
  fallback: ['true or false', (value) => typeof value === 'boolean'],
  WebSocket: ['a class', isFunction],
};

const REQUIRED: ReadonlySet<string> = new Set(['node', 'room']);

function isRoom(value: unknown): boolean {
  if (typeof value !== 'string' || value === '' || /[\p{Cc}\p{Cs}]/u.test(value)) return false;
  return new TextEncoder().encode(value).length <= ROOM_BYTES_MAX;
}

function isAddress(value: unknown): boolean {
  return typeof value === 'string' && /^wss?:[^?#]*$/i.test(value) && URL.canParse(value);
}

/** Whether `value` can be the query parameters of an address. */
export function isParams(value: unknown): value is Params {
  if (typeof value !== 'object' || value === null) return false;
  return Object.values(value).every((text) => typeof text === 'string');
}

function shown(value: unknown): string {
  if (typeof value === 'function') return 'a function';
  if (typeof value === 'object' && value !== null) return 'an object';
  return String(value).slice(0, 64);
}

/** With its prefix it makes the name of a channel, 128 bytes. */
const ROOM_BYTES_MAX = 100;
