// One member that keeps to the format and lies: what it says must bind nobody but itself, and what
// damage it does must be over soon after it has gone.
import { describe, expect, it } from 'vitest';
import type { Claim } from '../../src/machine/claim.ts';
import type { ClaimMessage } from '../../src/machine/message.ts';
import type { MemberRecord } from '../../src/machine/record.ts';
import { record } from './bench.ts';
import { instancesOf, linkedTrio, type MachineNetwork } from './machine-network.ts';

const TRIO = ['a-1', 'b-1', 'c-1'];

/** The trio, and a liar whom only `b-1` has a link to. */
function trioWithLiar(self: Partial<MemberRecord> = {}): MachineNetwork {
  const network = linkedTrio();
  network.addLiar(record({ id: 'h', instance: 'h-1', birth: 5, startedAt: 5000, ...self }), 'b-1');
  network.run(1000);
  return network;
}

/** The liar has said what it had to say, goes, and two minutes pass. */
function pass(network: MachineNetwork): void {
  network.removeLiar('h-1', 'b-1');
  network.run(120_000);
}

/** A claim of the liar in the name of `a-1`, which really leads. */
function forged(patch: Partial<Claim>): ClaimMessage {
  const claim = {
    epoch: 1,
    leader: { id: 'a', startedAt: 1000 },
    instance: 'a-1',
    vacated: false,
    led: true,
    defends: null,
    ...patch,
  };
  return { type: 'claim', claim, leader: null, probe: null };
}

/** Everybody follows `a-1` at one epoch, which does not move any more. */
function expectPeaceUnderA(network: MachineNetwork): void {
  const epochs = () => TRIO.map((instance) => network.at(instance).epoch);
  const leaders = TRIO.map((instance) => network.at(instance).leader?.instance);
  const before = epochs();
  expect(leaders).toEqual(['a-1', 'a-1', 'a-1']);
  expect(new Set(before).size).toBe(1);
  network.run(30_000);
  expect(epochs()).toEqual(before);
}

describe('lies about others', () => {
  it('M3: an absurd incarnation told of the leader changes nobody’s view of it', () => {
    const network = trioWithLiar();
    const of = { id: 'a', instance: 'a-1', startedAt: 0, candidate: false, incarnation: 2 ** 31 };
    network.tell('h-1', 'b-1', { type: 'records', records: [record(of)] });
    pass(network);
    expectPeaceUnderA(network);
  });

  it('M7: a leave that a third party tells of does not evict who is heard', () => {
    const network = trioWithLiar();
    const left = record({ id: 'c', instance: 'c-1', startedAt: 3000, status: 'left' });
    network.tell('h-1', 'b-1', { type: 'records', records: [left] });
    pass(network);
    expect(instancesOf(network.at('a-1'))).toContain('c-1');
  });

  it('E3: a claim of a far epoch in the name of the leader leaves one leader and one epoch', () => {
    const network = trioWithLiar();
    network.tell('h-1', 'b-1', forged({ epoch: 9 }));
    pass(network);
    expectPeaceUnderA(network);
  });

  it('E3: the leader’s own claim, forged as vacated, leaves no follower without a leader', () => {
    const network = trioWithLiar();
    network.tell('h-1', 'b-1', forged({ vacated: true }));
    pass(network);
    for (const instance of ['b-1', 'c-1']) expect(network.at(instance).leader).not.toBeNull();
  });
});

describe('lies about oneself', () => {
  it('M11: the greatest birth that can be written keeps no newcomer out', () => {
    const network = trioWithLiar({ birth: Number.MAX_SAFE_INTEGER });
    network.add('d', 'd-1', 9000);
    network.link('d-1', ...TRIO);
    network.run(130_000);
    expect(instancesOf(network.at('a-1'))).toContain('d-1');
  });

  it('M11: a refusal from somebody who is not in a position to refuse ends nobody', () => {
    const network = trioWithLiar();
    network.tell('h-1', 'b-1', { type: 'refuse', code: 'duplicate-id' });
    pass(network);
    expect(network.at('b-1').state).toBe('joined');
  });
});
