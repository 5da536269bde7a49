import type { VotersRefusal } from '../effect.ts';
import type { AckMessage, AskMessage, BeatMessage, Denial, VoteMessage } from './ballot-message.ts';
import {
  compareConfigs,
  differenceOf,
  hasVoter,
  isSameVoter,
  majorityOf,
  sortVoters,
  type Voter,
  type VoterConfig,
} from './config.ts';
import type { Stander, VoterRecord } from './voter-record.ts';

/**
 * One voter, without time: what it has stored, what it has promised, and whom it has heard since.
 * Plain data, so that a test can visit every state that there is.
 */
export interface Ballot {
  readonly self: Stander;
  /** While `isStoring`, what is being written: nothing that rests on it goes out before. */
  readonly record: VoterRecord;
  readonly isStoring: boolean;
  /** `elect`: has won, and stores its config under the new epoch before it acts. */
  readonly role: 'follower' | 'candidate' | 'elect' | 'leader';
  /** Voters that have granted this candidacy. */
  readonly grants: readonly Voter[];
  /** Voters that have stored exactly this config, and said so in this epoch. */
  readonly holders: readonly Voter[];
  /** What goes out once the record is stored. */
  readonly withheld: readonly BallotEffect[];
}

export type BallotEffect =
  | { readonly type: 'store'; readonly record: VoterRecord }
  | {
      readonly type: 'reply';
      /** Instance of the candidate, or of the leader. */
      readonly to: string;
      readonly message: VoteMessage | AckMessage;
    }
  /** The self-vote is stored: others may be asked. */
  | { readonly type: 'solicit' }
  /** A majority has granted this epoch. */
  | { readonly type: 'won'; readonly epoch: number }
  /** The winner's config is stored: it may act. */
  | { readonly type: 'lead' }
  /** Somebody has reached a higher epoch, or leads in this one: the candidacy or the term is over. */
  | { readonly type: 'follow' };

export interface BallotStep {
  readonly ballot: Ballot;
  readonly effects: readonly BallotEffect[];
}

/** What the voter's clock, its application, and its state of life say of a question. */
export interface AskContext {
  /** Why there can be no vote now, whatever the question: a living leader, or a restart (Q4, Q6). */
  readonly reluctance: 'sticky' | 'silent' | null;
  /** Whether the candidate's evidence is at least as recent as this voter's (Q3). */
  readonly isRecent: boolean;
  readonly evidence: string;
}

/** What each safety rule rests on. Tests alone replace one, to see that it is needed. */
export interface BallotRules {
  readonly compareConfigs: typeof compareConfigs;
  /** Whether the winner writes its config anew under its epoch. */
  readonly rewritesConfig: boolean;
  readonly hasVoter: typeof hasVoter;
  readonly majorityOf: typeof majorityOf;
  /** Whether who takes a config enters the epoch that it was written in. */
  readonly entersConfigEpoch: boolean;
  /** Whether votes go to candidates whose config is not older only. */
  readonly votesByConfig: boolean;
  /** Whether a vote binds for the whole epoch. */
  readonly votesOnce: boolean;
  /** Whether a change waits until a majority has stored the config before it. */
  readonly needsHolders: boolean;
  /** Whether what is acknowledged in another epoch counts for nothing. */
  readonly countsOwnEpoch: boolean;
  /** Whether acknowledgements of an earlier config count for nothing. */
  readonly clearsHolders: boolean;
  readonly differenceMax: number;
}

export const BALLOT_RULES: BallotRules = /* @__PURE__ */ Object.freeze({
  compareConfigs,
  rewritesConfig: true,
  hasVoter,
  majorityOf,
  entersConfigEpoch: true,
  votesByConfig: true,
  votesOnce: true,
  needsHolders: true,
  countsOwnEpoch: true,
  clearsHolders: true,
  differenceMax: 1,
});

/** A voter that starts with what it has stored. */
export function startBallot(id: string, instance: string, record: VoterRecord): Ballot {
  return {
    self: { id, storageId: record.storageId, instance },
    record,
    isStoring: false,
    role: 'follower',
    grants: [],
    holders: [],
    withheld: [],
  };
}

/** Stands for an epoch above everything known: the own vote is stored before anybody is asked. */
export function stand(ballot: Ballot, epochSeen: number): BallotStep {
  const epoch = Math.max(ballot.record.epoch, epochSeen) + 1;
  const record = { ...ballot.record, epoch, votedFor: ballot.self };
  return store({ ...ballot, role: 'candidate', grants: [], holders: [] }, record, [
    { type: 'solicit' },
  ]);
}

