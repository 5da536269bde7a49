import { DoyenError, type DoyenNode } from '@doyen/core';
import { ObservableV2 } from 'lib0/observable';
import { Awareness } from 'y-protocols/awareness';
import type * as Y from 'yjs';
import type { ProviderFault } from './fault.ts';
import type { ServerState, Status } from './message.ts';
import { checkOptions, type ProviderOptions } from './options.ts';
import { Presence } from './presence.ts';
import { type Marks, Replica } from './replica.ts';
import { Room, type RoomListener } from './room.ts';
import { Seat, type SeatListener } from './seat.ts';

/** Events of a {@link DoyenProvider}, by the names that y-websocket has for them. */
export interface ProviderEvents {
  status(event: { readonly status: Status }): void;
  sync(isSynced: boolean): void;
  synced(isSynced: boolean): void;
  /** `unsynced` has another value. */
  unsynced(count: number): void;
  /** Something does not work; the provider goes on. */
  fault(fault: ProviderFault): void;
}

/**
 * Keeps a document equal to those of all members that open the same room, and to that of a
 * y-websocket server, to which only the leader is connected.
 *
 * @throws TypeError or RangeError that names a wrong option; TypeError when the node has the room
 * open already; DoyenError `unsupported` without a `WebSocket`, `left` when the node has left.
 */
export function doyenProvider(doc: Y.Doc, options: ProviderOptions): DoyenProvider {
  checkOptions(options);
  const { node, room, url, WebSocket = globalThis.WebSocket } = options;
  if (url !== undefined && typeof WebSocket !== 'function') {
    throw new DoyenError('unsupported', 'there is no WebSocket here: give one as an option');
  }
  if (isOver(node)) throw new DoyenError('left', 'the node has left; nothing was opened');
  const rooms = openRooms.get(node) ?? new Set();
  if (rooms.has(room)) {
    throw new TypeError(`room: ${room} is open on this node already; destroy its provider first`);
  }
  openRooms.set(node, rooms.add(room));
  return new DoyenProvider(doc, options);
}

