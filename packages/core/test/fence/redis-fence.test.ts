import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type FenceVerdict, judge, redisFence, type Token } from '../../src/fence/index.ts';
import { EPOCH_MAX } from '../../src/machine/claim.ts';
import { fenceContract } from '../../src/testing/fence-contract.ts';
import { type Connection, ioRedis, nodeRedis, RedisBench, RedisServer } from './redis-bench.ts';
import { token } from './token.ts';

describe.each([
  { name: 'redis', connect: nodeRedis },
  { name: 'ioredis', connect: ioRedis },
])('X3: redisFence with a client of $name', ({ connect }) => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await RedisServer.start(connect);
  });
  afterEach(() => server.disconnect());
  afterAll(() => server.stop());

  fenceContract({ suite: { describe, it }, setup: () => new RedisBench(server) });

  it('X1: Redis decides as judge() does, up to the highest epoch', async () => {
    const { client } = await server.connection();
    const epoch = fc.oneof(fc.integer({ min: 1, max: 4 }), fc.constantFrom(...HIGHEST));
    const name = fc.constantFrom('x', 'y', 'ä; =%\u{1f600}');
    const tokens = fc.array(fc.record({ cluster: name, epoch, holder: name }));
    await fc.assert(
      fc.asyncProperty(tokens, async (shown) => {
        const fence = redisFence({ client, key: new RedisBench(server).key });
        let mark: Token | null = null;
        for (const next of shown) {
          const verdict = judge(mark, next);
          expect(await verdictOf(fence.admit(next, []))).toBe(verdict);
          if (verdict === 'admitted') mark = next;
          expect(await fence.high()).toBe((mark as Token | null)?.epoch ?? 0);
        }
      }),
      { numRuns: 50 },
    );
  });

  it('gives the replies to all commands, and lets numbers be written as numbers', async () => {
    const { client } = await server.connection();
    const { key, list } = new RedisBench(server);
    const fence = redisFence({ client, key });
    const effect = [
      ['SET', `${list}:n`, 41],
      ['INCR', `${list}:n`],
      ['GET', list],
      ['LLEN', list],
    ] as const;
    expect(await fence.admit(token(1), effect)).toEqual(['OK', 42, null, 0]);
  });

  it('X1: the mark is a hash that never expires', async () => {
    const { client, command } = await server.connection();
    const { key } = new RedisBench(server);
    await redisFence({ client, key }).open(token(EPOCH_MAX, 'x'));
    const fields = ['cluster', 'epoch', 'holder'];
    expect(await command('HMGET', key, ...fields)).toEqual(['c', String(EPOCH_MAX), 'x']);
    expect(await command('TTL', key)).toBe(-1);
  });

  it('teaches a Redis the script that has forgotten it', async () => {
    const { client, command } = await server.connection();
    const fence = redisFence({ client, key: new RedisBench(server).key });
    await fence.open(token(1));
    await command('SCRIPT', 'FLUSH');
    await fence.open(token(2));
    expect(await fence.high()).toBe(2);
  });

  it('X1: what is no mark admits nobody, and is left as it is', async () => {
    const { client, command } = await server.connection();
    for (const fields of [
      ['epoch', '1'],
      ['cluster', 'c', 'epoch', 'one', 'holder', 'x'],
      ['other', '1'],
    ]) {
      const { key } = new RedisBench(server);
      await command('HSET', key, ...fields);
      const fence = redisFence({ client, key });
      await expect(fence.open(token(9))).rejects.toMatchObject({ code: 'storage-corrupt' });
      expect(await command('HLEN', key)).toBe(fields.length / 2);
    }
  });

  it('X2: opening repairs a mark that a failover has lost', async () => {
    const { client, command } = await server.connection();
    const { key } = new RedisBench(server);
    const fence = redisFence({ client, key });
    await fence.open(token(34, 'y'));
    await command('HSET', key, 'epoch', '10', 'holder', 'x');
    await fence.open(token(34, 'y'));
    expect(await verdictOf(fence.open(token(11)))).toBe('stale');
  });

  it('X1: a named cluster is the only one admitted', async () => {
    const { client } = await server.connection();
    const { key } = new RedisBench(server);
    const fence = redisFence({ client, key, cluster: 'orders' });
    expect(await verdictOf(fence.open(token(1)))).toBe('foreign');
    expect(await fence.high()).toBe(0);
    await redisFence({ client, key }).open(token(1));
    expect(await verdictOf(fence.open(token(2, 'x', 'orders')))).toBe('foreign');
  });
});

describe('redisFence', () => {
  const client: Connection['client'] = { sendCommand: async () => 'OK' };

  it('M11: refuses effects that are none or too large, by name', async () => {
    const fence = redisFence({ client, key: 'k' });
    const many = Array.from({ length: 1025 }, () => ['PING'] as const);
    await expect(fence.admit(token(1), many)).rejects.toThrow(/^effect must be at most 1024/);
    const long = ['DEL', ...many.concat(many, many, many).map(() => 'k')] as const;
    await expect(fence.admit(token(1), [long])).rejects.toThrow(/^a command must be 1 to 4096/);
    await expect(fence.admit(token(1), 'PING' as never)).rejects.toThrow(TypeError);
    expect(() => redisFence({ client, key: '' })).toThrow(/^key must be/);
  });

  it('says so when what answers is no script', async () => {
    const fence = redisFence({ client, key: 'k' });
    await expect(fence.open(token(1))).rejects.toMatchObject({ code: 'fence-failed' });
  });
});

async function verdictOf(act: Promise<unknown>): Promise<FenceVerdict> {
  return act.then(
    () => 'admitted' as const,
    (error) => error.verdict,
  );
}

const HIGHEST = [2 ** 31, 2 ** 53 - 2 ** 33, EPOCH_MAX - 1, EPOCH_MAX];