/** Why a vote would be refused; `null` when it would be granted. Changes nothing (Q4). */
export function denialOf(
  { self, record }: Ballot,
  ask: AskMessage,
  { reluctance, isRecent }: AskContext,
  rules: BallotRules = BALLOT_RULES,
): Denial | null {
  if (ask.epoch < record.epoch) return 'epoch';
  const isMember = rules.hasVoter(ask.config, ask.candidate) && rules.hasVoter(ask.config, self);
  if (!isMember) return 'not-a-voter';
  const isOlder = record.config && rules.compareConfigs(ask.config, record.config) < 0;
  if (rules.votesByConfig && isOlder) return 'config';
  if (isRepeat(record, ask)) return null;
  if (reluctance) return reluctance;
  if (!isRecent) return 'evidence';
  const isTaken = ask.epoch === record.epoch && record.votedFor !== null;
  return isTaken && rules.votesOnce ? 'voted' : null;
}

/** Grants or refuses a vote (Q3). */
export function receiveAsk(
  ballot: Ballot,
  ask: AskMessage,
  context: AskContext,
  rules: BallotRules = BALLOT_RULES,
): BallotStep {
  const denial = denialOf(ballot, ask, context, rules);
  if (denial) return refuse(ballot, ask, denial, context, rules);
  const { record } = ballot;
  const config = newerOf(record.config, ask.config, rules);
  const next = { ...record, group: ask.group, epoch: ask.epoch, votedFor: ask.candidate, config };
  const reply = answer(ask.candidate.instance, voteOf(ballot, ask, null, next, context.evidence));
  if (isRepeat(record, ask)) return { ballot, effects: [reply] };
  return store(follower(ballot), next, [...overOf(ballot), reply]);
}

/** Counts a vote for this candidacy; a majority of its own config wins. */
export function receiveVote(
  ballot: Ballot,
  vote: VoteMessage,
  rules: BallotRules = BALLOT_RULES,
): BallotStep {
  const { record, role } = ballot;
  if (vote.reached > record.epoch) return reach(ballot, vote.reached, vote.config, rules);
  const isNews = isNewer(vote.config, record.config, rules);
  if (isNews && !isActing(ballot)) return install(ballot, record, vote.config, rules);
  // What a trial has promised comes for the same epoch, and is no vote (Q4).
  const isOurs =
    !vote.isTrial && vote.epoch === record.epoch && vote.candidate === ballot.self.instance;
  if (role !== 'candidate' || !isOurs || vote.denial) return still(ballot);
  return grant(ballot, vote.voter, rules);
}

/** Hears the leader of an epoch, takes its config, and says which one is stored here (Q9). */
export function receiveBeat(
  ballot: Ballot,
  beat: BeatMessage,
  evidence: string,
  rules: BallotRules = BALLOT_RULES,
): BallotStep {
  const { record } = ballot;
  const isHigher = beat.epoch > record.epoch;
  const isInstalled = (isHigher || !isActing(ballot)) && isNewer(beat.config, record.config, rules);
  const next = {
    ...record,
    group: beat.group,
    ...(isHigher && { epoch: beat.epoch, votedFor: null }),
    ...(isInstalled && beat.config && { config: beat.config }),
  };
  const isFollower = isHigher || isInstalled || (!isActing(ballot) && beat.epoch === record.epoch);
  const after = isFollower ? follower(ballot) : ballot;
  const reply = answer(beat.leader.instance, ackOf(ballot, beat, next, evidence));
  const effects = [...(isFollower ? overOf(ballot) : []), reply];
  if (!isHigher && !isInstalled) return { ballot: after, effects };
  return store(after, next, effects);
}

/** Notes who has stored this leader's config; a higher epoch ends its term (Q8). */
export function receiveAck(
  ballot: Ballot,
  ack: AckMessage,
  rules: BallotRules = BALLOT_RULES,
): BallotStep {
  const { record, role, holders } = ballot;
  const isOther = ack.epoch !== record.epoch;
  if (isOther && rules.countsOwnEpoch) {
    return ack.epoch > record.epoch ? reach(ballot, ack.epoch, null, rules) : still(ballot);
  }
  const { config } = record;
  if (role !== 'leader' || ballot.isStoring || !config) return still(ballot);
  const isHolder = ack.configEpoch === config.epoch && ack.configVersion === config.version;
  if (!isHolder || !rules.hasVoter(config, ack.voter)) return still(ballot);
  return still({ ...ballot, holders: withVoter(holders, ack.voter) });
}

