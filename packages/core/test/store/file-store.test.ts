import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileStore } from '@doyen/core/store';
import { storeContract } from '@doyen/core/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

describe('fileStore()', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'doyen-store-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  storeContract({
    suite: { describe, it: (title, body, timeoutMs) => it(`Q1: ${title}`, body, timeoutMs) },
    setup: () => ({ open: () => fileStore(join(folder, 'record')) }),
    capabilities: { hasKeys: false },
  });

  it('Q1: the file holds the bytes of the record, and nothing is left beside it', async () => {
    const store = fileStore(join(folder, 'record'));
    await store.write('k', Uint8Array.of(1, 2), null);
    const refused = store.write('k', Uint8Array.of(3), null);
    await expect(refused).rejects.toMatchObject({ code: 'storage-conflict' });
    expect(new Uint8Array(await readFile(join(folder, 'record')))).toEqual(Uint8Array.of(1, 2));
    expect(await readdir(folder)).toEqual(['record']);
  });

  it('Q1: one file is one record, whatever the key', async () => {
    const store = fileStore(join(folder, 'record'));
    await store.write('a', Uint8Array.of(1), null);
    expect(await store.read('b')).toEqual(Uint8Array.of(1));
  });

  it('Q1: what crashes left beside the record is not read, and goes with the next write', async () => {
    const store = fileStore(join(folder, 'record'));
    await writeFile(join(folder, 'record.0123456789abcdef.tmp'), 'torn');
    expect(await store.read('k')).toBeNull();
    await store.write('k', Uint8Array.of(1), null);
    expect(await readdir(folder)).toEqual(['record']);
  });

  it('Q1: files of others are left alone, also where names are alike', async () => {
    const others = [
      'other.0123456789abcdef.tmp',
      'record.0123456789abcdef',
      'record.0123456789abcdef.tmp2',
      'record.backup.tmp',
      'record2.0123456789abcdef.tmp',
      'record.2.0123456789abcdef.tmp',
      'recordX0123456789abcdef.tmp',
    ];
    for (const name of others) await writeFile(join(folder, name), 'mine');
    await fileStore(join(folder, 'record')).write('k', Uint8Array.of(1), null);
    expect(await readdir(folder)).toEqual([...others, 'record'].sort());
  });

  it('Q1: a file that is empty or too long is corrupt, and stays as it is', async () => {
    for (const length of [0, 64 * 1024 + 1, 1024 * 1024]) {
      await writeFile(join(folder, 'record'), new Uint8Array(length));
      const store = fileStore(join(folder, 'record'));
      await expect(store.read('k')).rejects.toMatchObject({ code: 'storage-corrupt' });
      for (const previous of [null, Uint8Array.of(1)]) {
        const refused = store.write('k', Uint8Array.of(1), previous);
        await expect(refused).rejects.toMatchObject({ code: 'storage-conflict' });
      }
      expect(await readFile(join(folder, 'record'))).toHaveLength(length);
    }
  });

  it('Q1: a folder that is not there is a failure, not an empty record', async () => {
    const store = fileStore(join(folder, 'unmounted', 'record'));
    await expect(store.read('k')).rejects.toMatchObject({
      code: 'storage-failed',
      cause: { code: 'ENOENT' },
    });
    const failed = store.write('k', Uint8Array.of(1), null);
    await expect(failed).rejects.toMatchObject({ code: 'storage-failed' });
    await mkdir(join(folder, 'unmounted'));
    expect(await store.read('k')).toBeNull();
    await store.write('k', Uint8Array.of(1), null);
  });

  it('Q1: a folder in the place of the file is a failure, and stays', async () => {
    await mkdir(join(folder, 'record'));
    const store = fileStore(join(folder, 'record'));
    await expect(store.read('k')).rejects.toMatchObject({ code: 'storage-failed' });
    const failed = store.write('k', Uint8Array.of(1), null);
    await expect(failed).rejects.toMatchObject({ code: 'storage-failed' });
    expect(await readdir(folder)).toEqual(['record']);
  });

  it('Q1: two ways to the folder lead to one record', async () => {
    await mkdir(join(folder, 'real'));
    await symlink(join(folder, 'real'), join(folder, 'link'));
    await fileStore(join(folder, 'real', 'record')).write('k', Uint8Array.of(1), null);
    const other = fileStore(join(folder, 'link', 'record'));
    expect(await other.read('k')).toEqual(Uint8Array.of(1));
    await other.write('k', Uint8Array.of(2), Uint8Array.of(1));
  });

  it('Q1: a relative path is taken from where the process was when the store was made', async () => {
    const before = process.cwd();
    try {
      process.chdir(folder);
      const store = fileStore('record');
      process.chdir(before);
      await store.write('k', Uint8Array.of(1), null);
    } finally {
      process.chdir(before);
    }
    expect(await readdir(folder)).toEqual(['record']);
  });

  it('Q1: a path must name a file', () => {
    expect(() => fileStore('')).toThrow(RangeError);
    expect(() => fileStore(undefined as unknown as string)).toThrow(TypeError);
  });

  it('Q1: where there are no files, the first use says so', async () => {
    const { process } = globalThis;
    const platforms = [undefined, {}, { getBuiltinModule: () => undefined }];
    for (const shim of platforms) {
      Object.defineProperty(globalThis, 'process', { value: shim, configurable: true });
      try {
        const store = fileStore('record');
        const results = await Promise.allSettled([
          store.read('k'),
          store.write('k', Uint8Array.of(1), null),
        ]);
        for (const result of results) {
          expect(result).toMatchObject({ status: 'rejected', reason: { code: 'unsupported' } });
        }
      } finally {
        Object.defineProperty(globalThis, 'process', { value: process, configurable: true });
      }
    }
  });
});
