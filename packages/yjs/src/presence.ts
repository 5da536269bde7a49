import * as decoding from 'lib0/decoding';
import {
  type Awareness,
  applyAwarenessUpdate,
  encodeAwarenessUpdate,
  removeAwarenessStates,
} from 'y-protocols/awareness';
import type { ProviderFault } from './fault.ts';
import type { RoomMessage } from './message.ts';
import type { Participant, Room } from './room.ts';

/** What presence needs of the provider around it. */
export interface PresenceSurroundings {
  readonly awareness: Awareness;
  readonly room: Room;
  /** Origin of changes that come from members. */
  readonly origin: object;
  /** Whether a change came from the server. */
  isFromServer(origin: unknown): boolean;
  fault(fault: ProviderFault): void;
}

/**
 * Keeps the awareness states of all participants equal. Everybody tells its own; what the leader
 * hears from the server, it passes on. A state goes when its participant does. Where a state was
 * removed while its owner lives, the owner renews it, since an unchanged clock is news to nobody.
 */
export class Presence {
  readonly #around: PresenceSurroundings;
  /** Clients of participants that have gone, in case the server missed it. */
  readonly #departed = new Set<number>();
  /** Only this member gets the own state that is being renewed. */
  #answering: string | null = null;

  constructor(surroundings: PresenceSurroundings) {
    this.#around = surroundings;
    surroundings.awareness.on('update', this.#updated);
  }

  /** Others' states go; the own one stays: it is the application's. */
  close(): void {
    const { awareness, origin } = this.#around;
    awareness.off('update', this.#updated);
    const others = [...awareness.getStates().keys()].filter((id) => id !== awareness.clientID);
    removeAwarenessStates(awareness, others, origin);
    // Forgotten, clocks included, so that whoever opens the room again sees them at once.
    for (const id of others) awareness.meta.delete(id);
  }

  /** Makes the own state news to everybody. */
  renew(): void {
    const { awareness } = this.#around;
    awareness.setLocalState(awareness.getLocalState());
  }

  /**
   * Makes all states news to the server, to which this node has just connected. Gives the clients
   * whose end it may have missed.
   */
  renewAll(): readonly number[] {
    this.#around.room.tell({ type: 'renew' });
    this.renew();
    const departed = [...this.#departed];
    this.#departed.clear();
    return departed;
  }

  /** Lets a newcomer know the states that it cannot know. */
  welcome({ id }: Participant): void {
    const { room, awareness } = this.#around;
    this.#renewFor(id);
    if (!room.isLeader) return;
    const own = new Set([awareness.clientID]);
    for (const { clientId } of room.participants.values()) if (clientId) own.add(clientId);
    const others = [...awareness.getStates().keys()].filter((client) => !own.has(client));
    if (others.length === 0) return;
    room.send(id, { type: 'presences', update: encodeAwarenessUpdate(awareness, others) });
  }

  received(participant: Participant, message: RoomMessage): void {
    if (message.type === 'renew') this.#renewFor(participant.id);
    if (message.type === 'presence' || message.type === 'presences') {
      this.#take(participant, message);
    }
  }

  gone({ clientId }: Participant): void {
    const { awareness, origin, room } = this.#around;
    const isShared = [...room.participants.values()].some((other) => other.clientId === clientId);
    if (clientId === null || clientId === awareness.clientID || isShared) return;
    if (!awareness.meta.has(clientId)) return;
    if (this.#departed.size < DEPARTED_MAX) this.#departed.add(clientId);
    removeAwarenessStates(awareness, [clientId], origin);
  }

  /**
   * To be called every few seconds: has states renewed that are about to be outdated. Timers of
   * hidden pages are late, and so are their renewals; their answers are not.
   */
  tick(): void {
    const { room } = this.#around;
    for (const { id, clientId } of room.participants.values()) {
      if (clientId !== null && this.#isOutdated(clientId)) room.send(id, { type: 'renew' });
    }
  }

  readonly #updated = (
    changes: Readonly<Record<'added' | 'updated' | 'removed', readonly number[]>>,
    origin: unknown,
  ): void => {
    const { awareness, room, isFromServer } = this.#around;
    const changed = [...changes.added, ...changes.updated, ...changes.removed];
    if (changed.includes(awareness.clientID)) {
      const update = encodeAwarenessUpdate(awareness, [awareness.clientID]);
      if (this.#answering === null) room.tell({ type: 'presence', update });
      else room.send(this.#answering, { type: 'presence', update });
    }
    const others = changed.filter((id) => id !== awareness.clientID);
    if (others.length > 0 && isFromServer(origin)) {
      room.tell({ type: 'presences', update: encodeAwarenessUpdate(awareness, others) });
    }
  };

  #isOutdated(client: number): boolean {
    const lastUpdated = this.#around.awareness.meta.get(client)?.lastUpdated;
    return lastUpdated !== undefined && Date.now() - lastUpdated > OUTDATED_MS;
  }

  #renewFor(memberId: string): void {
    // It is about to be outdated for the others, too.
    if (this.#isOutdated(this.#around.awareness.clientID)) return this.renew();
    this.#answering = memberId;
    try {
      this.renew();
    } finally {
      this.#answering = null;
    }
  }

  #take(
    participant: Participant,
    { type, update }: RoomMessage & { readonly type: 'presence' | 'presences' },
  ): void {
    const { awareness, origin, fault } = this.#around;
    const { id } = participant;
    try {
      const clients = clientsOf(update);
      if (type === 'presence') this.#owns(participant, clients);
    } catch (cause) {
      const message = `what ${id} sent is no update of awareness`;
      return fault({ code: 'malformed', message, member: id, cause });
    }
    try {
      applyAwarenessUpdate(awareness, update, origin);
    } catch (cause) {
      fault({ code: 'apply-failed', message: 'a listener of awareness threw', member: id, cause });
    }
  }

  /** The state of this client comes and goes with the participant. */
  #owns(participant: Participant, [client, ...more]: readonly number[]): void {
    if (client === undefined || more.length > 0) throw new Error('not the state of one client');
    if (participant.clientId !== null && participant.clientId !== client) this.gone(participant);
    participant.clientId = client;
    this.#departed.delete(client);
  }
}

/** Reads an update without applying it. @throws Error when it is none. */
function clientsOf(update: Uint8Array): number[] {
  const decoder = decoding.createDecoder(update);
  const count = decoding.readVarUint(decoder);
  if (count > CLIENTS_MAX) throw new Error(`more than ${CLIENTS_MAX} clients`);
  const clients = Array.from({ length: count }, () => {
    const client = decoding.readVarUint(decoder);
    decoding.readVarUint(decoder);
    const state: unknown = JSON.parse(decoding.readVarString(decoder));
    if (typeof state !== 'object') throw new Error('a state is an object or null');
    return client;
  });
  if (decoding.hasContent(decoder)) throw new Error('bytes after the end');
  return clients;
}

/** Of 30 s that a state lives; its owner should have renewed it after 15 s. */
const OUTDATED_MS = 20_000;
/** Of one update. */
const CLIENTS_MAX = 1_024;
/** More than leave while there is no connection. */
const DEPARTED_MAX = 256;
