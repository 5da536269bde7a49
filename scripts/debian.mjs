import { existsSync, readFileSync } from 'node:fs';
import { command } from './command.mjs';

const LIMIT_MS = 300_000;

/** Installs a Debian package, where this system has such and this process may. */
export async function aptInstall(packageName) {
  if (!isDebian() || process.getuid?.() !== 0) return;
  console.log(`Installing the package ${packageName}.`);
  const env = { DEBIAN_FRONTEND: 'noninteractive' };
  await command('apt-get', ['update'], { limitMs: LIMIT_MS, env });
  await command('apt-get', ['install', '-y', '--no-install-recommends', packageName], {
    limitMs: LIMIT_MS,
    env,
  });
}

function isDebian() {
  return existsSync('/etc/os-release') && /debian/.test(readFileSync('/etc/os-release', 'utf8'));
}
