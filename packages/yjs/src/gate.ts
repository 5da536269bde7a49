import type { Token } from '@doyen/core';
import { judge } from '@doyen/core/fence';
import { CLOSE, encodeRefusal } from './gate-protocol.ts';
import { type GateRequest, type GateSocket, readClaim, roomOf } from './gate-request.ts';

/** Options of `gate()`. */
export interface GateOptions {
  /** Name of the document that a request is for. @defaultValue its path without the first slash */
  readonly room?: (request: GateRequest) => string;
  /**
   * What sets apart clusters of the same name, such as the authenticated user: connections of one
   * scope never close those of another. @defaultValue none: whoever connects may claim any cluster
   */
  readonly scope?: (request: GateRequest) => string;
  /** Guests of one cluster and room. @defaultValue 8 */
  readonly guestsMax?: number;
  /**
   * For how long the highest epoch is remembered once its holder has gone, in milliseconds.
   * `Infinity` is right where epochs outlive the cluster (`floor`). @defaultValue 10 000
   */
  readonly rememberMs?: number;
  /** Clusters and rooms remembered without a connection; the oldest goes. @defaultValue 10 000 */
  readonly roomsMax?: number;
}

/** How many connections a gate has let in, and what it remembers. */
export interface GateCounts {
  /** Leaders that are connected: one a cluster and room. */
  readonly leaders: number;
  readonly guests: number;
  /** Clusters and rooms whose highest epoch is remembered while nobody is connected. */
  readonly remembered: number;
  /** Connections refused or closed for a newer one, since the beginning. */
  readonly fenced: number;
}

/**
 * Lets one leader a cluster and room connect, the one of the highest epoch (X1). Keeps everything in
 * memory: several instances of a server, or one that restarts, know nothing of each other.
 * @throws TypeError or RangeError that names a wrong option.
 */
export function gate(options: GateOptions = {}): Gate {
  return new Gate(options);
}

/** The gate of one server. See {@link gate}. */
export class Gate {
  readonly #options: Required<GateOptions>;
  readonly #places = new Map<string, Place>();
  /** Those whose leader has gone, in the order in which they will be forgotten. */
  readonly #vacant = new Map<string, Place>();
  #leaders = 0;
  #guests = 0;
  #fenced = 0;

  /** @internal Use `gate()`. */
  constructor(options: GateOptions) {
    this.#options = checkOptions(options);
  }

  /**
   * To be asked for each new connection, before anything else is done with its socket. Connections
   * that name no cluster are let in and not counted.
   * @returns whether to go on with the socket; if not, it is being closed.
   */
  admit(socket: GateSocket, request: GateRequest): boolean {
    const claim = readClaim(request);
    if (claim.type === 'plain') return true;
    const room = this.#options.room(request);
    if (claim.type === 'malformed' || room.length > ROOM_LENGTH_MAX) {
      socket.close(CLOSE.malformed, 'malformed parameters');
      return false;
    }
    const { token, type } = claim;
    const key = keyOf({ ...token, room, scope: this.#options.scope(request) });
    this.#forget();
    const place = this.#places.get(key) ?? {
      mark: null,
      leader: null,
      guests: new Map(),
      since: 0,
    };
    const verdict = judge(place.mark, token);
    if (verdict === 'admitted') return this.#seat(key, place, { token, socket });
    if (type === 'guest') return this.#seatGuest(key, place, { token, socket });
    this.#fenced += 1;
    socket.close(CLOSE.fenced, this.#refusal(place, verdict === 'stale' ? 'stale' : 'conflict'));
    return false;
  }

  /**
   * The highest epoch that was let in, 0 when none is remembered: what a cluster that starts anew
   * gives to its option `floor`, so that it need not wait until the gate has forgotten it.
   */
  high(of: { readonly cluster: string; readonly room: string; readonly scope?: string }): number {
    this.#forget();
    return this.#places.get(keyOf({ scope: '', ...of }))?.mark?.epoch ?? 0;
  }

  get counts(): GateCounts {
    this.#forget();
    return {
      leaders: this.#leaders,
      guests: this.#guests,
      remembered: this.#vacant.size,
      fenced: this.#fenced,
    };
  }

  #seat(key: string, place: Place, { token, socket }: Arrival): boolean {
    const { leader, mark } = place;
    place.mark = token;
    place.leader = socket;
    if (leader === null) this.#leaders += 1;
    else if (mark?.holder === token.holder) dismiss(leader, CLOSE.replaced, 'replaced');
    else {
      this.#fenced += 1;
      dismiss(leader, CLOSE.fenced, this.#refusal(place, 'stale'));
    }
    this.#places.set(key, place);
    this.#vacant.delete(key);
    socket.on('close', (code) => this.#left(key, place, { socket, isLast: code === CLOSE.last }));
    return true;
  }

  #left(
    key: string,
    place: Place,
    { socket, isLast }: { readonly socket: GateSocket; readonly isLast: boolean },
  ): void {
    if (place.leader !== socket) return;
    this.#leaders -= 1;
    place.leader = null;
    place.since = performance.now();
    // The cluster has ended; the next of its name begins to count anew.
    if (isLast) place.mark = null;
    else this.#vacant.set(key, place);
    this.#drop(key, place);
    this.#forget();
  }

  #seatGuest(key: string, place: Place, { token, socket }: Arrival): boolean {
    const former = place.guests.get(token.holder);
    if (!former && place.guests.size >= this.#options.guestsMax) {
      socket.close(CLOSE.crowded, 'too many guests');
      return false;
    }
    if (former) dismiss(former, CLOSE.replaced, 'replaced');
    else this.#guests += 1;
    place.guests.set(token.holder, socket);
    socket.on('close', () => {
      if (place.guests.get(token.holder) !== socket) return;
      place.guests.delete(token.holder);
      this.#guests -= 1;
      this.#drop(key, place);
    });
    return true;
  }

  /** What is past its time, or too much. */
  #forget(): void {
    const { rememberMs, roomsMax } = this.#options;
    const now = performance.now();
    for (const [key, place] of this.#vacant) {
      if (this.#vacant.size <= roomsMax && now - place.since < rememberMs) return;
      this.#vacant.delete(key);
      place.mark = null;
      this.#drop(key, place);
    }
  }

  #drop(key: string, { mark, leader, guests }: Place): void {
    if (mark === null && leader === null && guests.size === 0) this.#places.delete(key);
  }

