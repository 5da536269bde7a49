import { beforeEach, describe, expect, it } from 'vitest';
import { decode } from '../../src/machine/codec.ts';
import type { Machine } from '../../src/machine/machine.ts';
import { events, hello, lone, record, tell } from './bench.ts';

describe('a clean close', () => {
  let machine: Machine;
  const a = record({ id: 'a', instance: 'a-1', startedAt: 1 });
  const b = record({ id: 'b', instance: 'b-1', startedAt: 2 });

  /** Lets time pass; whoever is in `answering` answers every ping over its link. */
  function pass(from: number, to: number, answering: readonly string[]): void {
    for (let now = from; now <= to; now += 50) {
      machine.advance(now);
      for (const effect of machine.drain()) {
        if (effect.type !== 'send' || !answering.includes(effect.peer)) continue;
        const message = decode(effect.bytes);
        if (message.type === 'ping') tell(machine, effect.peer, { ...message, type: 'pong' }, now);
      }
    }
  }

  const ids = () => machine.members.map(({ id }) => id);

  beforeEach(() => {
    machine = lone();
    for (const self of [a, b]) {
      machine.linkUp(self.id, 0);
      tell(machine, self.id, hello({ self }), 10);
    }
    pass(50, 3000, ['a', 'b']);
    expect(ids()).toEqual(['a', 'b', 'me']);
    machine.hint('a', 'closed-cleanly', 3000);
    machine.linkDown('a', 'closed', 3001);
  });

  it('M5: that every watcher saw, with no new link for a second, is proof', () => {
    tell(machine, 'b', { type: 'quiet', instance: 'a-1', closed: true }, 3100);
    pass(3150, 3950, ['b']);
    expect(ids()).toContain('a');
    pass(4000, 4100, ['b']);
    expect(ids()).toEqual(['b', 'me']);
  });

  it('M5: who is gone by that proof is not suspected afterwards', () => {
    tell(machine, 'b', { type: 'leave', record: { ...b, status: 'left' } }, 3010);
    pass(3050, 3900, []);
    machine.drain();
    // A timer that comes late, so that both are due.
    machine.advance(4800);
    const seen = events(machine.drain()).map(({ type }) => type);
    expect(seen).toContain('memberleave');
    expect(seen).not.toContain('membersuspect');
  });

  it('M5: that one watcher did not see proves nothing', () => {
    pass(3050, 10_000, ['b']);
    expect(ids()).toContain('a');
    expect(machine.members[0]?.status).toBe('suspect');
  });

  it('M5: with a new link within the second is a reconnect', () => {
    tell(machine, 'b', { type: 'quiet', instance: 'a-1', closed: true }, 3100);
    machine.linkUp('a again', 3500);
    tell(machine, 'a again', hello({ self: a }), 3510);
    pass(3550, 10_000, ['b', 'a again']);
    expect(ids()).toContain('a');
    expect(machine.members[0]?.status).toBe('alive');
  });

  it('M5: a witness that calls a suspected leader away shortens what nobody can confirm', () => {
    const silentFor = (witness: 'away' | 'present' | null): number => {
      const alone = lone();
      alone.linkUp('a', 0);
      tell(alone, 'a', hello({ self: a, claim: claimOf(a) }), 10);
      if (witness) alone.hint('a', witness, 100);
      for (let now = 100; now < 60_000; now += 50) {
        alone.advance(now);
        for (const event of events(alone.drain())) {
          if (event.type === 'change' && event.leader === null) return now;
        }
      }
      return Number.NaN;
    };
    expect(silentFor('away')).toBeLessThan(silentFor(null) - 2000);
    expect(silentFor('present')).toBeGreaterThan(silentFor(null) + 10_000);
  });
});

function claimOf({ id, startedAt, instance }: ReturnType<typeof record>) {
  return {
    epoch: 1,
    leader: { id, startedAt },
    instance,
    vacated: false,
    led: false,
    defends: null,
  };
}
