import { describe, expect, it } from 'vitest';
import { withResolvers } from '../../src/runtime/promise.ts';
import { type Medium, storeOn } from '../../src/store/medium.ts';

const BYTE = Uint8Array.of(1);

/** A medium that does as it is told. */
function medium(acts: Partial<Medium>): Medium {
  return { read: async () => null, replace: async () => true, ...acts };
}

describe('a store, whatever it is on', () => {
  it('Q1: what is there and is no record is said to be corrupt, and is not touched', async () => {
    for (const found of [new Uint8Array(0), new Uint8Array(64 * 1024 + 1), 'text', 5, {}]) {
      const replaced: string[] = [];
      const store = storeOn({
        read: async () => found,
        replace: async (key) => replaced.push(key) > 0,
      });
      await expect(store.read('k')).rejects.toMatchObject({ code: 'storage-corrupt' });
      expect(replaced).toEqual([]);
    }
  });

  it('Q1: a failure is told with its code and its cause', async () => {
    const cause = new Error('the disk is on fire');
    const fail = () => Promise.reject(cause);
    const store = storeOn({ read: fail, replace: fail });
    const told = { name: 'DoyenError', code: 'storage-failed', cause };
    await expect(store.read('k')).rejects.toMatchObject(told);
    await expect(store.write('k', BYTE, null)).rejects.toMatchObject(told);
    await expect(store.write('k', BYTE, null)).rejects.toThrow(/"k".*the disk is on fire/);
  });

  it('Q1: a medium that throws at once fails like one that rejects', async () => {
    const store = storeOn(
      medium({
        read: () => {
          throw new Error('at once');
        },
      }),
    );
    await expect(store.read('k')).rejects.toMatchObject({ code: 'storage-failed' });
    await store.write('k', BYTE, null);
  });

  it('Q1: a failure does not hold up what waits behind it', async () => {
    let failures = 1;
    const store = storeOn(
      medium({ read: async () => (failures-- > 0 ? Promise.reject(new Error('once')) : BYTE) }),
    );
    const [first, second] = await Promise.allSettled([store.read('k'), store.read('k')]);
    expect([first.status, second.status]).toEqual(['rejected', 'fulfilled']);
  });

  it('Q1: one thing is done at a time', async () => {
    let running = 0;
    const enter = async <T>(result: T): Promise<T> => {
      running += 1;
      expect(running).toBe(1);
      await Promise.resolve();
      running -= 1;
      return result;
    };
    const store = storeOn({ read: () => enter(null), replace: () => enter(true) });
    await Promise.all([
      store.write('k', BYTE, null),
      store.read('k'),
      store.read('other'),
      store.write('k', BYTE, BYTE),
    ]);
  });

  it('Q1: at most 64 wait; one more is refused, and the others go on', async () => {
    const { promise: gate, resolve: open } = withResolvers<null>();
    const store = storeOn(medium({ read: () => gate }));
    const waiting = Array.from({ length: 64 }, () => store.read('k'));
    await expect(store.read('k')).rejects.toMatchObject({ code: 'storage-failed' });
    open(null);
    await Promise.all(waiting);
    expect(await store.read('k')).toBeNull();
  });
});
