import { until } from './browser.mjs';
import { versionOf } from './contenders.mjs';

/** Ways to keep a document in step, by the name that a page is told. */
export const PROVIDERS = {
  'y-websocket': `y-websocket ${versionOf('y-websocket')}`,
  doyen: 'Doyen, `doyenProvider()`',
};

let rooms = 0;

/** A document that nobody has opened before. */
export function newRoom() {
  rooms += 1;
  return `bench-${rooms}`;
}

/** Waits until each of the pages is in step with the server, and knows a leader if it has any. */
export async function untilSynced(tabs) {
  for (const tab of tabs) {
    const isReady = () =>
      tab.evaluate(() => globalThis.page?.isSynced && globalThis.page.hasLeader);
    await until(isReady, { what: 'the document is in step with the server' });
  }
}
