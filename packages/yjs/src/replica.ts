import * as Y from 'yjs';
import { digestOf } from './digest.ts';
import type { ProviderFault } from './fault.ts';
import type { RoomMessage, ServerState } from './message.ts';
import type { Participant, Room } from './room.ts';
import { hasIntegrated, hasReached, readUpdate } from './update.ts';

/** What a replica needs of the provider around it. */
export interface ReplicaSurroundings {
  readonly doc: Y.Doc;
  readonly room: Room;
  /** Origin of transactions that apply what members send. */
  readonly origin: object;
  /** Whether a transaction applied what the server sent. */
  isFromServer(origin: unknown): boolean;
  /** Of this node's own connection. */
  server(): ServerState;
  /** Something that the provider shows may have changed. */
  changed(): void;
  /** There may be something that the server has not confirmed, in the document or about it. */
  unconfirmed(what: { readonly isInDocument: boolean }): void;
  fault(fault: ProviderFault): void;
}

/** How far a document has the changes of each participant, its own included. */
export interface Marks {
  readonly own: number;
  readonly others: ReadonlyMap<Participant, number>;
}

/**
 * Keeps the document of this node equal to those of the other participants. Everybody tells all
 * others its own changes at once. Digests find what got lost on the way; then two exchange what the
 * other lacks, one of them being the leader where there is one. What the leader learns so, and from
 * the server, it passes on.
 */
export class Replica {
  readonly #around: ReplicaSurroundings;
  #changes: number;
  #confirmed = 0;
  #digest: number | null = null;
  #outgoing: { readonly update: Uint8Array; readonly isOwn: boolean }[] = [];
  /** What is being applied is news to the others, too. */
  #isPassingOn = false;
  /** The leader's instance, once this document has had all of the leader's. */
  #isInStepWith: string | null = null;
  /** Participants were called, and may not have answered yet. */
  #isCalling = false;
  #hasSettled = false;
  #settleTimer: ReturnType<typeof setTimeout> | undefined;
  #isUnsettled = false;
  #tickCount = 0;
  #isClosed = false;

