import { printAims } from './tabs/aims.mjs';
import { launchBrowser } from './tabs/browser.mjs';
import { printBundles } from './tabs/bundles.mjs';
import { printEdits } from './tabs/edits.mjs';
import { printFailover } from './tabs/failover.mjs';
import { printOpening } from './tabs/opening.mjs';
import { openSite } from './tabs/site.mjs';
import { printSockets } from './tabs/sockets.mjs';

/** Doyen in the tabs of one browser, beside others that do it there. */
export async function run({ isSmoke }) {
  const runs = isSmoke ? 1 : 5;
  const site = await openSite();
  try {
    console.log(`${await chromiumVersion()}. Medians of ${runs} (least–most).`);
    const failover = await printFailover({ site, runs, isSmoke });
    const opening = isSmoke ? null : await printOpening({ site, runs, count: 12 });
    if (!isSmoke) await printSockets({ site, count: 10 });
    await printEdits({ site, count: isSmoke ? 2 : 3, edits: isSmoke ? 3 : 60 });
    await printBundles();
    const all = [...failover, ...(opening ? [['tabs opened at once', opening]] : [])];
    printAims(new Map(all.map(timesOnly)));
  } finally {
    await site.close();
  }
}

function timesOnly([scenario, results]) {
  const times = [...results].map(([contender, list]) => [
    contender,
    list.map(({ tookMs }) => tookMs),
  ]);
  return [scenario, new Map(times)];
}

async function chromiumVersion() {
  const browser = await launchBrowser();
  try {
    return await browser.version();
  } finally {
    await browser.close();
  }
}
