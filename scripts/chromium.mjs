import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { command } from './command.mjs';
import { aptInstall } from './debian.mjs';
import { root, tool } from './workspace.mjs';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome'];

const PLACES = [
  '/usr/lib/chromium/chromium',
  '/snap/bin/chromium',
  '/opt/google/chrome/chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
  'C:\\Program Files (x86)\\Google\\Chrome\\Application\\chrome.exe',
  'C:\\Program Files (x86)\\Microsoft\\Edge\\Application\\msedge.exe',
];

/** Where Playwright's own download may not be reachable, waiting longer does not help. */
const DOWNLOAD_LIMIT_MS = 60_000;

/** Path of a Chromium that starts, looked for and at last installed; undefined when none. */
export async function ensureChromium() {
  return (await findChromium()) ?? (await downloadChromium()) ?? (await aptChromium());
}

export async function findChromium() {
  for (const place of [process.env.DOYEN_CHROMIUM, ...onPath(), ...PLACES, playwrightPlace()]) {
    if (place && existsSync(place) && (await starts(place))) return place;
  }
  return undefined;
}

/** What to tell a user whose machine has no browser and got none. */
export const CHROMIUM_ADVICE =
  'No Chromium was found, and none could be installed. Install Chromium or Chrome (Debian: ' +
  '`apt-get install chromium`), or name one: DOYEN_CHROMIUM=/path/to/chromium npm test';

function onPath() {
  const folders = (process.env.PATH ?? '').split(path.delimiter);
  const suffix = process.platform === 'win32' ? '.exe' : '';
  return NAMES.flatMap((name) => folders.map((folder) => path.join(folder, name + suffix)));
}

/** Present once Playwright is installed; the browser behind it may not be. */
function playwrightPlace() {
  const require = createRequire(path.join(root, 'package.json'));
  return require('playwright-core').chromium.executablePath();
}

/** A file may be a stub that asks for a snap, or lack its libraries: only a version proves it. */
async function starts(place) {
  // Chrome for Windows opens a window instead of printing its version.
  if (process.platform === 'win32') return true;
  const { code, output } = await command(place, ['--version'], { limitMs: 10_000, quiet: true });
  return code === 0 && /\d+\.\d+/.test(output);
}

async function downloadChromium() {
  console.log('No browser found: asking Playwright for its Chromium (60 s at most).');
  const script = tool('playwright-core', 'playwright-core');
  await command(process.execPath, [script, 'install', 'chromium'], { limitMs: DOWNLOAD_LIMIT_MS });
  return findChromium();
}

async function aptChromium() {
  await aptInstall('chromium');
  return findChromium();
}
