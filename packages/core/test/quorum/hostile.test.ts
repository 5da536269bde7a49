import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeBallot } from '../../src/machine/quorum/ballot-codec.ts';
import { quorum } from '../../src/machine/quorum/quorum.ts';
import { events, lone, view } from '../machine/bench.ts';
import { ballots } from '../machine/voter-arbitraries.ts';
import {
  ack,
  ask,
  beat,
  CONFIG,
  config,
  ME,
  PollingStation,
  SHE,
  vote,
  YOU,
} from './polling-station.ts';

const EPOCH_MAX = 2 ** 53 - 2 ** 32;

/** A voter in each of the roles that there are. */
const ROLES: readonly [string, () => PollingStation][] = [
  ['a voter', () => new PollingStation()],
  ['a founder', () => new PollingStation({ group: '', epoch: 0, config: null })],
  ['an observer', () => new PollingStation({ storageId: 'another' })],
  [
    'a leader',
    () => {
      const station = new PollingStation();
      station.win();
      return station;
    },
  ],
];

describe('hostile ballots', () => {
  it('Q8: the voter of these tests is elected by one other vote, and leads', () => {
    const station = new PollingStation();
    expect(station.machine.voting?.role).toBe('voter');
    station.win();
    expect(station.machine.epoch).toBe(5);
    expect(station.machine.leads(station.now)).toBe(true);
    expect(station.violations()).toEqual([]);
  });

  it.each(ROLES)('M11, Q8: %s throws at nothing that it is told', (_, make) => {
    fc.assert(
      fc.property(fc.array(ballots, { minLength: 1, maxLength: 6 }), (messages) => {
        const station = make();
        for (const message of messages) {
          station.hear(message);
          // The same, as something that this very voter could be asked.
          if ('group' in message) station.hear({ ...message, group: 'g' }, 'she');
          station.run(700);
        }
        station.run(5000);
      }),
      { numRuns: 150, seed: 4 },
    );
  });

  it.each(ROLES)('M11, Q8: nor at bytes that are flipped, cut or made up', (_, make) => {
    const whole = [ask(5), vote(5), beat(5), ack(beat(5))].map((message) => encodeBallot(message));
    fc.assert(
      fc.property(fc.nat(3), fc.nat(), fc.nat(255), fc.uint8Array(), (kind, at, value, noise) => {
        const station = make();
        const bytes = Uint8Array.from(whole[kind] as Uint8Array);
        bytes[at % bytes.length] = value;
        station.hear(bytes);
        station.hear(bytes.slice(0, at % bytes.length));
        station.hear(noise);
        station.run(2000);
      }),
      { numRuns: 100, seed: 5 },
    );
  });

  it('M11, Q1: nor at whatever a store gives: that makes an observer, and a fault', () => {
    const { elect } = quorum({ voters: ['me'] });
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1 }), (bytes) => {
        const machine = lone({ elect, hasStore: true });
        machine.restore(bytes, 'fresh', 0);
        expect(machine.voting?.role).toBe('observer');
        const faults = events(machine.drain()).filter(({ type }) => type === 'fault');
        expect(faults).toMatchObject([{ code: 'storage-corrupt' }]);
      }),
      { numRuns: 200, seed: 6 },
    );
  });

  it.each([
    ['a candidacy in the name of another', ask(9, { candidate: { ...SHE, instance: 'she-1' } })],
    ['a candidacy of another start', ask(9, { candidate: { ...YOU, instance: 'you-2' } })],
    ['a vote of another', vote(9, { voter: SHE })],
    ['a beat in the name of another', beat(9, { leader: { ...SHE, instance: 'she-1' } })],
    ['an answer of another', ack(beat(9), { voter: SHE })],
    ['a candidacy of voters founded apart', ask(9, { group: 'other' })],
    ['a beat of voters founded apart', beat(9, { group: 'other' })],
    ['a vote of voters founded apart', vote(9, { group: 'other' })],
    ['an epoch that is too far', ask(5 + 2 ** 20)],
    ['an epoch above all', beat(EPOCH_MAX)],
    ['a voter that has reached the end of epochs', vote(5, { reached: EPOCH_MAX })],
    ['an answer from the end of epochs', ack(beat(5), { epoch: EPOCH_MAX })],
    ['a config from the end of epochs', config({ epoch: EPOCH_MAX })],
    ['a beat with such a config', beat(5, { config: { ...CONFIG, epoch: EPOCH_MAX } })],
  ])('Q8, E11: %s is a violation and changes nothing', (_, message) => {
    const station = new PollingStation();
    const { writeCount } = station;
    const before = view(station.machine);
    station.replies('vote');
    station.hear(message);
    expect(station.violations()).toEqual(['Q8']);
    expect(station.said).toEqual([]);
    expect(station.writeCount).toBe(writeCount);
    expect(view(station.machine)).toEqual(before);
  });

  it('Q10: a permit of a node that does not lead is a violation', () => {
    const station = new PollingStation();
    station.hear({ type: 'permit', group: 'g', epoch: 4 });
    expect(station.violations()).toEqual(['Q10']);
    expect(station.replies('ask')).toEqual([]);
  });

  it('Q10: a permit in a question binds nobody but the followers of who gave it', () => {
    const station = new PollingStation();
    station.hear(beat(5), 'you');
    station.replies('ack');
    const candidate = { ...SHE, instance: 'she-1' };
    for (const permit of [
      { epoch: 4, instance: 'you-1' },
      { epoch: 5, instance: 'she-1' },
      { epoch: 5, instance: 'me-1' },
      { epoch: 6, instance: 'you-1' },
    ]) {
      station.hear(ask(6, { candidate, permit }), 'she');
      expect(station.replies('vote')).toMatchObject([{ denial: 'sticky' }]);
    }
    station.hear(ask(6, { candidate, permit: { epoch: 5, instance: 'you-1' } }), 'she');
    expect(station.replies('vote')).toMatchObject([{ denial: null, reached: 6 }]);
  });
});

