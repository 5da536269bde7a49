import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { fileStore } from '@doyen/core/store';
import { build } from 'esbuild';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Orders } from './file-writer.ts';

const [OLD, NEXT] = [Uint8Array.of(1, 1), Uint8Array.of(2, 2)];

describe.runIf(process.platform === 'linux')('fileStore(), in real processes', () => {
  let tools: string;
  let folder: string;
  const children: ChildProcess[] = [];

  beforeAll(async () => {
    tools = await mkdtemp(join(tmpdir(), 'doyen-writer-'));
    await build({
      entryPoints: [fileURLToPath(new URL('file-writer.ts', import.meta.url))],
      outfile: join(tools, 'writer.mjs'),
      bundle: true,
      platform: 'node',
      format: 'esm',
    });
  });
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'doyen-store-'));
  });
  afterEach(async () => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
    await rm(folder, { recursive: true });
  });
  afterAll(() => rm(tools, { recursive: true }));

  function start(orders: Omit<Orders, 'path'>) {
    const given = JSON.stringify({ path: join(folder, 'record'), ...orders });
    const child = spawn(process.execPath, [join(tools, 'writer.mjs'), given], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    children.push(child);
    return { child, said: text(child.stdout).then((said) => said.trim()) };
  }

  it('Q1: killed at any moment of a write, it leaves the old record or the new one', async () => {
    const found: unknown[] = [];
    for (let act = 0; ; act += 1) {
      await rm(join(folder, 'record'), { force: true });
      const store = fileStore(join(folder, 'record'));
      await store.write('k', OLD, null);
      const write = { next: [...NEXT], previous: [...OLD] };
      const said = await start({ write, signal: { name: 'SIGKILL', act } }).said;
      const record = await store.read('k');
      await store.write('k', Uint8Array.of(3), record);
      expect(await readdir(folder)).toEqual(['record']);
      if (said) {
        expect([said, record]).toEqual(['written', NEXT]);
        break;
      }
      found.push(record?.join());
    }
    expect([...new Set(found)]).toEqual([OLD.join(), NEXT.join()]);
  });

  it('Q1: one that slept through the write of another does not overwrite it when it wakes', async () => {
    const store = fileStore(join(folder, 'record'));
    for (let act = 0; ; act += 1) {
      const previous = await store.read('k');
      const write = { next: [2, act], previous: previous && [...previous] };
      const { child, said } = start({ write, signal: { name: 'SIGSTOP', act } });
      const hasEnded = await Promise.race([said.then(() => true), stopped(child)]);
      if (hasEnded) break;
      const seen = await store.read('k');
      await store.write('k', Uint8Array.of(1, act), seen);
      child.kill('SIGCONT');
      // It had written before it stopped, or it never does.
      expect(await said).toBe(seen?.[0] === 2 ? 'written' : 'storage-conflict');
      expect(await store.read('k')).toEqual(Uint8Array.of(1, act));
    }
    expect(await readdir(folder)).toEqual(['record']);
  });

  it('Q1: three that count in one record lose nothing and count nothing twice', async () => {
    const wins = 30;
    await writeFile(join(folder, 'record'), new Uint8Array(4));
    const said = [1, 2, 3].map(() => start({ wins }).said);
    const losses = (await Promise.all(said)).map(Number);
    expect(losses.every((count) => count >= 0)).toBe(true);
    const record = await fileStore(join(folder, 'record')).read('k');
    expect(new DataView(record?.buffer as ArrayBuffer).getUint32(0)).toBe(3 * wins);
    expect(await readdir(folder)).toEqual(['record']);
  });
});

/** Resolves with `false` once the process stands still, for which there is no event; `true`: it is gone. */
async function stopped({ pid }: ChildProcess): Promise<boolean> {
  for (;;) {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
    if (stat === '' || /\) T /.test(stat)) return stat === '';
    await setTimeout(5);
  }
}
