import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { command } from '../command.mjs';

const LIMIT_MS = 20_000;

function node(script: string, limitMs = LIMIT_MS) {
  return command(process.execPath, ['-e', script], { limitMs, quiet: true });
}

test('a command gives its exit code and what it printed', async () => {
  const ended = await node('console.log("out"); console.error("err"); process.exit(3)');
  expect(ended.code).toBe(3);
  expect(ended.output).toContain('out');
});

test('a command over its limit is killed with all that it started', async () => {
  // The grandchild would listen on its port for ever.
  const grandchild = `const server = require('node:net').createServer();
    server.listen(0, '127.0.0.1', () => console.log(server.address().port))`;
  const script = `const { spawn } = require('node:child_process');
    spawn(process.execPath, ['-e', ${JSON.stringify(grandchild)}], { stdio: 'inherit' });
    setTimeout(() => undefined, 60_000)`;
  let port = 0;
  // A busy machine may need long to start it.
  for (let limitMs = 2_000; port === 0 && limitMs < LIMIT_MS; limitMs *= 2) {
    const ended = await node(script, limitMs);
    expect(ended.timedOut).toBe(true);
    port = Number(ended.output.trim());
  }
  expect(port).toBeGreaterThan(0);
  await expect.poll(() => connection(port), { timeout: 5_000 }).toBe('ECONNREFUSED');
}, 60_000);

test('a program that is not there ends with 127', async () => {
  const ended = await command('/nowhere/doyen', [], { limitMs: LIMIT_MS, quiet: true });
  expect(ended.code).toBe(127);
});

/** How an attempt to connect ends. */
async function connection(port: number): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return 'connected';
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'unknown';
  } finally {
    socket.destroy();
  }
}