/** Somebody's config: taken when it is newer, by whoever does not lead (Q9). */
export function receiveConfig(
  ballot: Ballot,
  group: string,
  config: VoterConfig,
  rules: BallotRules = BALLOT_RULES,
): BallotStep {
  const { record } = ballot;
  const isHigher = rules.entersConfigEpoch && config.epoch > record.epoch;
  if (!isHigher && isActing(ballot)) return still(ballot);
  if (!isNewer(config, record.config, rules)) return still(ballot);
  return install(ballot, { ...record, group }, config, rules);
}

/** Why the voters cannot be changed to these now; `null` when they can. */
export function refusalOf(
  ballot: Ballot,
  voters: readonly Voter[],
  rules: BallotRules = BALLOT_RULES,
): VotersRefusal | null {
  const { config } = ballot.record;
  if (ballot.role !== 'leader' || !config) return 'not-leader';
  if (voters.length === 0) return 'never-empty';
  if (differenceOf(config.voters, voters) > rules.differenceMax) return 'one-at-a-time';
  // With another storage it would be a second vote of one node (Q2).
  if (new Set(voters.map(({ id }) => id)).size < voters.length) return 'one-at-a-time';
  if (!voters.some((voter) => isSameVoter(voter, ballot.self))) return 'leader-stays';
  if (ballot.isStoring || !isHeld(ballot, rules)) return 'config-quorum';
  return null;
}

/** Whether a majority of the voters has stored the config in force, in this epoch. */
export function isHeld(ballot: Ballot, rules: BallotRules = BALLOT_RULES): boolean {
  const { config } = ballot.record;
  if (!rules.needsHolders) return true;
  return config !== null && ballot.holders.length >= rules.majorityOf(config.voters.length);
}

/** Changes the voters, if nothing forbids it. */
export function reconfigure(
  ballot: Ballot,
  voters: readonly Voter[],
  rules: BallotRules = BALLOT_RULES,
): BallotStep {
  const { config, epoch } = ballot.record;
  if (refusalOf(ballot, voters, rules) || !config) return still(ballot);
  const next = { epoch: rules.rewritesConfig ? epoch : config.epoch, version: config.version + 1 };
  const holders = rules.clearsHolders ? [] : ballot.holders;
  return store(
    { ...ballot, holders },
    {
      ...ballot.record,
      config: { ...next, voters: sortVoters(voters) },
    },
    [],
  );
}

/** Gives a candidacy or a term up. What was voted stays voted. */
export function standDown(ballot: Ballot): Ballot {
  return follower(ballot);
}

/** The record has been stored: what rested on it goes out. */
export function stored(ballot: Ballot, rules: BallotRules = BALLOT_RULES): BallotStep {
  const done = { ...ballot, isStoring: false, withheld: [] };
  if (ballot.role === 'elect') {
    return {
      ballot: { ...done, role: 'leader', holders: [ballot.self] },
      effects: [{ type: 'lead' }],
    };
  }
  if (ballot.role === 'leader') {
    const holders = withVoter(ballot.holders, ballot.self);
    return { ballot: { ...done, holders }, effects: ballot.withheld };
  }
  if (ballot.role !== 'candidate' || !ballot.withheld.some(({ type }) => type === 'solicit')) {
    return { ballot: done, effects: ballot.withheld };
  }
  const step = grant(done, ballot.self, rules);
  return { ballot: step.ballot, effects: [...ballot.withheld, ...step.effects] };
}

/** The own vote counts no more than another's: who is no voter cannot even elect itself (Q2). */
function grant(ballot: Ballot, voter: Voter, rules: BallotRules): BallotStep {
  const { record } = ballot;
  const { config, epoch } = record;
  if (!config || !rules.hasVoter(config, voter)) return still(ballot);
  const grants = withVoter(ballot.grants, voter);
  if (grants.length < rules.majorityOf(config.voters.length)) return still({ ...ballot, grants });
  const rewritten = rules.rewritesConfig ? { ...config, epoch } : config;
  const step = store({ ...ballot, grants, role: 'elect' }, { ...record, config: rewritten }, []);
  return { ballot: step.ballot, effects: [{ type: 'won', epoch }, ...step.effects] };
}

function refuse(
  ballot: Ballot,
  ask: AskMessage,
  denial: Denial,
  { evidence }: AskContext,
  rules: BallotRules,
): BallotStep {
  const { record } = ballot;
  // Who is no voter, or comes while the leader lives, moves nobody (Q4).
  const isKnown = rules.hasVoter(record.config, ask.candidate);
  const isReached = isKnown && (denial === 'config' || denial === 'evidence');
  const isHigher = isReached && ask.epoch > record.epoch;
  const next = isHigher ? { ...record, epoch: ask.epoch, votedFor: null } : record;
  const reply = answer(ask.candidate.instance, voteOf(ballot, ask, denial, next, evidence));
  if (!isHigher) return { ballot, effects: [reply] };
  return store(follower(ballot), next, [...overOf(ballot), reply]);
}

