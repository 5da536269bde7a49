import { describe, expect, it } from 'vitest';
import {
  type Ballot,
  receiveConfig,
  receiveVote,
  stand,
  startBallot,
  stored,
} from '../../src/machine/quorum/ballot.ts';
import type { VoteMessage } from '../../src/machine/quorum/ballot-message.ts';
import type { Voter, VoterConfig } from '../../src/machine/quorum/config.ts';
import { blankRecord } from '../../src/machine/quorum/voter-record.ts';

describe('a ballot', () => {
  it('Q9: who takes a config enters the epoch that it was written in, and stands above it', () => {
    const config = { epoch: 4, version: 2, voters: votersOf('a', 'b', 'c') };
    const fresh = startBallot('c', 'c-1', blankRecord('c1'));
    const taken = stored(receiveConfig(fresh, 'group', config).ballot).ballot;
    expect(taken.record).toMatchObject({ epoch: 4, votedFor: null, config });
    expect(stand(taken, 0).ballot.record.epoch).toBe(5);
  });

  it('Q8, Q9: a config of a higher epoch ends a term, one of the own epoch does not', () => {
    const leader = leaderOf('a');
    const config = (epoch: number) => ({ epoch, version: 2, voters: votersOf('a', 'b') });
    expect(receiveConfig(leader, 'group', config(1)).ballot).toBe(leader);
    const { ballot, effects } = receiveConfig(leader, 'group', config(2));
    expect(ballot).toMatchObject({ role: 'follower', record: { epoch: 2, config: config(2) } });
    expect(effects.map(({ type }) => type)).toEqual(['follow', 'store']);
  });

  it('Q2: who is no voter of its config does not even elect itself', () => {
    const config = { epoch: 0, version: 1, voters: votersOf('a') };
    const stranger = ballotOf('b', config);
    const { ballot, effects } = stored(stand(stranger, 0).ballot);
    expect([ballot.role, ballot.grants, effects]).toEqual(['candidate', [], [{ type: 'solicit' }]]);
  });
});

function leaderOf(...ids: readonly string[]): Ballot {
  const candidate = stored(stand(ballotOf(ids[0] as string, configOf(...ids)), 0).ballot).ballot;
  const elect = ids.slice(1).reduce((ballot, id) => {
    return receiveVote(ballot, voteOf(id, ballot)).ballot;
  }, candidate);
  return stored(elect).ballot;
}

function ballotOf(id: string, config: VoterConfig): Ballot {
  return startBallot(id, `${id}-1`, { ...blankRecord(`${id}1`), group: 'group', config });
}

function voteOf(id: string, { record, self }: Ballot): VoteMessage {
  return {
    type: 'vote',
    group: 'group',
    isTrial: false,
    epoch: record.epoch,
    candidate: self.instance,
    voter: { id, storageId: `${id}1` },
    denial: null,
    reached: record.epoch,
    evidence: '',
    config: null,
  };
}

function configOf(...ids: readonly string[]): VoterConfig {
  return { epoch: 0, version: 1, voters: votersOf(...ids) };
}

function votersOf(...ids: readonly string[]): Voter[] {
  return ids.map((id) => ({ id, storageId: `${id}1` }));
}
