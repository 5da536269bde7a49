import { describe, expect, it } from 'vitest';
import { floorOf, memoryFence } from '../../src/fence/index.ts';
import { withResolvers } from '../../src/runtime/promise.ts';
import { type FenceClient, fenceContract } from '../../src/testing/fence-contract.ts';
import { listClient } from './list-client.ts';
import { token } from './token.ts';

describe('X3: memoryFence', () => {
  fenceContract({
    suite: { describe, it },
    setup() {
      const texts: string[] = [];
      const client: FenceClient = listClient(memoryFence(), texts);
      return { client: () => client, effects: async () => texts };
    },
    capabilities: { isDurable: false },
  });

  it('X1: token and effect take no time between them', () => {
    const fence = memoryFence();
    let isDone = false;
    void fence.admit(token(1), () => {
      isDone = true;
    });
    expect(isDone).toBe(true);
  });

  it('X2: opening waits for an effect of the older token that has begun, and lets no other begin', async () => {
    const fence = memoryFence();
    const { promise, resolve } = withResolvers<void>();
    const order: string[] = [];
    const begun = fence.admit(token(1), async () => {
      await promise;
      order.push('effect of 1');
    });
    const opened = fence.open(token(2, 'y')).then(() => order.push('opened for 2'));
    const late = fence.admit(token(1), () => order.push('late effect of 1'));
    await expect(Promise.race([opened, Promise.resolve('waiting')])).resolves.toBe('waiting');
    resolve();
    await expect(late).rejects.toMatchObject({ code: 'fenced', verdict: 'stale', high: 2 });
    await Promise.all([begun, opened]);
    expect(order).toEqual(['effect of 1', 'opened for 2']);
  });

  it('gives what the effect gives, and rejects with what it throws', async () => {
    const fence = memoryFence();
    expect(await fence.admit(token(1), async () => 'value')).toBe('value');
    const failure = new Error('full');
    await expect(fence.admit(token(1), () => Promise.reject(failure))).rejects.toBe(failure);
    expect(await fence.admit(token(1), () => 'next')).toBe('next');
  });

  it('X1: a token that its owner changes afterwards is the one that was shown', async () => {
    const fence = memoryFence();
    const changing = { ...token(1) };
    const { promise, resolve } = withResolvers<void>();
    const first = fence.admit(token(1), () => promise);
    const second = fence.admit(changing, () => undefined);
    changing.epoch = 9;
    resolve();
    await Promise.all([first, second]);
    expect(await fence.high()).toBe(1);
  });

  it('M11: more than 1024 waiting effects are refused as busy', async () => {
    const fence = memoryFence();
    const { promise, resolve } = withResolvers<void>();
    let count = 0;
    const first = fence.admit(token(1), () => promise);
    const waiting = Array.from({ length: 1024 }, () => fence.admit(token(1), () => (count += 1)));
    await expect(fence.admit(token(1), () => (count += 1))).rejects.toMatchObject({ code: 'busy' });
    resolve();
    await Promise.all([first, ...waiting]);
    expect(count).toBe(1024);
  });

  it('X1: a named cluster is the only one admitted', async () => {
    const fence = memoryFence({ cluster: 'orders' });
    await expect(fence.open(token(1, 'x', 'other'))).rejects.toMatchObject({ verdict: 'foreign' });
    await fence.open(token(1, 'x', 'orders'));
  });

  it('refuses wrong options by name', () => {
    expect(() => memoryFence({ cluster: '' })).toThrow(/^cluster must be 1 to 128 bytes/);
    expect(() => memoryFence({ cluster: 7 as unknown as string })).toThrow(TypeError);
  });
});

describe('floorOf', () => {
  it('E11: is the highest mark of several fences, 0 of none', async () => {
    const fences = [memoryFence(), memoryFence(), memoryFence()] as const;
    await fences[0].open(token(4));
    await fences[1].open(token(9));
    expect(await floorOf(...fences)()).toBe(9);
    expect(await floorOf()()).toBe(0);
  });

  it('E11: fails when one of the fences cannot say', async () => {
    const silent = { high: () => Promise.reject(new Error('unreachable')) };
    await expect(floorOf(memoryFence(), silent)()).rejects.toThrow('unreachable');
  });
});
