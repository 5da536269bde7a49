import { setTimeout } from 'node:timers/promises';
import { table } from '../statistics.mjs';
import { launchBrowser, until } from './browser.mjs';
import { newRoom, PROVIDERS, untilSynced } from './documents.mjs';

/** For sockets that are one too many to be noticed and closed. */
const SETTLED_MS = 3000;

/** How many sockets the tabs of one browser have at the server. */
export async function printSockets({ site, count }) {
  const rows = [];
  const browser = await launchBrowser();
  try {
    for (const [contender, label] of Object.entries(PROVIDERS)) {
      site.takeMostOpen();
      const url = site.url('document', { contender, room: newRoom(), browser: 'one' });
      const tabs = await browser.openAll(url, { count, told: () => undefined });
      await untilSynced(tabs);
      await setTimeout(SETTLED_MS);
      rows.push([label, site.open, site.takeMostOpen()]);
      await browser.closeTabs();
      await until(() => site.open === 0, { what: 'no sockets' });
    }
  } finally {
    await browser.close();
  }
  console.log(`\n### ${count} tabs have one document open\n`);
  table(['', 'sockets at the server', 'most at one time'], rows);
}
