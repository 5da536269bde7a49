import { gzipBytes, use } from '../sizes.mjs';
import { table } from '../statistics.mjs';
import { versionOf } from './contenders.mjs';

const DOYEN = [use('@doyen/core', ['join']), use('@doyen/core/tabs', ['tabs', 'webLock'])];
const SHARED = ['yjs', 'y-protocols/*', 'lib0/*'];

/** What a page pays for each. */
export async function printBundles() {
  const sized = async (label, lines, external) => {
    const bytes = await gzipBytes(lines, external);
    return [label, `${(bytes / 1000).toFixed(2)} kB`];
  };
  const doyenProvider = use('@doyen/yjs', ['doyenProvider']);
  const websocketProvider = use('y-websocket', ['WebsocketProvider']);
  const elector = ['BroadcastChannel', 'createLeaderElection'];
  const yWebsocket = `y-websocket ${versionOf('y-websocket')}: \`WebsocketProvider\``;
  console.log('\n### Sizes of what is imported: minified, then gzip at level 9\n');
  table(
    ['', 'gzip'],
    [
      ['bare `navigator.locks`', '0 kB'],
      await sized('Doyen: `join`, `tabs`, `webLock`', DOYEN),
      await sized('Doyen: `join`, `tabs`', [
        use('@doyen/core', ['join']),
        use('@doyen/core/tabs', ['tabs']),
      ]),
      await sized(
        `broadcast-channel ${versionOf('broadcast-channel')}: \`${elector.join('`, `')}\``,
        [use('broadcast-channel', elector)],
      ),
      await sized(`tab-election ${versionOf('tab-election')}: \`Tab\``, [
        use('tab-election', ['Tab']),
      ]),
      await sized(`${yWebsocket}, without yjs, y-protocols, lib0`, [websocketProvider], SHARED),
      await sized(
        'Doyen: `doyenProvider`, without those, y-websocket and the core',
        [doyenProvider],
        [...SHARED, 'y-websocket', '@doyen/core', '@doyen/core/*'],
      ),
      await sized(
        'Doyen: `doyenProvider`, `join`, `tabs`, with y-websocket, without yjs, y-protocols, lib0',
        [doyenProvider, use('@doyen/core', ['join']), use('@doyen/core/tabs', ['tabs'])],
        SHARED,
      ),
    ],
  );
}
