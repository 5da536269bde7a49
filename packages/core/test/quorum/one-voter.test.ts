import { describe, expect, it } from 'vitest';
import { ack, ask, beat, CONFIG, PollingStation, SHE, vote } from './polling-station.ts';

/** It leads in epoch 5, with the vote of `you`. */
function leader(): PollingStation {
  const station = new PollingStation();
  station.win();
  station.replies('beat');
  return station;
}

const leads = ({ machine, now }: PollingStation) => machine.leads(now);

describe('one voter that stands', () => {
  it('Q4: whoever is asked by others all the time stands when its time has come', () => {
    const station = new PollingStation();
    for (let count = 0; count < 8; count += 1) {
      station.hear(ask(5 + count, { isTrial: true }));
      station.run(50);
    }
    expect(station.replies('ask')).not.toEqual([]);
  });

  it('Q5: it asks less and less often, until a leader is heard', () => {
    const station = new PollingStation();
    const asked = (ms: number) => {
      station.said.length = 0;
      station.run(ms);
      return station.replies('ask').length;
    };
    const early = asked(30_000);
    station.run(600_000);
    const late = asked(30_000);
    expect(late).toBeGreaterThan(0);
    expect(late).toBeLessThan(early / 2);
    station.hear(beat(5));
    expect(asked(3500)).toBe(0);
    expect(asked(300)).toBeGreaterThan(0);
  });

  it('Q5: a beat during its candidacy ends that, and it follows', () => {
    const station = new PollingStation();
    const { epoch } = station.until('ask');
    station.hear(beat(4));
    station.hear(vote(epoch, { isTrial: true }));
    station.run(1000);
    expect(station.replies('ask')).toEqual([]);
  });
});

describe('one voter that follows', () => {
  it('Q4: it elects nobody but the leader that it has heard, for a sticky window', () => {
    const station = new PollingStation();
    station.hear(beat(5));
    station.replies('ack');
    const candidate = { ...SHE, instance: 'she-1' };
    const denials = (epoch: number) => {
      station.hear(ask(epoch, { candidate }), 'she');
      station.hear(ask(epoch, { isTrial: true }));
      return station.replies('vote').map(({ denial }) => denial);
    };
    expect(denials(6)).toEqual(['sticky', null]);
    station.run(2999);
    expect(denials(6)).toEqual(['sticky', null]);
    station.run(1);
    expect(denials(6)).toEqual([null, 'voted']);
  });
});

describe('one voter that leads', () => {
  it('Q4: it elects nobody else as long as its lease may hold, not even who is a voter and asks', () => {
    const station = leader();
    const config = { ...CONFIG, epoch: 5 };
    for (const isTrial of [true, false]) station.hear(ask(6, { config, isTrial }));
    expect(station.replies('vote').map(({ denial }) => denial)).toEqual(['sticky', 'sticky']);
    expect(leads(station)).toBe(true);
  });

  it('Q6: a lease ends when the last acknowledged beat was sent long enough ago', () => {
    const station = leader();
    const { now } = station;
    station.run(2399);
    expect(leads(station)).toBe(true);
    station.run(1);
    expect(station.now).toBe(now + 2400);
    expect(leads(station)).toBe(false);
    expect(station.events).toContainEqual({ type: 'termend', epoch: 5, reason: 'quorum-lost' });
  });

  it('Q6: what was acknowledged of another round, epoch or config gives no lease', () => {
    const station = leader();
    station.run(1000);
    const sent = station.replies('beat').at(-1);
    if (!sent) throw new Error('no beat');
    station.hear(ack({ ...sent, round: sent.round + 1 }));
    station.hear(ack({ ...sent, epoch: 4 }));
    station.hear(ack({ ...sent, configVersion: sent.configVersion + 1 }));
    station.hear(ack(sent, { voter: { id: 'you', storageId: 'another' } }));
    station.run(1400);
    expect(leads(station)).toBe(false);
  });

  it('Q6, Q9: after a change of the voters the lease begins with what they acknowledge', () => {
    const station = leader();
    expect(leads(station)).toBe(true);
    station.machine.changeVoters({ kind: 'remove', id: 'she' }, 1, station.now);
    station.run(1);
    expect(station.machine.voting?.config?.voters.map(({ id }) => id)).toEqual(['me', 'you']);
    const sent = station.until('beat');
    expect(leads(station)).toBe(false);
    station.hear(ack(sent));
    expect(leads(station)).toBe(true);
    expect(station.events).toContainEqual({ type: 'voterschanged', ticket: 1, refusal: null });
  });

  it('Q10: whoever has given a permit does not lead, whatever is acknowledged afterwards', () => {
    const station = leader();
    expect(station.machine.transfer('you', station.now)).toBe(true);
    expect(station.until('permit').epoch).toBe(5);
    expect(leads(station)).toBe(false);
    for (let count = 0; count < 4; count += 1) {
      station.run(600);
      for (const sent of station.replies('beat')) station.hear(ack(sent));
      expect(leads(station)).toBe(false);
    }
    // Only its target has its vote.
    const config = { ...CONFIG, epoch: 5 };
    const permit = { epoch: 5, instance: 'me-1' };
    const candidate = { ...SHE, instance: 'she-1' };
    station.said.length = 0;
    station.hear(ask(6, { config, permit, candidate }), 'she');
    station.hear(ask(6, { config, permit }));
    expect(station.replies('vote').map(({ denial }) => denial)).toEqual(['sticky', null]);
    expect(station.events).toContainEqual({ type: 'termend', epoch: 5, reason: 'transferred' });
  });
});
