import { combine, type DoyenNode, type JoinOptions, join } from '@doyen/core';
import { tabKey, tabs } from '@doyen/core/tabs';
import { transportContract } from '@doyen/core/testing';
import { webrtc } from '../../../../../webrtc/src/index.ts';
import { countPlatform } from '../baseline.ts';

/** The contract's tests by title, to be run one by one from outside. */
const contract = new Map<string, () => Promise<void>>();
let benches = 0;
transportContract({
  suite: {
    describe: (_title, body) => body(),
    it: (title, body) => contract.set(title, body),
  },
  setup: () => {
    const name = `contract-${++benches}`;
    return { transport: () => tabs({ name }) };
  },
  capabilities: { maxBytes: 16 * 1024 * 1024 },
});

const nodes: DoyenNode[] = [];
const log: string[] = [];

/** Joins, and writes down what happens from then on. */
async function enter(
  options: Omit<JoinOptions, 'transport'> & Partial<JoinOptions>,
): Promise<void> {
  const node = await join({ transport: tabs(), ...options });
  nodes.push(node);
  node.addEventListener('membersuspect', ({ member }) => log.push(`suspect ${member.id}`));
  node.addEventListener('memberleave', ({ member, reason }) => log.push(`${reason} ${member.id}`));
  node.addEventListener('fault', ({ code }) => log.push(`fault ${code}`));
  node.leadership.addEventListener('change', ({ leader, epoch }) => {
    if (leader) log.push(`leader ${leader.id} ${epoch}`);
  });
}

/** What tests do in a page. */
const page = { contract, enter, join, tabs, tabKey, combine, webrtc, nodes, log, countPlatform };

export type TestPage = typeof page;

Object.assign(globalThis, { page });
