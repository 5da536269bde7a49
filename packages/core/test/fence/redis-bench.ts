import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { createClient } from 'redis';
import { startRedis } from '../../../../scripts/redis.mjs';
import { type RedisClient, redisFence } from '../../src/fence/index.ts';
import type { FenceBench, FenceClient } from '../../src/testing/fence-contract.ts';

/** A client of either package, connected. */
export interface Connection {
  readonly client: RedisClient;
  command(...words: string[]): Promise<unknown>;
  close(): void;
}

export type Connect = (socket: string) => Promise<Connection>;

export async function nodeRedis(path: string): Promise<Connection> {
  const client = createClient({ socket: { path, reconnectStrategy: false } });
  // What a lost connection means shows in the commands that it fails.
  client.on('error', () => undefined);
  await client.connect();
  return {
    client,
    command: (...words) => client.sendCommand(words),
    close: () => client.isOpen && client.destroy(),
  };
}

export async function ioRedis(path: string): Promise<Connection> {
  const client = new Redis({ path, lazyConnect: true, retryStrategy: null });
  client.on('error', () => undefined);
  await client.connect();
  return {
    client,
    command: (name, ...words) => client.call(name as string, ...words),
    close: () => client.disconnect(),
  };
}

/** A Redis of its own that keeps every write, and lists in it, each guarded by a fence. */
export class RedisServer {
  readonly #folder: string;
  readonly #connect: Connect;
  #redis: Awaited<ReturnType<typeof startRedis>>;
  readonly #connections: Connection[] = [];

  static async start(connect: Connect): Promise<RedisServer> {
    const folder = await mkdtemp(join(tmpdir(), 'doyen-redis-'));
    return new RedisServer(folder, connect, await startRedis({ folder, isDurable: true }));
  }

  private constructor(
    folder: string,
    connect: Connect,
    redis: Awaited<ReturnType<typeof startRedis>>,
  ) {
    this.#folder = folder;
    this.#connect = connect;
    this.#redis = redis;
  }

  async connection(): Promise<Connection> {
    const connection = await this.#connect(this.#redis.socket);
    this.#connections.push(connection);
    return connection;
  }

  /** Kills it in whatever it does, and starts it on what it had stored. */
  async crash(): Promise<void> {
    await this.#redis.kill();
    this.disconnect();
    this.#redis = await startRedis({ folder: this.#folder, isDurable: true });
  }

  disconnect(): void {
    for (const connection of this.#connections.splice(0)) connection.close();
  }

  async stop(): Promise<void> {
    this.disconnect();
    await this.#redis.kill();
    await rm(this.#folder, { recursive: true });
  }
}

/** A list that nobody has used yet. */
export class RedisBench implements FenceBench {
  readonly key = `{${crypto.randomUUID()}}:fence`;
  readonly list = this.key.replace('fence', 'list');
  readonly #server: RedisServer;

  constructor(server: RedisServer) {
    this.#server = server;
  }

  async client(): Promise<FenceClient> {
    const { client } = await this.#server.connection();
    const fence = redisFence({ client, key: this.key });
    const append = (text: string) => ['RPUSH', this.list, text] as const;
    return {
      fence,
      append: (token, text) => fence.admit(token, [append(text)]),
      appendAndFail: (token, text) => fence.admit(token, [append(text), ['INCR', this.list]]),
    };
  }

  async effects(): Promise<readonly string[]> {
    const { command } = await this.#server.connection();
    return (await command('LRANGE', this.list, '0', '-1')) as string[];
  }

  restart(): Promise<void> {
    return this.#server.crash();
  }
}
