import { spawn } from 'node:child_process';

const running = new Set();

/**
 * Runs a program in a process group of its own, with no input, and waits for it.
 *
 * The whole group is killed at `limitMs`, so that a hanging browser of a hanging test goes too.
 * Never throws: a program that cannot be started ends with code 127.
 *
 * @param {string} file
 * @param {string[]} args
 * @param {{ limitMs: number, cwd?: string, env?: Record<string, string | undefined>, quiet?: boolean, shell?: boolean }} options
 * @returns {Promise<{ code: number, output: string, timedOut: boolean }>} `output` only when `quiet`.
 */
export function command(file, args, { limitMs, cwd, env, quiet = false, shell = false }) {
  const child = spawn(file, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', quiet ? 'pipe' : 'inherit', quiet ? 'pipe' : 'inherit'],
    detached: process.platform !== 'win32',
    shell,
  });
  running.add(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk) => {
      output += chunk;
    });
  }
  let timedOut = false;
  const limit = setTimeout(() => {
    timedOut = true;
    killGroup(child);
  }, limitMs);
  return new Promise((resolve) => {
    const end = (code) => {
      clearTimeout(limit);
      if (running.delete(child)) killGroup(child);
      resolve({ code, output, timedOut });
    };
    child.once('error', (error) => {
      output += String(error);
      end(127);
    });
    // 'exit' and not 'close': a grandchild left behind may hold the pipes open for ever.
    child.once('exit', (code, signal) => end(code ?? (signal ? 128 : 1)));
  });
}

/** Kills what is left of a child's group; nothing when the whole group has ended already. */
function killGroup(child) {
  if (child.pid === undefined) return;
  if (process.platform === 'win32') {
    if (child.exitCode === null) spawn('taskkill', ['/pid', String(child.pid), '/T', '/F']);
    return;
  }
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch (error) {
    // ESRCH: every process of the group is gone, which is the usual end.
    if (error.code !== 'ESRCH') throw error;
  }
}

/** Ends every running program when this one is told to end. Returns how to undo that. */
export function forwardSignals() {
  const codes = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 };
  const end = (signal) => {
    for (const child of running) killGroup(child);
    process.exit(codes[signal]);
  };
  for (const signal of Object.keys(codes)) process.once(signal, end);
  return () => {
    for (const signal of Object.keys(codes)) process.off(signal, end);
  };
}
