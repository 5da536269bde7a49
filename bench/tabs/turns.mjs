import { launchBrowser } from './browser.mjs';
import { CONTENDERS } from './contenders.mjs';

/**
 * What `once` gives for each contender in each of so many runs, in one browser. They take turns, so
 * that what else the machine does falls on all of them, and begin with another one each time.
 */
export async function takeTurns(runs, once) {
  const names = Object.keys(CONTENDERS);
  const results = new Map(names.map((contender) => [contender, []]));
  const browser = await launchBrowser();
  try {
    for (let turn = 0; turn < runs * names.length; turn += 1) {
      const run = Math.floor(turn / names.length);
      const contender = names[(turn + run) % names.length];
      results.get(contender).push(await once({ browser, contender }));
      await browser.closeTabs();
    }
  } finally {
    await browser.close();
  }
  return results;
}