/** Somebody has reached a higher epoch: so does this voter, and it has not voted there yet. */
function reach(
  ballot: Ballot,
  epoch: number,
  config: VoterConfig | null,
  rules: BallotRules,
): BallotStep {
  const record = { ...ballot.record, epoch, votedFor: null };
  if (isNewer(config, record.config, rules)) return install(ballot, record, config, rules);
  return store(follower(ballot), record, overOf(ballot));
}

/**
 * A config bears an epoch that somebody has won. Who takes it enters that epoch: it would else stand
 * there itself, and get the votes of those who have not voted in it, or were not voters yet (Q9).
 */
function install(
  ballot: Ballot,
  record: VoterRecord,
  config: VoterConfig,
  rules: BallotRules,
): BallotStep {
  const isEntered = rules.entersConfigEpoch && config.epoch > record.epoch;
  const entered = isEntered ? { ...record, epoch: config.epoch, votedFor: null } : record;
  return store(follower(ballot), { ...entered, config }, overOf(ballot));
}

function store(ballot: Ballot, record: VoterRecord, withheld: readonly BallotEffect[]): BallotStep {
  // The end of a term or candidacy is nothing to wait with; it rests on no promise.
  const now = withheld.filter(({ type }) => type === 'follow');
  const later = withheld.filter(({ type }) => type !== 'follow');
  const next = { ...ballot, record, isStoring: true, withheld: later };
  return { ballot: next, effects: [...now, { type: 'store', record }] };
}

function follower(ballot: Ballot): Ballot {
  if (ballot.role === 'follower') return ballot;
  return { ...ballot, role: 'follower', grants: [], holders: [] };
}

function overOf(ballot: Ballot): readonly BallotEffect[] {
  return ballot.role === 'follower' ? [] : [{ type: 'follow' }];
}

/** It has won its epoch, and its config is for it alone to change. */
function isActing(ballot: Ballot): boolean {
  return ballot.role === 'leader' || ballot.role === 'elect';
}

function isRepeat(record: VoterRecord, ask: AskMessage): boolean {
  const { votedFor } = record;
  if (ask.epoch !== record.epoch || !votedFor) return false;
  const { id, storageId, instance } = ask.candidate;
  return votedFor.id === id && votedFor.storageId === storageId && votedFor.instance === instance;
}

function isNewer(
  config: VoterConfig | null,
  than: VoterConfig | null,
  rules: BallotRules,
): config is VoterConfig {
  return config !== null && (than === null || rules.compareConfigs(config, than) > 0);
}

function newerOf(a: VoterConfig | null, b: VoterConfig, rules: BallotRules): VoterConfig {
  return a && !isNewer(b, a, rules) ? a : b;
}

function withVoter(voters: readonly Voter[], { id, storageId }: Voter): readonly Voter[] {
  const isIn = voters.some((voter) => voter.id === id && voter.storageId === storageId);
  return isIn ? voters : sortVoters([...voters, { id, storageId }]);
}

function voteOf(
  { self }: Ballot,
  ask: AskMessage,
  denial: Denial | null,
  { epoch, config, group }: VoterRecord,
  evidence: string,
): VoteMessage {
  const { id, storageId } = self;
  // Only a refusal brings news: a vote is for whoever has a config that is as new.
  const isNews = denial !== null && config !== null && compareConfigs(config, ask.config) > 0;
  return {
    type: 'vote',
    group,
    isTrial: ask.isTrial,
    epoch: ask.epoch,
    candidate: ask.candidate.instance,
    voter: { id, storageId },
    denial,
    // A trial moves nobody: not the one who asks either (Q4).
    reached: epoch,
    evidence,
    config: isNews ? config : null,
  };
}

function ackOf(
  { self }: Ballot,
  beat: BeatMessage,
  { epoch, config, group }: VoterRecord,
  evidence: string,
): AckMessage {
  const { id, storageId } = self;
  return {
    type: 'ack',
    group,
    epoch,
    round: beat.round,
    voter: { id, storageId },
    configEpoch: config?.epoch ?? 0,
    configVersion: config?.version ?? 0,
    evidence,
  };
}

function answer(to: string, message: VoteMessage | AckMessage): BallotEffect {
  return { type: 'reply', to, message };
}

function still(ballot: Ballot): BallotStep {
  return { ballot, effects: [] };
}
