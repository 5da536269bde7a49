import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Claim } from '../../src/machine/claim.ts';
import { decode, encode } from '../../src/machine/codec.ts';
import { MEMBERS_MAX } from '../../src/machine/roster.ts';
import { events, hello, lone, paired, record, tell, view } from './bench.ts';

function claim(patch: Partial<Claim> = {}): Claim {
  return {
    epoch: 1,
    leader: { id: 'you', startedAt: 2000 },
    instance: 'you-1',
    vacated: false,
    led: false,
    defends: null,
    ...patch,
  };
}

describe('hostile bytes', () => {
  it('M11: malformed bytes are a violation, change nothing and keep the link', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
        const machine = paired();
        const before = view(machine);
        machine.receive('link', Uint8Array.of(9, ...bytes), 210);
        expect(view(machine)).toEqual(before);
        expect(events(machine.drain())).toMatchObject([{ type: 'violation', peer: 'link' }]);
        tell(
          machine,
          'link',
          { type: 'records', records: [record({ id: 'x', instance: 'x' })] },
          220,
        );
        expect(machine.members).toHaveLength(3);
      }),
      { numRuns: 100 },
    );
  });

  it('M11: flipped bytes of real messages never throw', () => {
    fc.assert(
      fc.property(fc.nat(), fc.nat(255), fc.nat(5), (at, value, kind) => {
        const machine = paired();
        const self = record();
        const whole = [
          encode(hello()),
          encode({ type: 'records', records: [self, record({ id: 'z', instance: 'z' })] }),
          encode({ type: 'claim', claim: claim({ epoch: 5 }), leader: self, probe: null }),
          encode({ type: 'suspect', instance: 'me-1', incarnation: 3 }),
          encode({ type: 'leave', record: { ...self, status: 'left' } }),
          encode({ type: 'transfer', epoch: 1, defends: { id: 'a', startedAt: 1 } }),
        ][kind] as Uint8Array;
        whole[at % whole.length] = value;
        machine.receive('link', whole, 210);
        machine.advance(5000);
        machine.drain();
      }),
      { numRuns: 3000 },
    );
  });

  it('M11: bytes over links that are not up, or before a hello, are ignored', () => {
    const machine = lone();
    machine.receive('nobody', encode(hello()), 1);
    machine.linkUp('link', 2);
    tell(machine, 'link', { type: 'records', records: [record()] }, 3);
    expect(machine.members).toHaveLength(1);
  });
});

describe('hostile claims', () => {
  it('E11: a jump of the epoch by more than 2^20 is refused, but for the first claim of a link', () => {
    const machine = paired();
    const leader = record();
    tell(
      machine,
      'link',
      { type: 'claim', claim: claim({ epoch: 2 ** 30 }), leader, probe: null },
      210,
    );
    expect(machine.epoch).toBe(2 ** 30);
    machine.drain();
    const far = claim({ epoch: 2 ** 30 + 2 ** 20 + 1 });
    tell(machine, 'link', { type: 'claim', claim: far, leader, probe: null }, 220);
    expect(machine.epoch).toBe(2 ** 30);
    expect(events(machine.drain())).toMatchObject([{ type: 'violation', rule: 'E11' }]);
  });

  it('E11: an epoch above the ceiling is refused, also as the first claim', () => {
    const machine = paired();
    const high = claim({ epoch: 2 ** 53 - 1 });
    tell(machine, 'link', { type: 'claim', claim: high, leader: record(), probe: null }, 210);
    expect(events(machine.drain())).toMatchObject([{ type: 'violation', rule: 'E11' }]);
    expect(machine.epoch).toBeLessThan(10);
  });

  it('E3: a claim in my name that I never made is refused', () => {
    const machine = paired();
    const before = view(machine);
    const forged = claim({ epoch: 9, instance: 'me-1', leader: { id: 'me', startedAt: 1000 } });
    tell(machine, 'link', { type: 'claim', claim: forged, leader: null, probe: null }, 210);
    expect(events(machine.drain())).toMatchObject([{ type: 'violation', rule: 'E3' }]);
    expect(view(machine)).toEqual(before);
  });

  it('E4: replayed old claims are ignored and answered with the current one', () => {
    const machine = paired({ startedAt: 9000 });
    const leader = record();
    tell(machine, 'link', { type: 'claim', claim: claim({ epoch: 7 }), leader, probe: null }, 210);
    machine.drain();
    tell(machine, 'link', { type: 'claim', claim: claim({ epoch: 3 }), leader, probe: null }, 500);
    expect(machine.epoch).toBe(7);
    const sent = machine.drain().flatMap((e) => (e.type === 'send' ? [decode(e.bytes)] : []));
    const answers = sent.filter(({ type }) => type === 'claim');
    expect(answers).toMatchObject([{ claim: { epoch: 7 } }]);
  });
});