/** A document's connection to its room, as `doyenProvider()` gives it. */
export class DoyenProvider extends ObservableV2<{
  [Name in keyof ProviderEvents]: ProviderEvents[Name];
}> {
  readonly doc: Y.Doc;
  readonly awareness: Awareness;
  readonly node: DoyenNode;
  /** Name of the document. */
  readonly room: string;
  readonly #options: ProviderOptions;
  readonly #controller = new AbortController();
  readonly #members: Room;
  readonly #replica: Replica;
  readonly #presence: Presence;
  readonly #seat: Seat<Marks> | null;
  readonly #ticker: ReturnType<typeof setInterval>;
  readonly #waiters = new Set<(error?: { readonly reason: unknown }) => void>();
  #shown = { status: 'connecting' as Status, isSynced: false, unsynced: 0 };
  /** Ticks in which another node led and had not opened the room. */
  #absentTicks = 0;
  #isDestroyed = false;

  /** @internal Use `doyenProvider()`. */
  constructor(doc: Y.Doc, options: ProviderOptions) {
    super();
    const { node, room } = options;
    this.doc = doc;
    this.node = node;
    this.room = room;
    this.#options = options;
    this.awareness = options.awareness ?? new Awareness(doc);
    this.#members = new Room({ node, name: room, listener: this.#roomListener() });
    const isFromServer = (origin: unknown): boolean => this.#seat?.isOrigin(origin) ?? false;
    const fault = (what: ProviderFault): void => this.#fault(what);
    const common = { room: this.#members, origin: this, isFromServer, fault };
    this.#replica = new Replica({
      ...common,
      doc,
      server: () => this.#server,
      changed: () => this.#refresh(),
      unconfirmed: (what) => this.#seat?.unconfirmed(what),
    });
    this.#presence = new Presence({ ...common, awareness: this.awareness });
    this.#seat = this.#newSeat();
    this.#ticker = setInterval(() => this.#tick(), TICK_MS);
    this.#begin();
  }

  /** Of the connection to the server, whoever holds it; without a server, of the node. */
  get status(): Status {
    if (this.#isDestroyed || isOver(this.node)) return 'disconnected';
    if (!this.#seat) return this.node.state === 'joined' ? 'connected' : 'connecting';
    if (this.#members.isLeader) return this.#seat.server.status;
    return this.#members.leader?.server.status ?? 'connecting';
  }

  /**
   * Whether this document has had everything: of the server, over the leader; without a server, of
   * the members.
   */
  get synced(): boolean {
    if (this.#isDestroyed || isOver(this.node)) return false;
    const { leader, isLeader } = this.#members;
    if (!this.#seat) return this.#replica.hasSettled && (!leader || this.#replica.isInStep);
    if (isLeader) return this.#seat.server.isSynced;
    return leader?.server.isSynced === true && this.#replica.isInStep;
  }

  /**
   * How many changes that were made here the server has not confirmed: 0 only after its answer, and
   * always without a server. A change is one transaction; what the document held at the beginning
   * counts as one.
   */
  get unsynced(): number {
    return this.#seat ? this.#replica.unconfirmed : 0;
  }

  /**
   * Resolves as soon as `synced` is true and `unsynced` 0.
   * @throws the reason of `signal` when that aborts; DoyenError `left` when the provider is
   * destroyed or its node has left.
   */
  async whenSynced({ signal }: { readonly signal?: AbortSignal } = {}): Promise<void> {
    signal?.throwIfAborted();
    if (this.#isDestroyed) throw destroyed();
    while (!this.synced || this.unsynced > 0) await this.#turn(signal);
  }

  /**
   * Closes the room, and the connection if this node holds it; others see this user go at once. The
   * document stays as it is. Idempotent. Called by itself when the document is destroyed or the node
   * leaves.
   */
  override destroy(): void {
    if (this.#isDestroyed) return;
    this.#replica.close();
    this.#members.close();
    this.#isDestroyed = true;
    clearInterval(this.#ticker);
    this.#controller.abort(destroyed());
    this.#presence.close();
    this.doc.off('destroy', this.#destroy);
    if (!this.#options.awareness) this.awareness.destroy();
    openRooms.get(this.node)?.delete(this.room);
    for (const done of [...this.#waiters]) done({ reason: destroyed() });
    this.#refresh();
    super.destroy();
  }

  /** Resolves at the next change of what is shown; rejects at the end, and when `signal` aborts. */
  #turn(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const done = (error?: { readonly reason: unknown }): void => {
        this.#waiters.delete(done);
        signal?.removeEventListener('abort', abort);
        if (error) reject(error.reason);
        else resolve();
      };
      const abort = (): void => done({ reason: signal?.reason });
      this.#waiters.add(done);
      signal?.addEventListener('abort', abort);
    });
  }

  get #server(): ServerState {
    return this.#seat?.server ?? { status: 'disconnected', isSynced: false };
  }

  #newSeat(): Seat<Marks> | null {
    const { url } = this.#options;
    if (url === undefined) return null;
    const { doc, awareness } = this;
    const listener = this.#seatListener();
    return new Seat({ target: { ...this.#options, url }, content: { doc, awareness }, listener });
  }

  #begin(): void {
    const { signal } = this.#controller;
    const seat = this.#seat;
    this.doc.on('destroy', this.#destroy);
    const changed = (): void => (isOver(this.node) ? this.destroy() : this.#refresh());
    this.node.addEventListener('statechange', changed, { signal });
    this.#presence.renew();
    this.#replica.call();
    this.#refresh();
    if (!seat) return;
    const leading = this.node.leadership.lead((term) => seat.occupy(term), { signal });
    // Ends with the provider or with the node, and both are heard of otherwise.
    leading.catch((error: unknown) => error);
  }

  #roomListener(): RoomListener {
    return {
      entered: (participant, message) => {
        const isCalling = message.type === 'summary' && message.wantsAnswer;
        if (!isCalling) this.#replica.call(participant.id);
        this.#presence.welcome(participant);
      },
      received: (participant, message) => {
        this.#replica.received(participant, message);
        this.#presence.received(participant, message);
      },
      gone: (participant) => {
        this.#presence.gone(participant);
        this.#refresh();
      },
      joined: (memberId) => this.#replica.call(memberId),
      rerouted: (participant) => {
        this.#replica.remind(participant);
        this.#presence.welcome(participant);
      },
      missed: (participant) => {
        this.#replica.exchange(participant);
        this.#members.send(participant.id, { type: 'renew' });
      },
      leaderChanged: () => {
        this.#absentTicks = 0;
        this.#replica.leaderChanged();
        this.#refresh();
      },
      behind: () => this.#replica.behind(),
      fault: (fault) => this.#fault(fault),
    };
  }

  #seatListener(): SeatListener<Marks> {
    return {
      changed: () => {
        if (this.#members.isLeader) this.#replica.remindAll();
        this.#refresh();
      },
      connected: () => this.#seat?.forget(this.#presence.renewAll()),
      marks: () => this.#replica.marks,
      confirmed: (marks) => this.#replica.confirm(marks),
      fault: (fault) => this.#fault(fault),
    };
  }

  #tick(): void {
    this.#replica.tick();
    this.#presence.tick();
    if (!this.#seat || !this.#members.isLeaderAbsent) return;
    this.#absentTicks += 1;
    if (this.#absentTicks !== ABSENT_TICKS) return;
    const { id } = this.node.leadership.current ?? {};
    const message = `${id} leads and has not opened ${this.room}, so nobody connects`;
    this.#fault({ code: 'leader-absent', message, ...(id !== undefined && { member: id }) });
  }

  readonly #destroy = (): void => this.destroy();

  /** Tells what has changed since it was last told. */
  #refresh(): void {
    const before = this.#shown;
    const { status, synced: isSynced, unsynced } = this;
    this.#shown = { status, isSynced, unsynced };
    if (status !== before.status) this.#tell('status', [{ status }]);
    if (isSynced !== before.isSynced) {
      this.#tell('synced', [isSynced]);
      this.#tell('sync', [isSynced]);
    }
    if (unsynced !== before.unsynced) this.#tell('unsynced', [unsynced]);
    for (const done of [...this.#waiters]) done();
  }

  #fault(fault: ProviderFault): void {
    this.#tell('fault', [fault]);
  }

  /** What a listener throws goes where the platform reports errors, and stops nothing here. */
  #tell<Name extends keyof ProviderEvents & string>(
    name: Name,
    values: Parameters<ProviderEvents[Name]>,
  ): void {
    try {
      this.emit(name, values);
    } catch (error) {
      queueMicrotask(() => {
        throw error;
      });
    }
  }
}

function isOver({ state }: DoyenNode): boolean {
  return state === 'left' || state === 'failed';
}

function destroyed(): DoyenError {
  return new DoyenError('left', 'the provider was destroyed, or its node has left');
}

/** A room is open once on a node: two would be one member to the others, with one connection. */
const openRooms = new WeakMap<DoyenNode, Set<string>>();
/** Rare enough to cost nothing, often enough for awareness states, which live for 30 s. */
const TICK_MS = 5_000;
/** Two: a leader that has just begun may be about to open the room. */
const ABSENT_TICKS = 2;
