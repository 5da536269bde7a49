import { setTimeout } from 'node:timers/promises';
import { spread, table } from '../statistics.mjs';
import { launchBrowser, until } from './browser.mjs';
import { newRoom, PROVIDERS, untilSynced } from './documents.mjs';

/** Faster than anybody types, and slow enough that each edit is alone on its way. */
const PAUSE_MS = 50;

/** How long an edit takes from one browser to another, through the server. */
export async function printEdits({ site, count, edits }) {
  const browsers = await Promise.all([launchBrowser(), launchBrowser()]);
  const rows = [];
  try {
    for (const [contender, label] of Object.entries(PROVIDERS)) {
      const times = await type({ browsers, site, contender, count, edits });
      const first = times.map((list) => Math.min(...list));
      const last = times.map((list) => Math.max(...list));
      rows.push([label, spread(first, 1), spread(last, 1)]);
      await Promise.all(browsers.map((browser) => browser.closeTabs()));
      await until(() => site.open === 0, { what: 'no sockets' });
    }
  } finally {
    await Promise.all(browsers.map((browser) => browser.close()));
  }
  console.log(`\n### ${edits} edits, from a tab to another browser: ${count} tabs each\n`);
  console.log(
    'Milliseconds from the keystroke until the first, and the last, of the tabs has it.\n',
  );
  table(['', 'first tab', 'last tab'], rows);
}

/** For each edit, how long it took to each tab of the other browser. */
async function type({ browsers, site, contender, count, edits }) {
  const room = newRoom();
  const arrivals = [];
  const told = (_tab, length, at) => {
    arrivals[length] = [...(arrivals[length] ?? []), at];
  };
  const sides = [];
  for (const [index, browser] of browsers.entries()) {
    const url = site.url('document', { contender, room, browser: index });
    const side = [];
    for (let opened = 0; opened < count; opened += 1) {
      side.push(await browser.open(url, index === 1 ? told : () => undefined));
      await untilSynced(side);
    }
    sides.push(side);
  }
  // The one in front, where a user types: the last that was opened, so that it does not lead.
  const author = sides[0].at(-1);
  if (await author.evaluate(() => globalThis.page.isLeader)) throw new Error('No follower.');
  const times = [];
  for (let edit = 1; edit <= edits; edit += 1) {
    const typedAt = await author.evaluate(() => globalThis.page.type());
    await until(() => arrivals[edit]?.length === count, { what: 'the edit is everywhere' });
    times.push(arrivals[edit].map((at) => at - typedAt));
    await setTimeout(PAUSE_MS);
  }
  return times;
}