describe('votes', () => {
  it('Q3: one an epoch, to the first that asks; a repeated question is answered as before', () => {
    const station = new PollingStation();
    station.hear(ask(5));
    station.hear(ask(5, { candidate: { ...SHE, instance: 'she-1' } }), 'she');
    station.hear(ask(5));
    expect(station.replies('vote').map(({ denial }) => denial)).toEqual([null, 'voted', null]);
  });

  it('Q1, Q3: a vote that was stored binds after a restart, for the one that has it too', () => {
    const votedFor = { ...YOU, instance: 'you-1' };
    const station = new PollingStation({ epoch: 5, votedFor });
    station.hear(ask(5, { candidate: { ...SHE, instance: 'she-1' } }), 'she');
    station.hear(ask(5));
    expect(station.replies('vote').map(({ denial }) => denial)).toEqual(['voted', null]);
  });

  it('Q2, Q3: another start of the candidate, or another storage, is another candidate', () => {
    const votedFor = { ...YOU, instance: 'you-0' };
    const station = new PollingStation({ epoch: 5, votedFor });
    station.hear(ask(5));
    const candidate = { id: 'you', storageId: 'new', instance: 'you-1' };
    station.hear(ask(6, { candidate }));
    expect(station.replies('vote').map(({ denial }) => denial)).toEqual(['voted', 'not-a-voter']);
  });

  it.each([
    ['an epoch that is over', ask(3), 'epoch'],
    ['a config that is older', ask(5, { config: { ...CONFIG, epoch: 3, version: 9 } }), 'config'],
    [
      'a config without this voter',
      ask(5, { config: { ...CONFIG, voters: [SHE, YOU] } }),
      'not-a-voter',
    ],
    [
      'a config without itself',
      ask(5, { config: { ...CONFIG, voters: [ME, SHE] } }),
      'not-a-voter',
    ],
  ])('Q3: none for %s', (_, message, denial) => {
    const station = new PollingStation();
    station.hear(message);
    expect(station.replies('vote')).toMatchObject([{ denial }]);
  });

  it('Q9: a candidate with a newer config has the vote, and the voter has the config', () => {
    const station = new PollingStation();
    const config = { epoch: 4, version: 2, voters: [ME, YOU] };
    station.hear(ask(5, { config }));
    expect(station.replies('vote')).toMatchObject([{ denial: null }]);
    expect(station.machine.voting?.config).toEqual(config);
  });

  it('Q4: a trial moves nobody: nothing is written, and the vote is free afterwards', () => {
    const station = new PollingStation();
    const { writeCount } = station;
    for (const epoch of [5, 6, 7]) station.hear(ask(epoch, { isTrial: true }));
    expect(station.replies('vote')).toMatchObject([
      { denial: null, reached: 4 },
      { denial: null, reached: 4 },
      { denial: null, reached: 4 },
    ]);
    expect(station.writeCount).toBe(writeCount);
    station.hear(ask(5, { candidate: { ...SHE, instance: 'she-1' } }), 'she');
    expect(station.replies('vote')).toMatchObject([{ denial: null }]);
  });

  it('Q8: answers count once a voter and storage, for this very question only', () => {
    const five = ['me', 'she', 'yan', 'you', 'zoe'];
    const voters = five.map((id) => ({ id, storageId: `s-${id}` }));
    const config = { ...CONFIG, voters };
    const station = new PollingStation({ config }, { voters: five, preVote: false });
    expect(station.until('ask').epoch).toBe(5);
    // Three of five are needed: the candidate and you are two, however often you say so.
    for (const patch of [
      {},
      {},
      { voter: { id: 'you', storageId: 'another' } },
      { isTrial: true, voter: YOU },
    ]) {
      station.hear(vote(5, patch));
    }
    station.hear(vote(4, { voter: { id: 'she', storageId: 's-she' }, reached: 4 }), 'she');
    station.hear(vote(5, { voter: SHE, candidate: 'me-0' }), 'she');
    station.run(100);
    expect(station.replies('beat')).toEqual([]);
    station.hear(vote(5, { voter: SHE }), 'she');
    station.run(1);
    expect(station.replies('beat').length).toBeGreaterThan(0);
  });

  it('Q1, Q8: the own vote is stored before anybody is asked', () => {
    const station = new PollingStation({}, { preVote: false });
    const { writeCount } = station;
    const { epoch } = station.until('ask');
    expect(station.writeCount).toBe(writeCount + 1);
    station.hear(ask(epoch));
    expect(station.replies('vote')).toMatchObject([{ denial: 'voted' }]);
  });

  it('Q11: evidence that cannot be compared is none, and the newest of the rest is the term’s', () => {
    const station = new PollingStation({}, { evidence: () => 3 });
    station.win('{"at":9}');
    expect(station.machine.voting?.evidence).toBe(3);
    expect(station.machine.leads(station.now)).toBe(true);
  });

  it('M11, Q3: evidence that is no JSON is malformed', () => {
    const station = new PollingStation();
    station.hear(ask(5, { evidence: '{"at' }));
    expect(station.violations()).toEqual(['M11']);
    expect(station.replies('vote')).toEqual([]);
  });
});