  #refusal({ mark, leader, since }: Place, verdict: 'stale' | 'conflict'): string {
    const high = mark?.epoch ?? 0;
    // It has said goodbye, and which one is known when its socket has closed.
    const isLeaving = leader?.readyState !== undefined && leader.readyState > OPEN;
    if (isLeaving) return encodeRefusal({ verdict, high, isHeld: false, forgetMs: LEAVING_MS });
    if (leader !== null) return encodeRefusal({ verdict, high, isHeld: true });
    const forgetMs = Math.ceil(this.#options.rememberMs - (performance.now() - since));
    // JSON has no Infinity: whoever is told no time asks again when it likes.
    const wait = Number.isFinite(forgetMs) ? { forgetMs: Math.max(0, forgetMs) } : {};
    return encodeRefusal({ verdict, high, isHeld: false, ...wait });
  }
}

/** What belongs to one cluster and room. */
interface Place {
  /** The newest token that was let in. */
  mark: Token | null;
  leader: GateSocket | null;
  /** By holder. */
  readonly guests: Map<string, GateSocket>;
  /** When the leader's connection ended. */
  since: number;
}

interface Arrival {
  readonly token: Token;
  readonly socket: GateSocket;
}

function keyOf(of: {
  readonly scope: string;
  readonly cluster: string;
  readonly room: string;
}): string {
  return JSON.stringify([of.scope, of.cluster, of.room]);
}

/** What it sends from now on is not read; should it not close by itself, it is cut off. */
function dismiss(socket: GateSocket, code: number, reason: string): void {
  socket.removeAllListeners?.('message');
  socket.close(code, reason);
  const timer: ReturnType<typeof setTimeout> & { unref?(): void } = setTimeout(
    () => socket.terminate?.(),
    CLOSE_MS,
  );
  timer.unref?.();
  socket.on('close', () => clearTimeout(timer));
}

function checkOptions(options: GateOptions): Required<GateOptions> {
  const {
    room = roomOf,
    scope = () => '',
    guestsMax = GUESTS_MAX,
    rememberMs = REMEMBER_MS,
    roomsMax = ROOMS_MAX,
    ...unknown
  } = options;
  const [stray] = Object.keys(unknown);
  if (stray !== undefined) throw new TypeError(`${stray} is no option`);
  for (const [name, value] of Object.entries({ room, scope })) {
    if (typeof value !== 'function') throw new TypeError(`${name} must be a function`);
  }
  for (const [name, value] of Object.entries({ guestsMax, rememberMs, roomsMax })) {
    if (typeof value !== 'number') throw new TypeError(`${name} must be a number, got ${value}`);
    if (!(value >= 0)) throw new RangeError(`${name} must be 0 or more, got ${value}`);
  }
  return { room, scope, guestsMax, rememberMs, roomsMax };
}

const GUESTS_MAX = 8;
/** A failover among devices takes up to 8 s: meanwhile a leader before the last gets no place. */
const REMEMBER_MS = 10_000;
const ROOMS_MAX = 10_000;
/** Of a path; what is remembered must not grow with what strangers send. */
const ROOM_LENGTH_MAX = 1_024;
/** `WebSocket.OPEN`. */
const OPEN = 1;
/** A few round trips. */
const LEAVING_MS = 200;
/** A living client answers a close within a round trip. */
const CLOSE_MS = 1_000;
