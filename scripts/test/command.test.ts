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
  const ended = await node(script, 3_000);
  expect(ended.timedOut).toBe(true);
  const port = Number(ended.output.trim());
  expect(port).toBeGreaterThan(0);
  const socket = connect(port, '127.0.0.1');
  const [error] = await once(socket, 'error');
  expect(error.code).toBe('ECONNREFUSED');
});

test('a program that is not there ends with 127', async () => {
  const ended = await command('/nowhere/doyen', [], { limitMs: LIMIT_MS, quiet: true });
  expect(ended.code).toBe(127);
});
