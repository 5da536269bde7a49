import type { BallotEffect } from '../../src/machine/quorum/ballot.ts';
import type { AskMessage, BeatMessage } from '../../src/machine/quorum/ballot-message.ts';
import type { Voter, VoterConfig } from '../../src/machine/quorum/config.ts';
import type { VoterRecord } from '../../src/machine/quorum/voter-record.ts';

export type Reply = Extract<BallotEffect, { type: 'reply' }>;

/**
 * What is under way. `config` and `epoch` are hearsay: they stand for all messages that say so (a
 * refusal, an answer to a beat, a config that is passed on), and anybody may hear them of anybody.
 */
export type Packet =
  | AskMessage
  | BeatMessage
  | Reply
  /** Of a voter with a new storage, which may be added. */
  | { readonly type: 'introduce'; readonly voter: Voter }
  | { readonly type: 'config'; readonly config: VoterConfig }
  | { readonly type: 'epoch'; readonly epoch: number };

/** What a voter that has stored this may tell anybody. */
export function hearsayOf({ epoch, config }: Pick<VoterRecord, 'epoch' | 'config'>): Packet[] {
  const packets: Packet[] = [];
  if (epoch > 0) packets.push({ type: 'epoch', epoch });
  if (config) packets.push({ type: 'config', config });
  return packets;
}

/** An answer as it travels; of a refusal no more matters than its epoch and its config. */
export function packetsOf(reply: Reply): Packet[] {
  const { message } = reply;
  if (message.type === 'ack') return [reply, { type: 'epoch', epoch: message.epoch }];
  const { denial, reached, config } = message;
  return [...(denial === null ? [reply] : []), ...hearsayOf({ epoch: reached, config })];
}