  constructor(surroundings: ReplicaSurroundings) {
    this.#around = surroundings;
    const { doc } = surroundings;
    // What is in it already came from nobody here: only the server can confirm it.
    this.#changes = doc.store.clients.size > 0 ? 1 : 0;
    doc.on('update', this.#updated);
  }

  close(): void {
    this.#around.doc.off('update', this.#updated);
    this.#flush();
    this.#isClosed = true;
    clearTimeout(this.#settleTimer);
  }

  /** Own changes that the server has not confirmed. */
  get unconfirmed(): number {
    return this.#changes - this.#confirmed;
  }

  /** Whether this document has had all of the leader's; true for the leader itself. */
  get isInStep(): boolean {
    const { room } = this.#around;
    return room.isLeader || room.leader?.instance === this.#isInStepWith;
  }

  /** Whether everybody had time to answer the first call. */
  get hasSettled(): boolean {
    return this.#hasSettled;
  }

  get marks(): Marks {
    const others = new Map<Participant, number>();
    for (const participant of this.#around.room.participants.values()) {
      others.set(participant, participant.changes);
    }
    return { own: this.#changes, others };
  }

  /** The server holds the changes up to these marks. */
  confirm({ own, others }: Marks): void {
    const { room, changed } = this.#around;
    this.#confirmed = Math.max(this.#confirmed, own);
    for (const [participant, changes] of others) {
      const { id, session, told } = participant;
      if (changes <= told || room.participants.get(id) !== participant) continue;
      participant.told = changes;
      room.send(id, { type: 'confirmed', of: session, changes });
    }
    changed();
  }

  /** Asks everybody in the cluster, or one member, to answer if it has the room open. */
  call(memberId?: string): void {
    this.#isCalling = true;
    const summary = this.#summary({ wantsAnswer: true });
    if (memberId === undefined) this.#around.room.call(summary);
    else this.#around.room.send(memberId, summary);
    this.#settleSoon();
  }

  /** Lets a participant compare. */
  remind(participant: Participant): void {
    participant.isBehind = false;
    this.#around.room.send(participant.id, this.#summary());
  }

  /** Lets all compare; also tells them how the connection to the server is. */
  remindAll(): void {
    for (const participant of this.#around.room.participants.values()) this.remind(participant);
  }

  /** Exchanges with a participant what either lacks. */
  exchange(participant: Participant, { isMutual = true } = {}): void {
    if (participant.isAsked) return;
    participant.isAsked = true;
    const stateVector = Y.encodeStateVector(this.#around.doc);
    this.#around.room.send(participant.id, { type: 'ask', isMutual, stateVector });
  }

  leaderChanged(): void {
    const { room } = this.#around;
    if (room.isLeader) {
      for (const participant of room.participants.values()) participant.isAsked = false;
      this.remindAll();
    } else if (room.leader) this.remind(room.leader);
    else if (room.isLeaderAbsent) this.call();
  }

  /** To be called every few seconds. */
  tick(): void {
    this.#tickCount += 1;
    for (const participant of this.#around.room.participants.values()) participant.isAsked = false;
    if (this.#isUnsettled || this.#tickCount % IDLE_TICKS === 0) this.#settle();
  }

  /** A participant got no news lately. */
  behind(): void {
    this.#settleSoon();
  }

  received(participant: Participant, message: RoomMessage): void {
    switch (message.type) {
      case 'summary':
        return this.#compare(participant, message);
      case 'ask':
        return this.#answer(participant, message);
      case 'state':
        return this.#takeState(participant, message);
      case 'update':
        return this.#takeUpdate(participant, message);
      case 'confirmed':
        return this.#takeConfirmed(message);
    }
  }

  readonly #updated = (update: Uint8Array, origin: unknown): void => {
    const { origin: own, isFromServer, unconfirmed, changed } = this.#around;
    this.#digest = null;
    const isFromMember = origin === own;
    const isOwn = !isFromMember && !isFromServer(origin);
    if (isOwn) this.#changes += 1;
    if (!isFromMember || this.#isPassingOn) this.#send(update, isOwn);
    if (!isFromServer(origin)) unconfirmed({ isInDocument: true });
    this.#settleSoon();
    if (isOwn) changed();
  };

  #send(update: Uint8Array, isOwn: boolean): void {
    this.#outgoing.push({ update, isOwn });
    // What is changed in one turn travels together.
    if (this.#outgoing.length === 1) queueMicrotask(() => this.#flush());
  }

  #flush(): void {
    const outgoing = this.#outgoing.splice(0);
    const { room } = this.#around;
    if (outgoing.length === 0 || room.participants.size === 0) return;
    const updates = outgoing.map(({ update }) => update);
    const update = updates.length === 1 ? updates[0] : Y.mergeUpdates(updates);
    const count = outgoing.filter(({ isOwn }) => isOwn).length;
    if (update) room.tell({ type: 'update', changes: this.#changes, count, update });
  }

  #compare(participant: Participant, summary: RoomMessage & { readonly type: 'summary' }): void {
    const { room, changed, unconfirmed } = this.#around;
    participant.server = summary.server;
    if (summary.wantsAnswer) this.remind(participant);
    // A first word was lost: whoever it was from or to has no reason for another.
    if (summary.participants > room.participants.size + 1) {
      room.callStrangers(this.#summary({ wantsAnswer: true }));
    }
    if (summary.digest === this.#currentDigest()) {
      this.#has(participant, summary.changes);
      this.#inStepWith(participant);
    } else if (room.isLeader || participant === room.leader || this.#isLeaderless()) {
      this.exchange(participant);
    }
    if (summary.isWaiting) {
      participant.told = 0;
      unconfirmed({ isInDocument: false });
    }
    changed();
  }

  #answer(participant: Participant, ask: RoomMessage & { readonly type: 'ask' }): void {
    const { doc, room } = this.#around;
    this.#flush();
    let update: Uint8Array;
    try {
      update = Y.encodeStateAsUpdate(doc, ask.stateVector);
    } catch (cause) {
      return this.#malformed(participant, cause);
    }
    const stateVector = Y.encodeStateVector(doc);
    room.send(participant.id, { type: 'state', changes: this.#changes, stateVector, update });
    if (ask.isMutual) this.exchange(participant, { isMutual: false });
  }

  #takeState(participant: Participant, state: RoomMessage & { readonly type: 'state' }): void {
    const { doc, room } = this.#around;
    let reached: ReadonlyMap<number, number>;
    try {
      readUpdate(state.update);
      reached = Y.decodeStateVector(state.stateVector);
    } catch (cause) {
      return this.#malformed(participant, cause);
    }
    participant.isAsked = false;
    this.#apply(participant, state.update, { isPassedOn: room.isLeader });
    if (!hasReached(doc, reached)) return;
    this.#has(participant, state.changes);
    this.#inStepWith(participant);
  }

  #takeUpdate(participant: Participant, news: RoomMessage & { readonly type: 'update' }): void {
    const { changes, count, update } = news;
    let content: ReturnType<typeof readUpdate>;
    try {
      content = readUpdate(update);
    } catch (cause) {
      return this.#malformed(participant, cause);
    }
    this.#apply(participant, update, { isPassedOn: false });
    const isNext = changes - count <= participant.changes;
    if (isNext && hasIntegrated(this.#around.doc, content)) this.#has(participant, changes);
    else this.exchange(participant);
  }

  #takeConfirmed({ of, changes }: RoomMessage & { readonly type: 'confirmed' }): void {
    const { room, changed } = this.#around;
    if (of !== room.session) return;
    this.#confirmed = Math.max(this.#confirmed, Math.min(changes, this.#changes));
    changed();
  }

  /** The document has all changes of the participant up to this number. */
  #has(participant: Participant, changes: number): void {
    if (changes <= participant.changes) return;
    participant.changes = changes;
    this.#around.unconfirmed({ isInDocument: false });
  }

  #apply(from: Participant, update: Uint8Array, { isPassedOn }: { isPassedOn: boolean }): void {
    const { doc, origin, fault } = this.#around;
    this.#isPassingOn = isPassedOn;
    try {
      Y.applyUpdate(doc, update, origin);
    } catch (cause) {
      const message = 'applying an update threw; an observer of the document may have';
      fault({ code: 'apply-failed', message, member: from.id, cause });
    } finally {
      this.#isPassingOn = false;
    }
  }

  #inStepWith({ instance }: Participant): void {
    const { room, changed } = this.#around;
    if (instance !== room.leader?.instance || instance === this.#isInStepWith) return;
    this.#isInStepWith = instance;
    changed();
  }

  /** Nobody is there whose part it would be to find differences. */
  #isLeaderless(): boolean {
    const { room } = this.#around;
    return !room.leader && !(room.isLeaderAbsent && this.#isCalling);
  }

  #summary({ wantsAnswer = false } = {}): RoomMessage {
    this.#flush();
    return {
      type: 'summary',
      wantsAnswer,
      isWaiting: this.unconfirmed > 0,
      server: this.#around.server(),
      participants: this.#around.room.participants.size + 1,
      changes: this.#changes,
      digest: this.#currentDigest(),
    };
  }

  #currentDigest(): number {
    this.#digest ??= digestOf(this.#around.doc);
    return this.#digest;
  }

  #settleSoon(): void {
    if (this.#isClosed) return;
    this.#isUnsettled = true;
    clearTimeout(this.#settleTimer);
    this.#settleTimer = setTimeout(() => this.#settle(), SETTLE_MS);
  }

  /** Says where this document stands: followers to the leader, the leader to all. */
  #settle(): void {
    clearTimeout(this.#settleTimer);
    const { room, changed } = this.#around;
    this.#isUnsettled = false;
    this.#isCalling = false;
    this.#hasSettled = true;
    for (const participant of room.participants.values()) {
      if (!room.leader || participant === room.leader || participant.isBehind) {
        this.remind(participant);
      }
    }
    changed();
  }

  #malformed({ id }: Participant, cause: unknown): void {
    const message = `what ${id} sent is no update of a document`;
    this.#around.fault({ code: 'malformed', message, member: id, cause });
  }
}

/** Pause after which a document is compared: digests of documents in flux differ all the time. */
const SETTLE_MS = 1_000;
/** Of 5 s each: what got lost without a trace while nothing changed is found after 15 s. */
const IDLE_TICKS = 3;
