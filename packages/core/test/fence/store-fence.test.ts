import { describe, expect, it } from 'vitest';
import { storeFence } from '../../src/fence/index.ts';
import { DoyenError } from '../../src/index.ts';
import { memoryStore, type Store } from '../../src/store/index.ts';
import {
  type FenceBench,
  type FenceClient,
  fenceContract,
} from '../../src/testing/fence-contract.ts';
import { listClient } from './list-client.ts';
import { token } from './token.ts';

describe('X3: storeFence', () => {
  fenceContract({ suite: { describe, it }, setup: () => new Processes() });

  it('X1: no effect happens when the mark cannot be stored', async () => {
    const store = new FailingStore();
    const fence = storeFence({ store });
    await fence.open(token(1));
    for (const failure of ['before', 'after'] as const) {
      store.failure = failure;
      let isDone = false;
      const effect = fence.admit(token(2), () => {
        isDone = true;
      });
      await expect(effect).rejects.toMatchObject({ code: 'storage-failed' });
      expect(isDone).toBe(false);
    }
    // The second attempt failed, but had stored the mark.
    expect(await fence.high()).toBe(2);
    await expect(fence.open(token(1))).rejects.toMatchObject({ code: 'fenced', high: 2 });
  });

  it('X1: what is no mark admits nobody, and is left as it is', async () => {
    for (const text of ['', '{', '7', '{"cluster":"c","epoch":"7","holder":"x"}']) {
      const store = memoryStore();
      const bytes = new TextEncoder().encode(`${text} `);
      await store.write('fence', bytes, null);
      const fence = storeFence({ store });
      await expect(fence.open(token(9))).rejects.toMatchObject({ code: 'storage-corrupt' });
      await expect(fence.high()).rejects.toMatchObject({ code: 'storage-corrupt' });
      expect(await store.read('fence')).toEqual(bytes);
    }
  });

  it('asks its store once for all that come at a time', async () => {
    let reads = 0;
    const store = memoryStore();
    const counting: Store = {
      read: (key) => {
        reads += 1;
        return store.read(key);
      },
      write: (...args) => store.write(...args),
    };
    const fence = storeFence({ store: counting });
    await Promise.all(
      Array.from({ length: 100 }, () => [fence.high(), fence.open(token(1))]).flat(),
    );
    expect(reads).toBe(1);
  });

  it('X2: opening repairs a mark that was restored from a backup', async () => {
    const store = memoryStore();
    await storeFence({ store }).open(token(10));
    const fence = storeFence({ store });
    await fence.open(token(34, 'y'));
    for (const epoch of [11, 33]) {
      await expect(fence.open(token(epoch))).rejects.toMatchObject({ verdict: 'stale', high: 34 });
    }
  });

  it('X1: a mark that another process has raised is not overwritten', async () => {
    const store = memoryStore();
    const [one, two] = [storeFence({ store }), storeFence({ store })];
    await one.open(token(1));
    await two.open(token(5, 'y'));
    await expect(one.open(token(3))).rejects.toMatchObject({ code: 'storage-conflict' });
    await expect(one.open(token(3))).rejects.toMatchObject({ code: 'fenced', high: 5 });
  });

  it('keeps a mark for each key', async () => {
    const store = memoryStore();
    await storeFence({ store, key: 'a' }).open(token(5));
    expect(await storeFence({ store, key: 'b' }).high()).toBe(0);
    expect(await storeFence({ store, key: 'a' }).high()).toBe(5);
    expect(() => storeFence({ store, key: '' })).toThrow(/^key must be 1 to 128 bytes/);
  });
});

/** A process that guards a list, and its successors: what of an old one is under way fails. */
class Processes implements FenceBench {
  readonly #texts: string[] = [];
  readonly #store = memoryStore();
  #process = this.#start();

  client(): FenceClient {
    return this.#process.client;
  }

  async effects(): Promise<readonly string[]> {
    return this.#texts;
  }

  async restart(): Promise<void> {
    this.#process.end();
    this.#process = this.#start();
  }

  #start() {
    let isRunning = true;
    const running = <Value>(value: Value): Value => {
      if (!isRunning) throw new Error('the process has ended');
      return value;
    };
    const store: Store = {
      read: async (key) => running(this.#store).read(key).then(running),
      write: async (...args) =>
        running(this.#store)
          .write(...args)
          .then(running),
    };
    const append = { push: (text: string) => running(this.#texts).push(text) };
    const client = listClient(storeFence({ store }), append);
    return {
      client,
      end: () => {
        isRunning = false;
      },
    };
  }
}

/** Fails each write, before or after it is done. */
class FailingStore implements Store {
  failure: 'before' | 'after' | undefined;
  readonly #store = memoryStore();

  read(key: string): Promise<Uint8Array | null> {
    return this.#store.read(key);
  }

  async write(key: string, next: Uint8Array, previous: Uint8Array | null): Promise<void> {
    if (this.failure !== 'before') await this.#store.write(key, next, previous);
    if (this.failure) throw new DoyenError('storage-failed', 'the disk is full');
  }
}