describe('hostile records', () => {
  it('M11: a roster of thousands stops at its bound', () => {
    const machine = paired();
    for (let i = 0; i < 20; i++) {
      const records = Array.from({ length: 200 }, (_, n) =>
        record({ id: `ghost-${i}-${n}`, instance: `ghost-${i}-${n}` }),
      );
      tell(machine, 'link', { type: 'records', records }, 210 + i);
    }
    expect(machine.members.length).toBe(MEMBERS_MAX);
    expect(events(machine.drain()).some((e) => e.type === 'violation' && e.rule === 'M11')).toBe(
      true,
    );
  });

  it('M5: ghosts that nobody hears are evicted after the window', () => {
    const machine = paired();
    const ghost = record({ id: 'ghost', instance: 'ghost' });
    tell(machine, 'link', { type: 'records', records: [ghost] }, 210);
    for (let now = 300; now < 60_000; now += 250) {
      machine.advance(now);
      for (const effect of machine.drain()) {
        // The peer answers every ping, and never speaks of the ghost again.
        if (effect.type === 'send' && effect.bytes[1] === 1) {
          const pong = effect.bytes.slice();
          pong[1] = 2;
          machine.receive('link', pong, now + 1);
        }
      }
    }
    expect(machine.members.map(({ id }) => id)).toEqual(['me', 'you']);
  });

  it('M3: an absurd incarnation of my own record is refused', () => {
    const machine = paired();
    const mine = record({ id: 'me', instance: 'me-1', incarnation: 2 ** 31 });
    tell(machine, 'link', { type: 'records', records: [mine] }, 210);
    expect(events(machine.drain())).toMatchObject([{ type: 'violation', rule: 'M3' }]);
    expect(machine.members[0]?.incarnation).toBeLessThan(10);
  });

  it('M3: who is called dead raises its incarnation above the accusation', () => {
    const machine = paired();
    const dead = record({ id: 'me', instance: 'me-1', incarnation: 100, status: 'dead' });
    tell(machine, 'link', { type: 'records', records: [dead] }, 210);
    expect(machine.members[0]?.incarnation).toBe(101);
  });

  it('M7: only the subject can announce its leave', () => {
    const machine = paired();
    const other = record({ id: 'x', instance: 'x' });
    tell(machine, 'link', { type: 'records', records: [other] }, 210);
    machine.drain();
    tell(machine, 'link', { type: 'leave', record: { ...other, status: 'left' } }, 220);
    expect(machine.members.map(({ id }) => id)).toContain('x');
    expect(events(machine.drain())).toMatchObject([{ type: 'violation', rule: 'M7' }]);
  });

  it('M8: a dead record about a member that is heard is passed to it, not applied', () => {
    const machine = paired();
    tell(machine, 'link', { type: 'records', records: [record({ status: 'dead' })] }, 210);
    expect(machine.members.map(({ id }) => id)).toContain('you');
    expect(machine.drain().filter(({ type }) => type === 'send')).toHaveLength(1);
  });

  it('M2: a stale record of the subject itself is answered with the stored one', () => {
    const machine = paired();
    tell(machine, 'link', { type: 'records', records: [record({ incarnation: 50 })] }, 210);
    machine.drain();
    tell(machine, 'link', { type: 'records', records: [record({ incarnation: 2 })] }, 220);
    expect(machine.drain().filter(({ type }) => type === 'send')).toHaveLength(1);
  });

  it('M8: a death of somebody unknown is remembered without an event', () => {
    const machine = paired();
    const dead = record({ id: 'x', instance: 'x', incarnation: 4, status: 'dead' });
    tell(machine, 'link', { type: 'records', records: [dead] }, 210);
    expect(events(machine.drain())).toEqual([]);
    tell(machine, 'link', { type: 'records', records: [{ ...dead, status: 'alive' }] }, 220);
    expect(machine.members.map(({ id }) => id)).not.toContain('x');
  });

  it('M1: any unicode is an id', () => {
    const machine = paired();
    for (const id of ['__proto__', 'constructor', '👩‍👩‍👧', 'ñ', 'a\u202Eb', ' ']) {
      tell(machine, 'link', { type: 'records', records: [record({ id, instance: id })] }, 210);
      expect(machine.members.some((member) => member.id === id)).toBe(true);
    }
  });
});
