import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { build } from 'esbuild';
import { expect, it } from 'vitest';
import { join } from '../../src/index.ts';
import { tabs } from '../../src/tabs/index.ts';

const member = `
  import { workerData, parentPort } from 'node:worker_threads';
  import { join } from '@doyen/core';
  import { tabs } from '@doyen/core/tabs';
  const node = await join({ ...workerData, transport: tabs() });
  parentPort.once('message', () => node.leave());
  node.leadership.addEventListener('change', ({ leader }) => {
    if (leader) parentPort.postMessage(leader.id);
  });`;

it('B1: threads of one Node process are members, and a process ends once its nodes have left', async () => {
  const { outputFiles } = await build({
    stdin: { contents: member, resolveDir: fileURLToPath(new URL('.', import.meta.url)) },
    bundle: true,
    write: false,
    platform: 'node',
    format: 'esm',
    conditions: ['doyen-source'],
  });
  const code = `data:text/javascript,${encodeURIComponent(outputFiles[0]?.text ?? '')}`;
  const node = await join({ cluster: 'threads', id: 'main', startedAt: 2, transport: tabs() });
  const workerData = { cluster: 'threads', id: 'thread', startedAt: 1 };
  const thread = new Worker(new URL(code), { workerData });
  try {
    const leaders: string[] = [];
    thread.on('message', (leader: string) => leaders.push(leader));
    const isLed = () => node.leadership.current?.id === 'thread' && node.members.length === 2;
    await expect.poll(isLed, { timeout: 20_000 }).toBe(true);
    await expect.poll(() => leaders.at(-1), { timeout: 20_000 }).toBe('thread');
    thread.postMessage('leave');
    await once(thread, 'exit');
    await expect.poll(() => node.leadership.isSelf, { timeout: 20_000 }).toBe(true);
  } finally {
    await thread.terminate();
    await node.leave();
  }
});
