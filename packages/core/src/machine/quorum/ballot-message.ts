import type { Voter, VoterConfig } from './config.ts';
import type { Stander } from './voter-record.ts';

/** What voters say to each other. `group` tells the voters of one founding from all others. */
export type BallotMessage =
  | AskMessage
  | VoteMessage
  | BeatMessage
  | AckMessage
  | PermitMessage
  | IntroduceMessage
  | ConfigMessage;

/** Asks for a vote, or whether there would be one (Q4). */
export interface AskMessage {
  readonly type: 'ask';
  readonly group: string;
  readonly isTrial: boolean;
  readonly epoch: number;
  readonly candidate: Stander;
  readonly config: VoterConfig;
  /** JSON of the application's evidence; '' for none (Q3). */
  readonly evidence: string;
  /** The leader of this epoch and instance has asked the candidate to take over (Q10). */
  readonly permit: Permit | null;
}

export interface Permit {
  readonly epoch: number;
  readonly instance: string;
}

/** Why a vote is refused. */
export type Denial =
  | 'epoch'
  | 'voted'
  | 'sticky'
  | 'silent'
  | 'evidence'
  | 'config'
  | 'not-a-voter';

export interface VoteMessage {
  readonly type: 'vote';
  readonly group: string;
  readonly isTrial: boolean;
  /** Of the question. */
  readonly epoch: number;
  /** Instance of the candidate that asked. */
  readonly candidate: string;
  readonly voter: Voter;
  /** `null`: granted. */
  readonly denial: Denial | null;
  /** The epoch that the voter has reached. */
  readonly reached: number;
  readonly evidence: string;
  /** The voter's config, where it is newer than the candidate's. */
  readonly config: VoterConfig | null;
}

/** The leader's proof of life to a voter; who acknowledges it renews the lease (Q6). */
export interface BeatMessage {
  readonly type: 'beat';
  readonly group: string;
  readonly epoch: number;
  readonly leader: Stander;
  readonly round: number;
  readonly configEpoch: number;
  readonly configVersion: number;
  /** Left out once the voter has acknowledged it. */
  readonly config: VoterConfig | null;
}

export interface AckMessage {
  readonly type: 'ack';
  readonly group: string;
  /** The epoch that the voter has reached: above the leader's, it ends its term. */
  readonly epoch: number;
  readonly round: number;
  readonly voter: Voter;
  /** The config that the voter has stored. */
  readonly configEpoch: number;
  readonly configVersion: number;
  readonly evidence: string;
}

/** The leader of `epoch` asks the receiver to stand at once (Q10). */
export interface PermitMessage {
  readonly type: 'permit';
  readonly group: string;
  readonly epoch: number;
}

/** Who has a storage and no config yet says so, to found the voters or to be added to them (Q0). */
export interface IntroduceMessage {
  readonly type: 'introduce';
  readonly voter: Voter;
  /** Ids of the voters that shall found the group, as this node was told; empty for an observer. */
  readonly founders: readonly string[];
  readonly wantsAnswer: boolean;
}

/** What the sender has stored. `isComplete`: it knows that every founder has (Q0). */
export interface ConfigMessage {
  readonly type: 'config';
  readonly group: string;
  readonly voter: Voter;
  readonly config: VoterConfig;
  readonly isComplete: boolean;
  readonly wantsAnswer: boolean;
}

/** In whose name a message is; `null` where it does not say. */
export function signatureOf(message: BallotMessage): {
  readonly id: string | null;
  readonly instance: string | null;
} {
  switch (message.type) {
    case 'ask':
      return message.candidate;
    case 'beat':
      return message.leader;
    case 'permit':
      return { id: null, instance: null };
    default:
      return { id: message.voter.id, instance: null };
  }
}

/** The highest epoch that it speaks of; 0 for none. */
export function epochOf(message: BallotMessage): number {
  switch (message.type) {
    case 'introduce':
      return 0;
    case 'config':
      return message.config.epoch;
    case 'vote':
      return Math.max(message.reached, message.config?.epoch ?? 0);
    case 'ask':
    case 'beat':
      return Math.max(message.epoch, message.config?.epoch ?? 0);
    default:
      return message.epoch;
  }
}
