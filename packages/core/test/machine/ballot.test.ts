import { describe, expect, test } from 'vitest';
import { receiveVote, stand, startBallot, stored } from '../../src/machine/quorum/ballot.ts';
import type { VoteMessage } from '../../src/machine/quorum/ballot-message.ts';

const voters = ['a', 'b', 'c'].map((id) => ({ id, storageId: `${id}-disk` }));

function candidate() {
  const config = { epoch: 0, version: 1, voters };
  const record = { group: 'g', storageId: 'a-disk', epoch: 0, votedFor: null, config };
  return stored(stand(startBallot('a', 'a-1', record), 0).ballot).ballot;
}

function vote(patch: Partial<VoteMessage>): VoteMessage {
  return {
    type: 'vote',
    group: 'g',
    isTrial: false,
    epoch: 1,
    candidate: 'a-1',
    voter: { id: 'b', storageId: 'b-disk' },
    denial: null,
    reached: 1,
    evidence: '',
    config: null,
    ...patch,
  };
}

describe('a vote', () => {
  test('Q3: of a majority wins', () => {
    expect(receiveVote(candidate(), vote({})).ballot.role).toBe('elect');
  });

  test('Q4: what a trial was answered is none, however late it comes', () => {
    expect(receiveVote(candidate(), vote({ isTrial: true, reached: 0 })).ballot.role).toBe(
      'candidate',
    );
  });

  test('Q8: for another epoch, for another start, or of a lost storage is none', () => {
    const others = [
      { epoch: 2 },
      { candidate: 'a-0' },
      { voter: { id: 'b', storageId: 'b-new-disk' } },
      { voter: { id: 'd', storageId: 'd-disk' } },
    ];
    for (const patch of others) {
      expect(receiveVote(candidate(), vote(patch)).ballot.role).toBe('candidate');
    }
  });

  test('Q8: counted twice is one', () => {
    const five = [...voters, { id: 'd', storageId: 'd-disk' }, { id: 'e', storageId: 'e-disk' }];
    const config = { epoch: 0, version: 1, voters: five };
    const record = { group: 'g', storageId: 'a-disk', epoch: 0, votedFor: null, config };
    const one = stored(stand(startBallot('a', 'a-1', record), 0).ballot).ballot;
    const twice = receiveVote(receiveVote(one, vote({})).ballot, vote({})).ballot;
    expect(twice.role).toBe('candidate');
  });
});
