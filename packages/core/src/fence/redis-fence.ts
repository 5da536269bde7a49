import { checkValue, hasMethods, type Rule } from '../option-check.ts';
import { DoyenError } from '../runtime/error.ts';
import { shown } from '../runtime/options.ts';
import type { Fence } from './fence.ts';
import { FencedError } from './fenced-error.ts';
import { checkCluster, checkName, type FenceOptions, storedMark } from './mark.ts';
import { REDIS_SCRIPT } from './redis-script.ts';
import { checkToken, type Token } from './token.ts';
import type { FenceVerdict } from './verdict.ts';

/** What a fence needs of a client; those of the packages `redis` and `ioredis` have it. */
export type RedisClient =
  | { sendCommand(words: string[]): Promise<unknown> }
  | { call(command: string, ...words: string[]): Promise<unknown> };

/** A command as one would type it: its name, then its key, then the rest. */
export type RedisCommand = readonly [name: string, ...words: (string | number)[]];

/** Options of `redisFence()`. */
export interface RedisFenceOptions extends FenceOptions {
  /** A connected client of the package `redis` or `ioredis`. */
  readonly client: RedisClient;
  /**
   * Name of the hash that keeps the mark. On a Redis Cluster it shares a hash tag with the keys that
   * effects write: `{orders}:fence` with `{orders}:checkpoint`.
   */
  readonly key: string;
}

/**
 * A fence in Redis. An effect is a list of commands, 1024 at most, which run in the script that
 * checks the token; `admit` gives their replies. A command that fails rejects with the client's
 * error, and takes back neither the mark nor the commands before it: Redis does not roll back.
 *
 * The mark is as durable as Redis is told to be: it has no expiry, but needs `appendonly yes`, with
 * `appendfsync always` to survive a loss of power, a `maxmemory-policy` that spares keys without
 * expiry, and `WAIT` or a single primary, since a failover may forget the last writes.
 */
export function redisFence(
  options: RedisFenceOptions,
): Fence<readonly RedisCommand[], readonly unknown[]> {
  checkCluster(options);
  checkName('key', options.key);
  checkValue('client', options.client, CLIENT);
  return new RedisFence(options);
}

class RedisFence implements Fence<readonly RedisCommand[], readonly unknown[]> {
  readonly #options: RedisFenceOptions;
  #sha: Promise<string> | undefined;

  constructor(options: RedisFenceOptions) {
    this.#options = options;
  }

  async open(token: Token): Promise<void> {
    await this.admit(token, []);
  }

  async admit(token: Token, effect: readonly RedisCommand[]): Promise<readonly unknown[]> {
    const { cluster, epoch, holder } = checkToken(token);
    checkEffect(effect);
    const keys = effect.flatMap(([, key]) => (key === undefined ? [] : [String(key)]));
    const words = effect.flatMap((command) => [command.length, ...command].map(String));
    const { key, cluster: only = '' } = this.#options;
    const [verdict, detail] = await this.#run(
      [key, ...keys],
      [...[cluster, String(epoch), holder, only], ...words],
    );
    if (verdict === 'admitted') return detail as unknown[];
    throw new FencedError(token, { verdict, high: Number(detail) });
  }

  async high(): Promise<number> {
    const mark = await this.#send('HMGET', this.#options.key, 'cluster', 'epoch', 'holder');
    const [cluster, epoch, holder] = Array.isArray(mark) ? mark : [];
    if (cluster === null && epoch === null && holder === null) return 0;
    return storedMark({ cluster, epoch: Number(epoch), holder }).epoch;
  }

  async #run(keys: readonly string[], words: readonly string[]): Promise<[FenceVerdict, unknown]> {
    const args = [String(keys.length), ...keys, ...words];
    this.#sha ??= sha1(REDIS_SCRIPT);
    const reply = await this.#send('EVALSHA', await this.#sha, ...args).catch((error) => {
      // Redis forgets scripts when it restarts; this also teaches it.
      if (isUnknownScript(error)) return this.#send('EVAL', REDIS_SCRIPT, ...args);
      throw error;
    });
    if (!Array.isArray(reply)) {
      throw new DoyenError('fence-failed', `the script must give a list, got ${shown(reply)}`);
    }
    const [verdict, detail] = reply;
    if (verdict === 'corrupt') storedMark(undefined);
    return [verdict, detail];
  }

  #send(command: string, ...words: string[]): Promise<unknown> {
    const { client } = this.#options;
    // A client of ioredis has a sendCommand() too, which takes something else.
    return 'call' in client
      ? client.call(command, ...words)
      : client.sendCommand([command, ...words]);
  }
}

function checkEffect(effect: readonly RedisCommand[]): void {
  if (!Array.isArray(effect) || !effect.every((command) => Array.isArray(command))) {
    throw new TypeError('effect must be a list of commands, each a list of words');
  }
  if (effect.length > COMMANDS_MAX) {
    throw new RangeError(`effect must be at most ${COMMANDS_MAX} commands, got ${effect.length}`);
  }
  for (const { length } of effect) {
    if (length >= 1 && length <= COMMAND_WORDS_MAX) continue;
    throw new RangeError(`a command must be 1 to ${COMMAND_WORDS_MAX} words, got ${length}`);
  }
}

function isUnknownScript(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('NOSCRIPT');
}

async function sha1(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-1', new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

const CLIENT: Rule = [
  'client',
  'an object with call or sendCommand',
  (client) => hasMethods(client, 'call') || hasMethods(client, 'sendCommand'),
];
// Redis serves nobody else while the script runs.
const COMMANDS_MAX = 1024;
// Lua puts them all on its stack, which ends at 8000.
const COMMAND_WORDS_MAX = 4096;
