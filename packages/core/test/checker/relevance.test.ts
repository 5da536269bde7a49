import { expect, it } from 'vitest';
import { BALLOT_RULES } from '../../src/machine/quorum/ballot.ts';
import { compareConfigs } from '../../src/machine/quorum/config.ts';
import type { Packet } from './packet.ts';
import { search } from './search.ts';
import { outcomeOf, type VoterState } from './voter-state.ts';
import { World } from './world.ts';

// What the checker leaves out must be what nobody would miss.

it('Q8, Q9: a packet that is left out changes nobody, and never will', { timeout: 120_000 }, () => {
  const world = new World({ epochs: 2, versions: 2 });
  search(world);
  const { catalogue } = world;
  const [stateCount, packetCount] = [catalogue.states.size, catalogue.packets.size];
  const missed: (readonly [Packet, VoterState])[] = [];
  let idleCount = 0;
  for (let state = 0; state < stateCount; state += 1) {
    const later = successorsOf(world, state, packetCount);
    for (let packet = 0; packet < packetCount; packet += 1) {
      if (catalogue.relevance(state)[packet] === 1) continue;
      const pair = [catalogue.packets.value(packet), catalogue.states.value(state)] as const;
      if (!canCome(...pair)) continue;
      idleCount += 1;
      const isForGood = later.every((next) => catalogue.relevance(next)[packet] === 0);
      if (!isIdle(...pair) || !isForGood) missed.push(pair);
    }
  }
  expect(missed.slice(0, 3)).toEqual([]);
  expect(idleCount).toBeGreaterThan(10_000);
});

/** What can become of a voter in one step, whatever it may hear. */
function successorsOf({ catalogue }: World, state: number, packetCount: number): number[] {
  const moves = [...catalogue.ownMoves(state)];
  for (let packet = 0; packet < packetCount; packet += 1) {
    moves.push(...catalogue.hearMoves(state, packet));
  }
  return moves.map((move) => move.state);
}

/** Whether hearing it leaves the voter as it is, and gives no vote. */
function isIdle(packet: Packet, state: VoterState): boolean {
  return [true, false].every((isRecent) => {
    const outcome = outcomeOf(state, { type: 'hear', packet, isRecent }, BALLOT_RULES);
    const votes = outcome.sent.filter(
      (sent) => sent.type === 'reply' && sent.message.type === 'vote',
    );
    return votes.length === 0 && JSON.stringify(outcome.state) === JSON.stringify(state);
  });
}

/** An answer comes to who has asked, and after it has reached the epoch and the config in question. */
function canCome(packet: Packet, { ballot }: VoterState): boolean {
  const { epoch, config } = ballot.record;
  if (packet.type !== 'reply') return true;
  const { to, message } = packet;
  if (to !== ballot.self.instance || message.epoch > epoch) return false;
  if (message.type === 'vote') return true;
  const held = { epoch: message.configEpoch, version: message.configVersion };
  return config !== null && compareConfigs(config, held) >= 0;
}
