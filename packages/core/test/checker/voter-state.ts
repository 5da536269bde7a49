import {
  type Ballot,
  type BallotEffect,
  type BallotRules,
  type BallotStep,
  receiveAck,
  receiveAsk,
  receiveBeat,
  receiveConfig,
  receiveVote,
  reconfigure,
  stand,
  standDown,
  startBallot,
  stored,
} from '../../src/machine/quorum/ballot.ts';
import type { BeatMessage, VoteMessage } from '../../src/machine/quorum/ballot-message.ts';
import { isSameVoter, type Voter } from '../../src/machine/quorum/config.ts';
import type { VoterRecord } from '../../src/machine/quorum/voter-record.ts';
import { hearsayOf, type Packet, packetsOf } from './packet.ts';

/** One voter of the checked world: the shipped ballot, and its disk. */
export interface VoterState {
  readonly ballot: Ballot;
  /** What the disk holds while the ballot's record is being written; `null` at other times. */
  readonly disk: VoterRecord | null;
}

export type Input =
  /** `isRecent`: the evidence of whoever asks is as recent as the voter's. */
  | { readonly type: 'hear'; readonly packet: Packet; readonly isRecent: boolean }
  /** Its time is up. Epochs that it leaps over are as good as those in which it stood unheard. */
  | { readonly type: 'stand' }
  | { readonly type: 'stand-down' }
  | { readonly type: 'reconfigure'; readonly voters: readonly Voter[] }
  | { readonly type: 'stored' }
  /** `isWritten`: what was being written has reached the disk. */
  | { readonly type: 'crash'; readonly isWritten: boolean };

/** What comes of one input. */
export interface Outcome {
  readonly state: VoterState;
  readonly sent: readonly Packet[];
  /** The epoch that it has won; 0 for none. */
  readonly won: number;
}

export function diskOf({ ballot, disk }: VoterState): VoterRecord {
  return disk ?? ballot.record;
}

/** The shipped functions at work. While a record is being written nothing is heard: that waits. */
export function outcomeOf(state: VoterState, input: Input, rules: BallotRules): Outcome {
  if (input.type === 'crash') return crash(state, input.isWritten);
  const { ballot, effects } = stepOf(state.ballot, input, rules);
  const isOver = input.type === 'stored';
  const before = isOver ? state.ballot.record : diskOf(state);
  const sent = effects.flatMap((effect) => sentWith(effect, state.ballot));
  const news = isOver ? [...hearsayOf(before), ...beatsOf(ballot)] : [];
  return {
    state: { ballot, disk: ballot.isStoring ? before : null },
    sent: [...sent, ...news],
    won: wonIn(effects),
  };
}

/** A new instance starts; the world says why it keeps the name of the old one. */
function crash({ ballot, disk }: VoterState, isWritten: boolean): Outcome {
  const { id, instance } = ballot.self;
  const record = isWritten || !disk ? ballot.record : disk;
  const state = { ballot: startBallot(id, instance, record), disk: null };
  return { state, sent: isWritten ? hearsayOf(record) : [], won: 0 };
}

function stepOf(ballot: Ballot, input: Input, rules: BallotRules): BallotStep {
  switch (input.type) {
    case 'hear':
      return hear(ballot, input.packet, input.isRecent, rules);
    case 'stand':
      return stand(ballot, 0);
    case 'stand-down':
      return { ballot: standDown(ballot), effects: [] };
    case 'reconfigure':
      return reconfigure(ballot, input.voters, rules);
    case 'stored':
      return stored(ballot, rules);
    case 'crash':
      throw new TypeError('a crash is no step of a ballot');
  }
}

function hear(ballot: Ballot, packet: Packet, isRecent: boolean, rules: BallotRules): BallotStep {
  switch (packet.type) {
    case 'ask':
      return receiveAsk(ballot, packet, { reluctance: null, isRecent, evidence: '' }, rules);
    case 'beat':
      return receiveBeat(ballot, packet, '', rules);
    case 'reply':
      return packet.message.type === 'vote'
        ? receiveVote(ballot, packet.message, rules)
        : receiveAck(ballot, packet.message, rules);
    case 'introduce':
      return add(ballot, packet.voter, rules);
    case 'config':
      return receiveConfig(ballot, GROUP, packet.config, rules);
    case 'epoch':
      return receiveVote(ballot, refusalAt(packet.epoch), rules);
  }
}

function add(ballot: Ballot, voter: Voter, rules: BallotRules): BallotStep {
  const voters = ballot.record.config?.voters ?? [];
  if (voters.some((one) => isSameVoter(one, voter))) return { ballot, effects: [] };
  return reconfigure(ballot, [...voters, voter], rules);
}

/** The late answer to some older candidacy, which says no more than how far the voter is. */
function refusalAt(reached: number): VoteMessage {
  return {
    type: 'vote',
    group: GROUP,
    isTrial: false,
    epoch: 0,
    candidate: '',
    voter: { id: '', storageId: '' },
    denial: 'epoch',
    reached,
    evidence: '',
    config: null,
  };
}

function sentWith(effect: BallotEffect, { self, record }: Ballot): Packet[] {
  if (effect.type === 'reply') return packetsOf(effect);
  const { config, epoch } = record;
  if (effect.type !== 'solicit' || !config) return [];
  const question = { type: 'ask', group: GROUP, isTrial: false, epoch, candidate: self } as const;
  return [{ ...question, config, evidence: '', permit: null }];
}

/** With its config, and without: whoever has acknowledged it is not told again. */
function beatsOf({ role, isStoring, self, record }: Ballot): BeatMessage[] {
  const { config, epoch } = record;
  if (role !== 'leader' || isStoring || !config) return [];
  const beat = {
    type: 'beat',
    group: GROUP,
    epoch,
    leader: self,
    round: 0,
    configEpoch: config.epoch,
    configVersion: config.version,
  } as const;
  return [
    { ...beat, config },
    { ...beat, config: null },
  ];
}

function wonIn(effects: readonly BallotEffect[]): number {
  for (const effect of effects) if (effect.type === 'won') return effect.epoch;
  return 0;
}

/** Name of the one founding. */
export const GROUP = 'group';
