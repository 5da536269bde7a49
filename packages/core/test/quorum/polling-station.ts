import { decode, encode } from '../../src/machine/codec.ts';
import type { Effect, MachineEvent } from '../../src/machine/effect.ts';
import type { Machine } from '../../src/machine/machine.ts';
import { decodeBallot, encodeBallot } from '../../src/machine/quorum/ballot-codec.ts';
import type { BallotMessage } from '../../src/machine/quorum/ballot-message.ts';
import type { Voter, VoterConfig } from '../../src/machine/quorum/config.ts';
import { type QuorumOptions, quorum } from '../../src/machine/quorum/quorum.ts';
import { encodeRecord } from '../../src/machine/quorum/record-codec.ts';
import type { VoterRecord } from '../../src/machine/quorum/voter-record.ts';
import { hello, lone, record } from '../machine/bench.ts';

/**
 * The machine of one voter, `me` of `me`, `she` and `you`, and two others that say only what a test
 * lets them say. What the machine writes is stored at once.
 */
export class PollingStation {
  readonly machine: Machine;
  readonly said: BallotMessage[] = [];
  readonly events: MachineEvent[] = [];
  writeCount = 0;
  #now = 0;

  constructor(stored: Partial<VoterRecord> = {}, vote: Partial<QuorumOptions> = {}) {
    const election = quorum({ voters: ['me', 'she', 'you'], ...vote });
    const { elect } = election;
    const owner = { cluster: 'c', id: 'me' };
    this.machine = lone({ elect, hasStore: true, strategy: election.rankBy });
    const bytes = encodeRecord({ ...RECORD, ...stored }, owner);
    this.machine.restore(bytes, 'unused', 0);
    for (const id of ['she', 'you']) {
      this.machine.linkUp(id, 0);
      const self = record({ id, instance: `${id}-1`, birth: 1 });
      this.machine.receive(id, encode(hello({ self })), 0);
    }
    this.#settle();
    // A voter that starts with a record is silent so long, and stands at most 300 ms later.
    this.run(3001);
  }

  get now(): number {
    return this.#now;
  }

  /** Lets time pass; the two others answer pings, and nothing else. */
  run(ms: number): void {
    const end = this.#now + ms;
    while (this.machine.nextDeadline() <= end) {
      this.#now = Math.max(this.#now, this.machine.nextDeadline());
      this.machine.advance(this.#now);
      this.#settle();
    }
    this.#now = end;
  }

  /** What one of the two others says; without a name, `you`. */
  hear(message: BallotMessage | Uint8Array, from = 'you'): void {
    const payload = message instanceof Uint8Array ? message : encodeBallot(message);
    this.machine.receive(from, encode({ type: 'ballot', payload }), this.#now);
    this.#settle();
  }

  /** What the machine has said since it was asked last, of one type. */
  replies<T extends BallotMessage['type']>(type: T): Extract<BallotMessage, { type: T }>[] {
    const said = this.said.splice(0);
    return said.filter((message): message is Extract<BallotMessage, { type: T }> => {
      return message.type === type;
    });
  }

  /** Rules of the violations since it was asked last. */
  violations(): string[] {
    return this.events.splice(0).flatMap((event) => {
      return event.type === 'violation' ? [event.rule] : [];
    });
  }

  /** Lets time pass until the machine says something of this type, and gives that. */
  until<T extends BallotMessage['type']>(type: T): Extract<BallotMessage, { type: T }> {
    for (let waitedMs = 0; waitedMs < 5000; waitedMs += 10) {
      const found = this.said.find((message) => message.type === type);
      this.said.length = 0;
      if (found) return found as Extract<BallotMessage, { type: T }>;
      this.run(10);
    }
    throw new Error(`nobody was told "${type}"`);
  }

  /** It wins the epoch after the one stored, with the vote of `you`, and leads. */
  win(evidence = ''): void {
    for (const isTrial of [true, false]) {
      this.hear({ ...vote(this.until('ask').epoch), isTrial, evidence });
    }
    this.hear(ack(this.until('beat')));
  }

  #settle(): void {
    for (let effects = this.machine.drain(); effects.length > 0; effects = this.machine.drain()) {
      for (const effect of effects) this.#take(effect);
    }
  }

  #take(effect: Effect): void {
    if (effect.type === 'event') this.events.push(effect.event);
    else if (effect.type === 'store') {
      this.writeCount += 1;
      this.machine.stored(effect.ticket, this.#now);
    } else if (effect.type === 'send') {
      const message = decode(effect.bytes);
      if (message.type === 'ballot') this.said.push(decodeBallot(message.payload));
      if (message.type === 'ping') {
        this.machine.receive(effect.peer, encode({ ...message, type: 'pong' }), this.#now);
      }
    }
  }
}

export const ME: Voter = { id: 'me', storageId: 's-me' };
export const YOU: Voter = { id: 'you', storageId: 's-you' };
export const SHE: Voter = { id: 'she', storageId: 's-she' };
export const CONFIG: VoterConfig = { epoch: 4, version: 1, voters: [ME, SHE, YOU] };
export const RECORD: VoterRecord = {
  group: 'g',
  storageId: 's-me',
  epoch: 4,
  votedFor: null,
  config: CONFIG,
};

export function ask(epoch: number, patch: Partial<BallotMessage & { type: 'ask' }> = {}) {
  const candidate = { ...YOU, instance: 'you-1' };
  const [config, evidence, permit] = [CONFIG, '', null];
  const group = 'g';
  const isTrial = false;
  return {
    type: 'ask',
    group,
    isTrial,
    epoch,
    candidate,
    config,
    evidence,
    permit,
    ...patch,
  } as const;
}

export function vote(epoch: number, patch: Partial<BallotMessage & { type: 'vote' }> = {}) {
  return {
    type: 'vote',
    group: 'g',
    isTrial: false,
    epoch,
    candidate: 'me-1',
    voter: YOU,
    denial: null,
    reached: epoch - 1,
    evidence: '',
    config: null,
    ...patch,
  } as const;
}

export function beat(epoch: number, patch: Partial<BallotMessage & { type: 'beat' }> = {}) {
  return {
    type: 'beat',
    group: 'g',
    epoch,
    leader: { ...YOU, instance: 'you-1' },
    round: 1,
    configEpoch: CONFIG.epoch,
    configVersion: CONFIG.version,
    config: null,
    ...patch,
  } as const;
}

export function config(patch: Partial<VoterConfig>) {
  return {
    type: 'config',
    group: 'g',
    voter: YOU,
    config: { ...CONFIG, ...patch },
    isComplete: true,
    wantsAnswer: false,
  } as const;
}

/** Answers a beat of `me` as `you` does, which has stored everything. */
export function ack(
  { epoch, round, configEpoch, configVersion }: BallotMessage & { type: 'beat' },
  patch: Partial<BallotMessage & { type: 'ack' }> = {},
) {
  const voter = YOU;
  return {
    type: 'ack',
    group: 'g',
    epoch,
    round,
    voter,
    configEpoch,
    configVersion,
    evidence: '',
    ...patch,
  } as const;
}
