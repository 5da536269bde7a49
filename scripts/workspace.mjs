import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { command } from './command.mjs';

/** The repository's folder. Everything here uses Node's built-ins only: it runs before install. */
export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');

const manifest = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));

/** Cold installs took 15 s; the limit leaves room for a slow network. */
const INSTALL_LIMIT_MS = 300_000;

/** Says what is wrong with this Node, or nothing. */
export function nodeProblem() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return undefined;
  return `Node 20.19 or newer is needed (Vite asks for it); this is ${process.version}.`;
}

/** Runs the pnpm that package.json pins, through npx: nobody has to have it installed. */
export function pnpm(args, options) {
  return command('npx', ['-y', manifest.packageManager, ...args], {
    cwd: root,
    // On Windows npx is a .cmd file, which only a shell can start.
    shell: process.platform === 'win32',
    ...options,
  });
}

/** Installs the locked dependencies, unless exactly those are installed. */
export async function install() {
  if (isInstalled()) return true;
  const { code } = await pnpm(['install', '--frozen-lockfile'], { limitMs: INSTALL_LIMIT_MS });
  return code === 0;
}

/** pnpm keeps a copy of the lockfile that node_modules was made from. */
function isInstalled() {
  const installed = path.join(root, 'node_modules/.pnpm/lock.yaml');
  if (!existsSync(installed)) return false;
  return readFileSync(installed).equals(readFileSync(path.join(root, 'pnpm-lock.yaml')));
}

/** The script of a development tool, to be run by this Node: no shell, the same on every system. */
export function tool(packageName, binName) {
  const require = createRequire(path.join(root, 'package.json'));
  let folder = path.join(root, 'node_modules', packageName);
  if (!existsSync(folder)) folder = path.dirname(require.resolve(`${packageName}/package.json`));
  const { bin } = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'));
  return path.join(folder, typeof bin === 'string' ? bin : bin[binName]);
}
