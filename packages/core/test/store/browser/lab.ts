import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { type Browser, chromium } from 'playwright-core';

/** Serves the app of the tests at one origin, whatever browsers come and go. */
export class Site {
  readonly #server: Server;

  constructor(server: Server) {
    this.#server = server;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

export async function openSite(app = new URL('app.ts', import.meta.url)): Promise<Site> {
  const code = await bundled(app);
  const server = createServer(({ url }, response) => {
    const [type, body] = url === '/app.js' ? ['text/javascript', code] : ['text/html', PAGE];
    // Also for a sandboxed frame, which is of no origin.
    const headers = { 'content-type': type, 'access-control-allow-origin': '*' };
    response.writeHead(200, headers).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return new Site(server);
}

/** For browsers, and with nothing left out: an import that they do not have would fail the build. */
async function bundled(app: URL): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(app)],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    conditions: ['doyen-source'],
  });
  return outputFiles[0]?.text ?? '';
}

export function launch(): Promise<Browser> {
  return chromium.launch({ executablePath: CHROMIUM, args: ARGS });
}

/** A browser with a profile on disk, whose process can be killed. */
export interface MortalBrowser {
  readonly browser: Browser;
  /** Kills it and all its processes, as the system would; resolves when it is gone. */
  kill(): Promise<void>;
}

export async function launchMortal(profile: string): Promise<MortalBrowser> {
  const own = ['--headless=new', '--remote-debugging-port=0', `--user-data-dir=${profile}`];
  // A group of its own, so that all of its processes can be killed at once.
  const child = spawn(CHROMIUM, [...ARGS, ...own, 'about:blank'], {
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const exit = once(child, 'exit');
  const kill = async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null)
      process.kill(-pidOf(child), 'SIGKILL');
    await exit;
  };
  try {
    return { browser: await chromium.connectOverCDP(await endpoint(child)), kill };
  } catch (error) {
    await kill();
    throw error;
  }
}

/** The browser says on its error output where it listens. */
async function endpoint(child: ChildProcess): Promise<string> {
  const lines = createInterface({ input: child.stderr as NodeJS.ReadableStream });
  for await (const line of lines) {
    const found = /DevTools listening on (ws:\S+)/.exec(line)?.[1];
    if (found) {
      child.stderr?.resume();
      return found;
    }
  }
  throw new Error('The browser ended before it listened.');
}

function pidOf({ pid }: ChildProcess): number {
  if (pid === undefined) throw new Error('The browser did not start.');
  return pid;
}

const PAGE = '<!doctype html><title>Tests</title><script type="module" src="/app.js"></script>';
const CHROMIUM = process.env['DOYEN_CHROMIUM'] ?? '/usr/bin/chromium';
const ARGS = ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'];
