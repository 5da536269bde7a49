import { memoryStore } from '@doyen/core/store';
import { storeContract } from '@doyen/core/testing';
import { describe, expect, it } from 'vitest';

describe('memoryStore()', () => {
  storeContract({
    suite: { describe, it: (title, body, timeoutMs) => it(`Q1: ${title}`, body, timeoutMs) },
    setup: () => {
      const store = memoryStore();
      return { open: () => store };
    },
  });

  it('Q1: forgets with its object: another one knows nothing', async () => {
    await memoryStore().write('k', Uint8Array.of(1), null);
    expect(await memoryStore().read('k')).toBeNull();
  });

  it('Q1: holds 1024 records, and refuses one more', async () => {
    const store = memoryStore();
    for (let key = 0; key < 1024; key += 1) await store.write(`${key}`, Uint8Array.of(1), null);
    const refused = store.write('one more', Uint8Array.of(1), null);
    await expect(refused).rejects.toMatchObject({ code: 'storage-failed' });
    await store.write('7', Uint8Array.of(2), Uint8Array.of(1));
  });
});
