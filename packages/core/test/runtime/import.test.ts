import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { expect, it } from 'vitest';

const entry = fileURLToPath(new URL('../../src/index.ts', import.meta.url));

/** Runs `script` after the bundled core in a Node process of its own. */
async function run(script: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'doyen-import-'));
  const outfile = join(folder, 'script.mjs');
  await build({
    stdin: { contents: script.replaceAll('@doyen/core', entry), resolveDir: '.', loader: 'ts' },
    bundle: true,
    minify: true,
    outfile,
    format: 'esm',
    platform: 'node',
  });
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [outfile], { timeout: 10_000 });
    return stdout.trim();
  } finally {
    await rm(folder, { recursive: true });
  }
}

it('importing the core touches nothing', async () => {
  const script = `
    const names = ['setTimeout', 'setInterval', 'queueMicrotask', 'fetch', 'crypto'];
    const before = Object.keys(globalThis).length;
    for (const name of names) {
      const value = globalThis[name];
      Object.defineProperty(globalThis, name, { configurable: true, get() { console.log(name); return value; } });
    }
    await import('@doyen/core');
    console.log(Object.keys(globalThis).length - before);`;
  expect(await run(script)).toBe('0');
});

it('a process ends by itself once its node has left', async () => {
  const script = `
    import { join, memory } from '@doyen/core';
    const node = await join({ cluster: 'c', transport: memory() });
    await node.leadership.waitForLeader();
    await node.leave();
    console.log(node.state);`;
  expect(await run(script)).toBe('left');
});

it('an error of a listener is reported by the platform, and breaks nothing', async () => {
  const script = `
    import { join, memory } from '@doyen/core';
    process.on('uncaughtException', (error) => console.log(error.message));
    const node = await join({ cluster: 'c', transport: memory() });
    node.leadership.addEventListener('change', () => { throw new Error('listener'); });
    await node.leadership.waitForLeader();
    await node.leave();
    await new Promise((resolve) => setImmediate(resolve));
    console.log(node.state);`;
  expect(await run(script)).toBe('listener\nleft');
});

it('B6: no part needs a secure context', async () => {
  const script = `
    import { join, memory } from '@doyen/core';
    const secure = crypto;
    const insecure = { getRandomValues: (array) => secure.getRandomValues(array) };
    Object.defineProperty(globalThis, 'crypto', { value: insecure });
    const node = await join({ cluster: 'c', transport: memory() });
    await node.leadership.waitForLeader();
    await node.leave();
    console.log(node.id.length, node.instance.length);`;
  expect(await run(script)).toBe('12 16');
});
