import { readFileSync } from 'node:fs';
import path from 'node:path';
import { root } from '../../scripts/workspace.mjs';

/** What is measured, by the name that a page is told. `isOurs`: has to reach the aims. */
export const CONTENDERS = {
  locks: { label: 'bare `navigator.locks`' },
  doyen: { label: 'Doyen, `webLock()`', isOurs: true },
  oldest: { label: 'Doyen, `oldestNode()`', isOurs: true },
  'broadcast-channel': { label: `broadcast-channel ${versionOf('broadcast-channel')}` },
  'tab-election': { label: `tab-election ${versionOf('tab-election')}` },
};

/** The installed version of a package of the benchmarks. */
export function versionOf(name) {
  const file = path.join(root, 'bench/node_modules', name, 'package.json');
  return JSON.parse(readFileSync(file, 'utf8')).version;
}
