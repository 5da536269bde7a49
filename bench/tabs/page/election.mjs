import { wallClock } from '../wall-clock.mjs';
import { contenders } from './contenders.mjs';

/** One tab with one contender, named by the address; what happens here goes to `globalThis.told`. */
async function main() {
  const clock = wallClock();
  // Kept as well: what a page says as it goes into the back/forward cache arrives nowhere.
  globalThis.said = [];
  const tell = (what) => {
    const at = clock();
    globalThis.said.push([what, at]);
    void globalThis.told(what, at);
  };
  addEventListener('pageshow', ({ persisted }) => persisted && tell('restored'));
  const { contender, cluster } = Object.fromEntries(new URLSearchParams(location.search));
  // Kept, so that no part of it is collected as garbage.
  globalThis.contender = await contenders[contender](cluster, {
    led: () => tell('leads'),
    lost: () => tell('loses'),
  });
  tell('entered');
}

await main();
