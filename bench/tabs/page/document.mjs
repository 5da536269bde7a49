import { join } from '@doyen/core';
import { tabs } from '@doyen/core/tabs';
import { doyenProvider } from '@doyen/yjs';
import { WebsocketProvider } from 'y-websocket';
import * as Y from 'yjs';
import { wallClock } from '../wall-clock.mjs';

const url = location.origin.replace('http', 'ws');

/** How each provider is made, as its documentation shows it and with its defaults. */
const providers = {
  async doyen({ doc, room, browser }) {
    const node = await join({ cluster: `${room} of ${browser}`, transport: tabs() });
    return { provider: doyenProvider(doc, { node, room, url }), node };
  },

  'y-websocket': ({ doc, room }) => ({ provider: new WebsocketProvider(url, room, doc) }),
};

/** A tab with a document: types a character when it is asked to, and tells how long the text is. */
async function main() {
  const clock = wallClock();
  const { contender, room, browser } = Object.fromEntries(new URLSearchParams(location.search));
  const doc = new Y.Doc();
  const text = doc.getText('text');
  const opened = await providers[contender]({ doc, room, browser });
  text.observe(() => void globalThis.told(text.length, clock()));
  globalThis.page = {
    get isSynced() {
      return opened.provider.synced;
    },
    get isLeader() {
      return opened.node?.leadership.isSelf ?? false;
    },
    get hasLeader() {
      return !opened.node || opened.node.leadership.current !== null;
    },
    /** When it was typed. */
    type() {
      const at = clock();
      text.insert(text.length, 'x');
      return at;
    },
  };
}

await main();
