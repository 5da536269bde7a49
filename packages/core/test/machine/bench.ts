import { encode } from '../../src/machine/codec.ts';
import type { Effect, MachineEvent } from '../../src/machine/effect.ts';
import { Machine } from '../../src/machine/machine.ts';
import type { HelloMessage, Message } from '../../src/machine/message.ts';
import type { MachineOptions } from '../../src/machine/options.ts';
import type { MemberRecord } from '../../src/machine/record.ts';
import { oldestNode } from '../../src/machine/strategy.ts';

/** A machine on its own, with links to peers that only say what a test lets them say. */
export function lone(options: Partial<MachineOptions> = {}): Machine {
  return new Machine({
    id: 'me',
    instance: 'me-1',
    startedAt: 1000,
    cluster: 'c',
    restampable: true,
    strategy: oldestNode(),
    fingerprint: 'test',
    detection: { heartbeatIntervalMs: 1000, suspicionMs: 20_000, leaderSuspicionMinMs: 2000 },
    joinGraceMs: 3000,
    floorPending: false,
    random: () => 0.5,
    now: 0,
    ...options,
  });
}

export function record(patch: Partial<MemberRecord> = {}): MemberRecord {
  return {
    id: 'you',
    instance: 'you-1',
    birth: 1,
    incarnation: 1,
    startedAt: 2000,
    status: 'alive',
    candidate: true,
    hidden: false,
    meta: '',
    ...patch,
  };
}

export function hello(patch: Partial<HelloMessage> = {}): HelloMessage {
  const self = patch.self ?? record();
  return {
    type: 'hello',
    fingerprint: 'test',
    known: true,
    self,
    records: [self],
    claim: null,
    ...patch,
  };
}

export function tell(machine: Machine, peer: string, message: Message, now: number): void {
  machine.receive(peer, encode(message), now);
}

/** A machine that has met one peer, over the link `link`. */
export function paired(options: Partial<MachineOptions> = {}): Machine {
  const machine = lone(options);
  machine.linkUp('link', 0);
  tell(machine, 'link', hello(), 10);
  machine.advance(200);
  machine.drain();
  return machine;
}

export function events(effects: readonly Effect[]): MachineEvent[] {
  return effects.flatMap((effect) => (effect.type === 'event' ? [effect.event] : []));
}

/** What a test compares to see that nothing has changed. */
export function view(machine: Machine): unknown {
  const { state, members, leader, epoch, candidate } = machine;
  return structuredClone({ state, members, leader, epoch, candidate });
}
