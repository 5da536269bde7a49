import type { Channel, DoyenNode, Member } from '@doyen/core';
import { uint32 } from 'lib0/random';
import type { ProviderFault } from './fault.ts';
import { decodeMessage, encodeMessage, type RoomMessage, type ServerState } from './message.ts';

/** A member that has the room open, and what this node keeps of it. */
export interface Participant {
  readonly id: string;
  readonly instance: string;
  /** It gets another when it opens the room anew. */
  readonly session: number;
  /** Of its own connection to the server. */
  server: ServerState;
  /** Up to which number this document has its changes. */
  changes: number;
  /** Up to which number it was told that the server has them. */
  told: number;
  /** It was asked for what is missing here, and has not answered yet. */
  isAsked: boolean;
  /** A message to it was lost or has to wait, so that it gets no news until it is reminded. */
  isBehind: boolean;
  /** Whose awareness state goes with it. */
  clientId: number | null;
}

/** Who is told what happens in a room. */
export interface RoomListener {
  /** A member turns up. `message` is the first that it sent. */
  entered(participant: Participant, message: RoomMessage): void;
  received(participant: Participant, message: RoomMessage): void;
  gone(participant: Participant): void;
  /** A member of the cluster that may or may not have the room open. */
  joined(memberId: string): void;
  /** The way to a participant has changed: what was on it may be lost. */
  rerouted(participant: Participant): void;
  /** Messages of a participant were lost. */
  missed(participant: Participant): void;
  leaderChanged(): void;
  /** A participant is behind. */
  behind(): void;
  fault(fault: ProviderFault): void;
}

/** The members that have a room open, and the channel between them. */
export class Room {
  readonly participants = new Map<string, Participant>();
  /** Of this node. */
  readonly session = uint32();
  readonly #node: DoyenNode;
  readonly #channel: Channel;
  readonly #listener: RoomListener;
  readonly #closed = new AbortController();

  constructor(parts: {
    readonly node: DoyenNode;
    readonly name: string;
    readonly listener: RoomListener;
  }) {
    this.#node = parts.node;
    this.#channel = parts.node.channel(CHANNEL_PREFIX + parts.name);
    this.#listener = parts.listener;
    this.#listen();
  }

  close(): void {
    this.tell({ type: 'bye' });
    this.#closed.abort();
  }

  /** Tells every other member of the cluster: who has the room open answers. */
  call(message: RoomMessage): void {
    for (const { id } of this.#node.members) this.send(id, message);
  }

  /** The same to those of whom it is not known whether they have it open. */
  callStrangers(message: RoomMessage): void {
    for (const { id } of this.#node.members) {
      if (!this.participants.has(id)) this.send(id, message);
    }
  }

  send(memberId: string, message: RoomMessage): void {
    if (memberId !== this.#node.id) this.#post(memberId, encodeMessage(message, this.session));
  }

  /** Tells all participants; news only those that are not behind. */
  tell(message: RoomMessage): void {
    if (this.participants.size === 0) return;
    const bytes = encodeMessage(message, this.session);
    for (const { id, isBehind } of this.participants.values()) {
      if (!isBehind || message.type !== 'update') this.#post(id, bytes);
    }
  }

  get isLeader(): boolean {
    return this.#node.leadership.current?.instance === this.#node.instance;
  }

  /** The leader, when it is another node that has the room open. */
  get leader(): Participant | undefined {
    const { current } = this.#node.leadership;
    const participant = current ? this.participants.get(current.id) : undefined;
    return participant?.instance === current?.instance ? participant : undefined;
  }

  /** Another node leads, and it is not known to have the room open. */
  get isLeaderAbsent(): boolean {
    return this.#node.leadership.current !== null && !this.isLeader && !this.leader;
  }

  #listen(): void {
    const options = { signal: this.#closed.signal };
    const listener = this.#listener;
    const known = (act: (participant: Participant) => void) => (event: { readonly from: Member }) =>
      this.#with(event.from, act);
    this.#channel.addEventListener('message', (event) => this.#receive(event), options);
    this.#channel.addEventListener(
      'gap',
      known((from) => listener.missed(from)),
      options,
    );
    this.#channel.addEventListener(
      'dropped',
      known((from) => listener.missed(from)),
      options,
    );
    for (const type of ['memberalive', 'linkchange'] as const) {
      this.#node.addEventListener(
        type,
        ({ member }) => this.#with(member, (from) => listener.rerouted(from)),
        options,
      );
    }
    this.#node.addEventListener('memberjoin', ({ member }) => listener.joined(member.id), options);
    this.#node.addEventListener('memberleave', ({ member }) => this.#remove(member), options);
    this.#node.leadership.addEventListener('change', () => listener.leaderChanged(), options);
  }

  #receive({ from, data }: { readonly from: Member; readonly data: Uint8Array }): void {
    let decoded: ReturnType<typeof decodeMessage>;
    try {
      decoded = decodeMessage(data);
    } catch (cause) {
      const text = `a message of ${from.id} is malformed`;
      return this.#listener.fault({ code: 'malformed', message: text, member: from.id, cause });
    }
    const { session, message } = decoded;
    let participant = this.participants.get(from.id);
    const isKnown = participant?.instance === from.instance && participant.session === session;
    if (participant && (!isKnown || message.type === 'bye')) this.#remove(participant);
    if (message.type === 'bye') return;
    if (!participant || !isKnown) {
      participant = newParticipant(from, session);
      this.participants.set(from.id, participant);
      this.#listener.entered(participant, message);
    }
    this.#listener.received(participant, message);
  }

  #with(member: Member, act: (participant: Participant) => void): void {
    const participant = this.participants.get(member.id);
    if (participant?.instance === member.instance) act(participant);
  }

  #remove({ id, instance }: { readonly id: string; readonly instance: string }): void {
    const participant = this.participants.get(id);
    if (participant?.instance !== instance) return;
    this.participants.delete(id);
    this.#listener.gone(participant);
  }

  #post(memberId: string, bytes: Uint8Array): void {
    if (bytes.length > MESSAGE_BYTES_MAX) return this.#tooLarge(memberId, bytes.length);
    if (this.#channel.send(memberId, bytes) === 'sent') return;
    const participant = this.participants.get(memberId);
    if (!participant || participant.isBehind) return;
    participant.isBehind = true;
    this.#listener.behind();
  }

  #tooLarge(member: string, sizeBytes: number): void {
    const message = `${member} needs ${sizeBytes} bytes; a message has at most ${MESSAGE_BYTES_MAX}`;
    this.#listener.fault({ code: 'too-large', message, member });
  }
}

function newParticipant({ id, instance }: Member, session: number): Participant {
  return {
    id,
    instance,
    session,
    server: { status: 'disconnected', isSynced: false },
    changes: 0,
    told: 0,
    isAsked: false,
    isBehind: false,
    clientId: null,
  };
}

/** Its version: members with another one do not hear each other. */
export const CHANNEL_PREFIX = 'doyen.yjs.v1/';
/** What a channel carries. */
const MESSAGE_BYTES_MAX = 16 * 1024 * 1024;
