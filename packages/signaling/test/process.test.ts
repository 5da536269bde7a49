import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { roomIdOf } from '../src/index.ts';
import { RawSocket } from './raw-socket.ts';

const ROOM = roomIdOf('process tests');
const sourceFolder = fileURLToPath(new URL('../src', import.meta.url));
const children: ChildProcess[] = [];
let scratch = '';

beforeAll(async () => {
  scratch = await mkdtemp(path.join(tmpdir(), 'doyen-signaling-'));
});
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});
afterAll(() => rm(scratch, { recursive: true }));

/** Bundles TypeScript, so that a process without a loader can run it. */
async function bundle(name: string, source: string): Promise<string> {
  const outfile = path.join(scratch, `${name}.cjs`);
  await build({
    stdin: { contents: source, loader: 'ts', resolveDir: sourceFolder },
    bundle: true,
    alias: {
      '@doyen/signaling/node': path.join(sourceFolder, 'node.ts'),
      '@doyen/signaling': path.join(sourceFolder, 'index.ts'),
    },
    platform: 'node',
    format: 'cjs',
    outfile,
    logLevel: 'silent',
  });
  return outfile;
}

function run(file: string, env: Record<string, string> = {}, args: readonly string[] = []) {
  const child = spawn(process.execPath, [file, ...args], { env: { ...process.env, ...env } });
  children.push(child);
  let output = '';
  let wake: () => void = () => undefined;
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (data: Buffer) => {
      output += data.toString();
      wake();
    });
  const exited = new Promise<number | null>((resolve) => child.on('exit', resolve));
  const said = async (pattern: RegExp): Promise<string> => {
    for (;;) {
      const match = pattern.exec(output);
      if (match) return match[1] ?? match[0];
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
  return { child, exited, said, output: () => output };
}

const LIMIT = { timeout: 20_000 };

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  test(`S16: the command prints its address, and ends cleanly on ${signal}`, LIMIT, async () => {
    const file = await bundle('cli', await readFile(path.join(sourceFolder, 'cli.ts'), 'utf8'));
    const { child, exited, said } = run(file, { PORT: '0', HOST: '127.0.0.1' });
    const url = await said(/(ws:\S+)/);
    const raw = new RawSocket(`${url}/rooms/${ROOM}`);
    await raw.enter();
    child.kill(signal);
    expect(await raw.heard('draining')).toMatchObject({ spreadMs: 1_000 });
    expect(await raw.closed).toBe(1012);
    expect(await exited).toBe(0);
  });
}

test('S23: the command takes its origins from the environment', LIMIT, async () => {
  const file = await bundle('cli', await readFile(path.join(sourceFolder, 'cli.ts'), 'utf8'));
  const { said } = run(file, { PORT: '0', ORIGINS: 'https://a.example, https://b.example' });
  const url = `${await said(/(ws:\S+)/)}/rooms/${ROOM}`;
  await new RawSocket(url, { headers: { origin: 'https://b.example' } }).enter();
  const stranger = new RawSocket(url, { headers: { origin: 'https://c.example' } });
  expect(await stranger.closed).toBe(1008);
});

test('S16: the command says what is wrong, and exits with 1', LIMIT, async () => {
  const file = await bundle('cli', await readFile(path.join(sourceFolder, 'cli.ts'), 'utf8'));
  const { exited, output } = run(file, { PORT: 'http' });
  expect(await exited).toBe(1);
  expect(output()).toBe('doyen-signaling: PORT must be 0 to 65535, got "http"\n');
});

test(
  'S16: the command explains itself, and refuses what it does not know with 2',
  LIMIT,
  async () => {
    const file = await bundle('cli', await readFile(path.join(sourceFolder, 'cli.ts'), 'utf8'));
    const help = run(file, {}, ['--help']);
    expect(await help.exited).toBe(0);
    expect(help.output()).toMatch(/^Usage: doyen-signaling .*HOST.*PORT.*ORIGINS.*TRUST_PROXY/s);
    for (const wrong of ['--port=80', '8787']) {
      const { exited, output } = run(file, { PORT: '0' }, [wrong]);
      expect(await exited).toBe(2);
      expect(output()).toMatch(/^doyen-signaling: .*(--port|8787).*Usage: /s);
    }
  },
);

test('S22: neither a closed client nor a closed server keeps a process alive', LIMIT, async () => {
  const file = await bundle(
    'lifetime',
    `import { WebSocket } from 'ws';
     import { connectSignaling } from './index.ts';
     import { createSignalingServer } from './node.ts';
     const server = createSignalingServer();
     server.listen().then(({ url }) => {
       const client = connectSignaling({ url, room: '${ROOM}', WebSocket });
       client.addEventListener('ready', async () => {
         client.close();
         await server.close();
         console.log('closed');
       });
     });`,
  );
  const { exited, said } = run(file);
  await said(/closed/);
  const start = performance.now();
  expect(await exited).toBe(0);
  // Every timer that is left behind would take ten seconds or more.
  expect(performance.now() - start).toBeLessThan(5_000);
});

test('S2: the example of the README runs as it stands', LIMIT, async () => {
  const readme = await readFile(path.join(sourceFolder, '../README.md'), 'utf8');
  const example = /```js\n(.*?)```/s.exec(readme)?.[1] ?? '';
  // What it awaits at its top level needs a module, which this bundle is not.
  const [, imports = '', body = ''] = /^((?:import [^\n]*\n)+)(.*)$/s.exec(example) ?? [];
  const file = await bundle('example', `${imports}void (async () => {${body}})()`);
  const { exited, output } = run(file);
  expect(await exited).toBe(0);
  expect(output()).toMatch(/^hello from [\w-]{22}\n$/);
});