describe('higher epochs', () => {
  const leader = () => {
    const station = new PollingStation();
    station.win();
    station.events.length = 0;
    return station;
  };

  it.each([
    ['an answer', ack(beat(5), { epoch: 6 })],
    ['a beat', beat(6)],
    ['a vote', vote(5, { reached: 6, denial: 'epoch' })],
  ])('Q8: %s of a higher epoch ends a term at once', (_, message) => {
    const station = leader();
    station.hear(message);
    expect(station.events).toContainEqual({ type: 'termend', epoch: 5, reason: 'higher-epoch' });
    expect(station.machine.leads(station.now)).toBe(false);
  });

  it('Q8: a beat of a higher epoch ends a candidacy too', () => {
    const station = new PollingStation({}, { preVote: false });
    expect(station.until('ask').epoch).toBe(5);
    station.hear(beat(6));
    station.hear(vote(5));
    station.run(100);
    expect(station.replies('beat')).toEqual([]);
    expect(station.machine.leads(station.now)).toBe(false);
  });

  it('Q4, Q8: a question of a higher epoch does not, while the leader is followed', () => {
    const station = leader();
    station.hear(ask(9, { config: { ...CONFIG, epoch: 5 } }));
    expect(station.replies('vote')).toMatchObject([{ denial: 'sticky', reached: 5 }]);
    expect(station.machine.leads(station.now)).toBe(true);
  });

  it('Q8: who is refused for another reason than a living leader is followed all the same', () => {
    const station = new PollingStation({}, { evidence: () => 5 });
    station.hear(ask(7, { evidence: '2' }));
    expect(station.replies('vote')).toMatchObject([{ denial: 'evidence', reached: 7 }]);
  });

  it('E11: at the end of epochs a voter does not stand, and says so', () => {
    const config = { ...CONFIG, epoch: EPOCH_MAX };
    const station = new PollingStation({ epoch: EPOCH_MAX, config });
    station.events.length = 0;
    station.run(10_000);
    expect(station.violations()).toContain('E11');
    expect(station.replies('ask')).toEqual([]);
  });
});
