import { describe, expect, it } from 'vitest';
import {
  type Ballot,
  receiveConfig,
  receiveVote,
  refusalOf,
  stand,
  startBallot,
  stored,
} from '../../src/machine/quorum/ballot.ts';
import type { VoteMessage } from '../../src/machine/quorum/ballot-message.ts';
import { Campaign } from '../../src/machine/quorum/campaign.ts';
import type { Voter, VoterConfig } from '../../src/machine/quorum/config.ts';
import { blankRecord } from '../../src/machine/quorum/voter-record.ts';

describe('a config', () => {
  it('Q9: who takes one enters the epoch that it was written in, and stands above it', () => {
    const config = { epoch: 4, version: 2, voters: votersOf('abc') };
    const fresh = startBallot('c', 'c-1', blankRecord('c1'));
    const taken = stored(receiveConfig(fresh, 'group', config).ballot).ballot;
    expect(taken.record).toMatchObject({ epoch: 4, votedFor: null, config });
    expect(stand(taken, 0).ballot.record.epoch).toBe(5);
  });

  it('Q8, Q9: one of a higher epoch ends a term, one of its own epoch does not', () => {
    const leader = leaderOf('a');
    const config = (epoch: number) => ({ epoch, version: 2, voters: votersOf('ab') });
    expect(receiveConfig(leader, 'group', config(1)).ballot).toBe(leader);
    const { ballot, effects } = receiveConfig(leader, 'group', config(2));
    expect(ballot).toMatchObject({ role: 'follower', record: { epoch: 2, config: config(2) } });
    expect(effects.map(({ type }) => type)).toEqual(['follow', 'store']);
  });

  it('Q2: who is no voter in its own does not even elect itself', () => {
    const stranger = ballotOf('b', configOf('a'));
    const { ballot, effects } = stored(stand(stranger, 0).ballot);
    expect([ballot.role, ballot.grants, effects]).toEqual(['candidate', [], [{ type: 'solicit' }]]);
  });

  it.each([
    ['two more', votersOf('abcde'), 'one-at-a-time'],
    ['one for another', votersOf('abd'), 'one-at-a-time'],
    ['two less', votersOf('a'), 'one-at-a-time'],
    ['all gone', [], 'never-empty'],
    ['the leader gone', votersOf('bc'), 'leader-stays'],
    [
      'the leader once more, with another storage',
      [...votersOf('abc'), { id: 'a', storageId: 'a2' }],
      'one-at-a-time',
    ],
    ['one more', votersOf('abcd'), null],
    ['one less', votersOf('ab'), null],
  ])('Q9: the voters are changed by one at a time: %s', (_, voters, refusal) => {
    const leader = leaderOf('abc');
    expect(refusalOf({ ...leader, holders: votersOf('ab') }, voters)).toBe(refusal);
    expect(refusalOf(leader, voters)).toBe(refusal ?? 'config-quorum');
  });
});

// A row: what each voter says, the candidate itself being the first that says yes.
describe('a tally', () => {
  it.each([
    ['y', 'won'],
    ['_y', 'open'],
    ['ny', 'lost'],
    ['yy', 'won'],
    ['yn_', 'open'],
    ['yy_', 'won'],
    ['yyn', 'won'],
    ['nyn', 'lost'],
    ['yyny___', 'open'],
    ['_yy_nyn', 'open'],
    ['yyny_ny', 'won'],
    ['yy_nynn', 'open'],
    ['yynynnn', 'lost'],
    // One round of questions.
    ['y__', 'open'],
    ['ynn', 'lost'],
    ['yyyyy', 'won'],
    ['yyy__', 'won'],
    ['yy___', 'open'],
    ['ynn__', 'open'],
    ['ynnn_', 'lost'],
    ['yynnn', 'lost'],
  ] as const)('Q8: of %s is %s', (answers, tally) => {
    const voters = votersOf('abcdefg'.slice(0, answers.length));
    const self = voters[answers.indexOf('y')] as Voter;
    const config = { epoch: 0, version: 1, voters };
    const group = { isTrial: false, epoch: 1, permit: null, evidence: '', now: 0 };
    const campaign = new Campaign({ ...group, config, self });
    let ballot = stored(stand(ballotOf(self.id, config), 0).ballot).ballot;
    for (const [index, voter] of voters.entries()) {
      if (voter === self || answers[index] === '_') continue;
      const vote = voteOf(voter.id, ballot, answers[index] === 'y' ? null : 'voted');
      // What comes twice counts once.
      for (const { denial } of [vote, vote]) campaign.count(voter, denial === null, '');
      ballot = receiveVote(receiveVote(ballot, vote).ballot, vote).ballot;
    }
    expect(campaign.tally).toBe(tally);
    expect(ballot.role).toBe(tally === 'won' ? 'elect' : 'candidate');
  });
});

function leaderOf(ids: string): Ballot {
  const candidate = stored(stand(ballotOf(ids.charAt(0), configOf(ids)), 0).ballot).ballot;
  const others = [...ids].slice(1);
  const elect = others.reduce(
    (ballot, id) => receiveVote(ballot, voteOf(id, ballot)).ballot,
    candidate,
  );
  return stored(elect).ballot;
}

function ballotOf(id: string, config: VoterConfig): Ballot {
  return startBallot(id, `${id}-1`, { ...blankRecord(`${id}1`), group: 'group', config });
}

function voteOf(id: string, { self }: Ballot, denial: VoteMessage['denial'] = null): VoteMessage {
  return {
    type: 'vote',
    group: 'group',
    isTrial: false,
    epoch: 1,
    candidate: self.instance,
    voter: { id, storageId: `${id}1` },
    denial,
    reached: 1,
    evidence: '',
    config: null,
  };
}

function configOf(ids: string): VoterConfig {
  return { epoch: 0, version: 1, voters: votersOf(ids) };
}

function votersOf(ids: string): Voter[] {
  return [...ids].map((id) => ({ id, storageId: `${id}1` }));
}
