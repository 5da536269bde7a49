import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { command } from '../command.mjs';
import { pnpm, root, tool } from '../workspace.mjs';

// What users get: the packed packages, installed into blank projects by npm.

const PACKAGES = ['core', 'signaling', 'webrtc', 'yjs'];
const LIMIT_MS = 100_000;

const scratch = mkdtempSync(path.join(tmpdir(), 'doyen-pack-'));
const tarballs = new Map<string, string>();

beforeAll(async () => {
  const projects = PACKAGES.map((name) => `packages/${name}`);
  await succeed(
    command(process.execPath, [tool('typescript', 'tsc'), '-b', ...projects], quiet(root)),
  );
  for (const name of PACKAGES) {
    const to = path.join(scratch, 'packed', name);
    const from = path.join(root, 'packages', name);
    await succeed(pnpm(['pack', '--pack-destination', to], quiet(from)));
    tarballs.set(name, path.join(to, readdirSync(to)[0] ?? 'nothing was packed'));
  }
}, 2 * LIMIT_MS);

afterAll(() => rmSync(scratch, { recursive: true, force: true }));

describe.each(PACKAGES)('the packed %s', (name) => {
  test('is clean for publint', async () => {
    await succeed(run(tool('publint', 'publint'), [tarball(name), '--strict'], root));
  });

  test('has types that resolve for every importer of ES modules', async () => {
    const attw = tool('@arethetypeswrong/cli', 'attw');
    await succeed(run(attw, [tarball(name), '--profile', 'esm-only', '--no-emoji'], root));
  });

  test('holds its licence, a README and no tests', async () => {
    const listing = await succeed(command('tar', ['-tzf', tarball(name)], quiet(root)));
    const files = listing.split('\n');
    expect(files).toEqual(expect.arrayContaining(['package/LICENSE', 'package/README.md']));
    expect(files.filter((file) => /\.test\.|tsbuildinfo|tsconfig/.test(file))).toEqual([]);
  });
});

describe('a blank Node project', () => {
  const folder = path.join(scratch, 'node-project');
  // The server's types name Node's.
  beforeAll(() => installInto(folder, ['@types/node@20']));

  test('compiles the example of the README with --strict, and runs it', async () => {
    writeFileSync(path.join(folder, 'example.ts'), readmeExample());
    const options = ['--strict', '--target', 'es2022', '--module', 'nodenext'];
    await succeed(run(tool('typescript', 'tsc'), [...options, 'example.ts'], folder));
    const printed = await succeed(run('example.js', [], folder));
    const [, left, next] = /^(\w+) left, (\w+) took over$/m.exec(printed) ?? [];
    expect(left).toBeDefined();
    expect(next).not.toBe(left);
    expect(printed).toContain(`${next} leads in epoch`);
  });

  test('type-checks every entry point without skipping library checks', async () => {
    const imports = entryPoints().map((entry, at) => `export * as e${at} from '${entry}';`);
    writeFileSync(path.join(folder, 'entries.ts'), imports.join('\n'));
    const options = ['--strict', '--target', 'es2022', '--module', 'nodenext', '--noEmit'];
    const lib = ['--lib', 'es2023,dom,dom.iterable', '--types', 'node', '--skipLibCheck', 'false'];
    await succeed(run(tool('typescript', 'tsc'), [...options, ...lib, 'entries.ts'], folder));
  });

  test('imports every entry point without a DOM, and ends by itself', async () => {
    const script = `for (const entry of ${JSON.stringify(entryPoints())}) await import(entry);`;
    writeFileSync(path.join(folder, 'imports.mjs'), script);
    await succeed(run('imports.mjs', [], folder));
  });

  test('starts the signaling server by its command', async () => {
    const bin = path.join(folder, 'node_modules/.bin/doyen-signaling');
    expect(existsSync(bin)).toBe(true);
    writeFileSync(path.join(folder, 'server.mjs'), serverProbe(bin));
    expect(await succeed(run('server.mjs', [], folder))).toContain('welcome');
  });
});

describe('a blank Vite project', () => {
  const folder = path.join(scratch, 'vite-project');

  test('builds all of Doyen without any configuration', async () => {
    await installInto(folder, []);
    mkdirSync(path.join(folder, 'src'));
    writeFileSync(
      path.join(folder, 'index.html'),
      '<script type="module" src="/src/main.js"></script>',
    );
    writeFileSync(path.join(folder, 'src/main.js'), VITE_MAIN);
    const printed = await succeed(run(tool('vite', 'vite'), ['build'], folder));
    expect(printed).not.toMatch(/externalized|is not exported/);
    const assets = path.join(folder, 'dist/assets');
    const bundle = readFileSync(path.join(assets, readdirSync(assets)[0] ?? ''), 'utf8');
    expect(bundle).toContain('RTCPeerConnection');
  });
});

const VITE_MAIN = `import { join } from '@doyen/core';
import { webrtc } from '@doyen/webrtc';
import { doyenProvider } from '@doyen/yjs';
import { Doc } from 'yjs';
const transport = webrtc({ signaling: 'ws://localhost:1/v1' });
const node = await join({ cluster: 'blank', transport });
document.title = doyenProvider(new Doc(), { node, room: 'blank' }).status;
`;

/** Starts the command on a free port, says hello like a client, and ends it. */
function serverProbe(bin: string): string {
  return `import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
const { WebSocket } = createRequire(import.meta.url)('ws');
const server = spawn(process.execPath, [${JSON.stringify(bin)}], {
  env: { ...process.env, PORT: '0', HOST: '127.0.0.1' },
  stdio: ['ignore', 'pipe', 'inherit'],
});
server.stdout.on('data', (chunk) => {
  const port = /:(\\d+)/.exec(chunk)?.[1];
  if (!port) return;
  const room = 'a'.repeat(22);
  const socket = new WebSocket('ws://127.0.0.1:' + port + '/v1/rooms/' + room, 'doyen.signal.v1');
  socket.on('message', (text) => {
    console.log(String(text));
    server.once('exit', () => process.exit(0));
    server.kill('SIGTERM');
  });
});
`;
}

async function installInto(folder: string, more: readonly string[]): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const manifest = { name: 'blank', private: true, type: 'module' };
  writeFileSync(path.join(folder, 'package.json'), JSON.stringify(manifest));
  // All at once: each finds the others, which no registry has.
  const args = ['install', '--no-audit', '--no-fund', ...PACKAGES.map(tarball), ...more];
  await succeed(command('npm', args, quiet(folder)));
}

function readmeExample(): string {
  const example = /```ts\n([\s\S]*?)```/.exec(readFileSync(path.join(root, 'README.md'), 'utf8'));
  return example?.[1] ?? 'the README has no example';
}

function entryPoints(): string[] {
  return PACKAGES.flatMap((name) => {
    const file = path.join(root, 'packages', name, 'package.json');
    const { name: scoped, exports } = JSON.parse(readFileSync(file, 'utf8'));
    const entries = Object.keys(exports).filter((entry) => !entry.endsWith('.json'));
    return entries.map((entry) => path.posix.join(scoped, entry));
  });
}

function tarball(name: string): string {
  return tarballs.get(name) ?? `${name} was not packed`;
}

function run(script: string, args: string[], cwd: string) {
  return command(process.execPath, [script, ...args], quiet(cwd));
}

function quiet(cwd: string) {
  return { cwd, limitMs: LIMIT_MS, quiet: true, env: { NO_COLOR: '1' } };
}

async function succeed(ending: ReturnType<typeof command>): Promise<string> {
  const { code, output } = await ending;
  if (code !== 0) throw new Error(`exit code ${code}\n${output}`);
  return output;
}
