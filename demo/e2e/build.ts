import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { tool } from '../../scripts/workspace.mjs';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');

/** Builds what the tests drive: the same as `npm start` does. */
export default function build(): void {
  const run = (script: string, ...args: string[]) =>
    execFileSync(process.execPath, [script, ...args], { cwd: root, stdio: 'inherit' });
  run(tool('typescript', 'tsc'), '-b', 'packages/webrtc', 'packages/signaling', 'packages/yjs');
  run(tool('vite', 'vite'), 'build', 'demo', '--logLevel', 'warn');
}
