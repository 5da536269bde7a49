import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { command } from '../scripts/command.mjs';
import { root, tool } from '../scripts/workspace.mjs';

const BUILD_LIMIT_MS = 120_000;

/** A picture of one tile: the tabs have nothing to do but to be members. */
const IDLE = '?width=16&height=16&tile=16&iterations=1';

/** Builds the demo and serves it with its signaling server on a free port. */
export async function startSite() {
  const args = ['build', 'demo', '--logLevel', 'warn'];
  const { code } = await command(process.execPath, [tool('vite', 'vite'), ...args], {
    cwd: root,
    limitMs: BUILD_LIMIT_MS,
  });
  if (code !== 0) throw new Error('The demo could not be built.');
  const { startDemo } = await import(pathToFileURL(path.join(root, 'demo/server.mjs')).href);
  const demo = await startDemo({ port: 0 });
  return {
    /** Tabs of one name are a cluster. */
    url: (cluster) => `http://localhost:${demo.port}/${IDLE}#${cluster}`,
    close: () => demo.close(),
  };
}
