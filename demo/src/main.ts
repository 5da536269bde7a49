import type { DoyenNode } from '@doyen/core';
import { readAddress } from './address.ts';
import type { Progress } from './coordinator/checkpoint.ts';
import { networkProblem } from './network-probe.ts';
import { Page } from './page.ts';
import { Tab } from './tab.ts';

declare global {
  /** This tab's node; another one after "Join again". */
  var doyen: DoyenNode | undefined;
  var doyenDemo: { progress(): Progress };
}

const NOTHING_YET: Progress = { total: 0, done: 0, tiles: [], refusedStale: 0 };

let tab: Tab | null = null;
const page = new Page({ joinAgain: () => void join() });

globalThis.doyenDemo = { progress: () => tab?.computation.checkpoint.progress() ?? NOTHING_YET };

async function join(): Promise<void> {
  const old = tab;
  tab = null;
  await old?.node.leave();
  try {
    tab = await Tab.join(readAddress(new URL(location.href)), page);
    globalThis.doyen = tab.node;
    page.show(tab);
  } catch (error) {
    page.showFailure(error instanceof Error ? error.message : String(error));
  }
}

addEventListener('hashchange', () => location.reload());
void join();
void networkProblem().then((problem) => page.complain(problem));
