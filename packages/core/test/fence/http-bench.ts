import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { type Fence, httpFence } from '../../src/fence/index.ts';
import type { FenceBench, FenceClient } from '../../src/testing/fence-contract.ts';

/** Effects on a list behind HTTP. */
export function httpClient(
  fence: Fence<RequestInit | Request, Response>,
  failingUrl: string,
): FenceClient {
  const post = async (...args: Parameters<typeof fence.admit>): Promise<void> => {
    const response = await fence.admit(...args);
    await response.arrayBuffer();
    if (!response.ok) throw new Error(`status ${response.status}`);
  };
  return {
    fence,
    append: (token, body) => post(token, { method: 'POST', body }),
    appendAndFail: (token, body) => post(token, new Request(failingUrl, { method: 'POST', body })),
  };
}

/** The server as one file. */
export async function buildServer(): Promise<{ script: string; remove(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'doyen-server-'));
  const script = join(folder, 'server.mjs');
  await build({
    entryPoints: [fileURLToPath(new URL('http-server.ts', import.meta.url))],
    outfile: script,
    bundle: true,
    platform: 'node',
    format: 'esm',
  });
  return { script, remove: () => rm(folder, { recursive: true }) };
}

/** A server in a process of its own, which a restart kills. */
export class HttpBench implements FenceBench {
  readonly #script: string;
  readonly #folder: string;
  #child: ChildProcess | undefined;
  #url = '';

  static async start(script: string): Promise<HttpBench> {
    const bench = new HttpBench(script, await mkdtemp(join(tmpdir(), 'doyen-fence-')));
    await bench.#start();
    return bench;
  }

  private constructor(script: string, folder: string) {
    this.#script = script;
    this.#folder = folder;
  }

  get url(): string {
    return this.#url;
  }

  client(): FenceClient {
    return httpClient(httpFence({ url: this.#url }), `${this.#url}fails`);
  }

  async effects(): Promise<readonly string[]> {
    const response = await fetch(this.#url);
    return (await response.text()).split('\n').slice(0, -1);
  }

  async restart(): Promise<void> {
    await this.#kill();
    await this.#start();
  }

  async stop(): Promise<void> {
    await this.#kill();
    await rm(this.#folder, { recursive: true });
  }

  async #start(): Promise<void> {
    const child = spawn(process.execPath, [this.#script, this.#folder], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.#child = child;
    const [port] = await Promise.race([once(child.stdout, 'data'), once(child, 'exit')]);
    this.#url = `http://127.0.0.1:${String(port).trim()}/`;
  }

  async #kill(): Promise<void> {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  }
}
