import { AddressBook } from './address-book.ts';
import type { SignalingLimits } from './limits.ts';
import { Presence } from './presence.ts';
import {
  byteLength,
  CLOSE,
  type ClientMessage,
  type ErrorCode,
  type HelloMessage,
  type IceServer,
  PING,
  PONG,
  parseClientMessage,
  type ServerMessage,
} from './protocol.ts';
import type { Member } from './room.ts';
import { TokenBucket } from './token-bucket.ts';

/** What the hub wants done, in order. `C` is whatever the adapter calls a socket. */
export type Effect<C> =
  | { readonly type: 'send'; readonly socket: C; readonly text: string }
  | { readonly type: 'close'; readonly socket: C; readonly code: number; readonly reason: string }
  | { readonly type: 'authorize'; readonly socket: C; readonly hello: HelloMessage };

/** Answer to an `authorize` effect. */
export type Verdict =
  | { readonly isAllowed: true; readonly iceServers?: readonly IceServer[] }
  | { readonly isAllowed: false };

/** What the hub needs; it has no randomness and no cryptography of its own. */
export interface HubOptions {
  readonly limits: SignalingLimits;
  /** 128 random bits as base64url. */
  readonly randomId: () => string;
  /** SHA-256 as text. */
  readonly digest: (text: string) => string;
}

/** Sizes of what the hub holds right now. */
export interface HubMetrics {
  readonly sockets: number;
  readonly pending: number;
  readonly rooms: number;
  readonly members: number;
  readonly away: number;
  readonly addresses: number;
}

interface Connection<C> {
  readonly socket: C;
  readonly roomId: string;
  readonly address: string;
  readonly messages: TokenBucket;
  readonly bytes: TokenBucket;
  phase: 'greeted' | 'authorizing' | 'refused' | 'joined';
  /** When the phase ends by itself; not used while joined. */
  deadline: number;
  hello: HelloMessage | undefined;
  member: Member<C> | undefined;
  badMessages: number;
  heardAt: number;
  isPinged: boolean;
}

/**
 * The signaling server without sockets, clock or timers: every call says what happened at `now` (any
 * monotonic ms) and gives the effects. No input makes it throw, and none reaches past its own room.
 */
export class Hub<C> {
  readonly #limits: SignalingLimits;
  readonly #connections = new Map<C, Connection<C>>();
  readonly #pending = new Set<Connection<C>>();
  readonly #addresses: AddressBook<C>;
  readonly #presence: Presence<C>;
  #effects: Effect<C>[] = [];
  #isDraining = false;

  constructor(options: HubOptions) {
    this.#limits = options.limits;
    this.#addresses = new AddressBook(options.limits);
    const send = (socket: C, message: ServerMessage): void => this.#send(socket, message);
    this.#presence = new Presence({ ...options, send });
  }

  /** Counts, taken from the live state. */
  metrics(): HubMetrics {
    return {
      sockets: this.#connections.size,
      pending: this.#pending.size,
      ...this.#presence.counts,
      addresses: this.#addresses.size,
    };
  }

  /** Whether a sweep would find nothing to do. */
  get isEmpty(): boolean {
    const { rooms } = this.#presence.counts;
    return this.#connections.size + rooms + this.#addresses.size === 0;
  }

  /** A socket opened for a room, from a network address. */
  open(
    socket: C,
    { room, address, now }: { room: string; address: string; now: number },
  ): Effect<C>[] {
    const refusal = this.#refusal(socket, address, now);
    if (refusal !== undefined) {
      this.#effects.push({ type: 'close', socket, ...refusal });
      return this.#drain();
    }
    const connection = this.#connection(socket, { room, address, now });
    this.#connections.set(socket, connection);
    this.#pending.add(connection);
    const { heartbeatMs, messageBytesMax, roomPeersMax, messagesPerSec, bytesPerSec } =
      this.#limits;
    this.#send(socket, {
      type: 'welcome',
      features: ['away', 'resume'],
      heartbeatMs,
      limits: { messageBytesMax, roomPeersMax, messagesPerSec, bytesPerSec },
    });
    return this.#drain();
  }

  /** A text frame came. */
  message(socket: C, text: string, now: number): Effect<C>[] {
    const connection = this.#connections.get(socket);
    if (connection === undefined) return [];
    connection.heardAt = now;
    connection.isPinged = false;
    const size = byteLength(text);
    if (size > this.#limits.messageBytesMax)
      this.#expel(connection, CLOSE.tooBig, 'message too large', now);
    else this.#receive(connection, { text, size, now });
    return this.#drain();
  }

  /** The verdict on an earlier `authorize` effect; ignored once the socket has gone. */
  authorized(socket: C, verdict: Verdict, now: number): Effect<C>[] {
    const connection = this.#connections.get(socket);
    if (connection?.phase !== 'authorizing') return [];
    if (verdict.isAllowed) this.#enter(connection, verdict.iceServers, now);
    else {
      connection.phase = 'refused';
      connection.deadline = now + this.#addresses.refused(connection.address, now);
    }
    return this.#drain();
  }

  /** The adapter found a reason to end a socket: a binary frame, a slow reader. */
  refuse(
    socket: C,
    { code, reason, now }: { code: number; reason: string; now: number },
  ): Effect<C>[] {
    const connection = this.#connections.get(socket);
    if (connection !== undefined) this.#expel(connection, code, reason, now);
    return this.#drain();
  }

  /** The socket is closed, by whichever side. Code 1000 is a goodbye, all others may come back. */
  close(socket: C, code: number, now: number): Effect<C>[] {
    const connection = this.#connections.get(socket);
    if (connection === undefined) return [];
    this.#forget(connection);
    this.#lose(connection.member, code, now);
    return this.#drain();
  }

  /** Time passed; call it once a second while the hub is not empty. */
  sweep(now: number): Effect<C>[] {
    for (const connection of [...this.#connections.values()]) {
      if (connection.phase === 'joined') this.#checkIdle(connection, now);
      else if (now >= connection.deadline) this.#expire(connection, now);
    }
    this.#presence.sweep(now);
    this.#addresses.sweep(now);
    return this.#drain();
  }

  /** Planned shutdown: everybody is told to come back within `spreadMs`, and let go. Final. */
  shutdown(spreadMs: number): Effect<C>[] {
    this.#isDraining = true;
    for (const connection of [...this.#connections.values()]) {
      this.#send(connection.socket, { type: 'draining', spreadMs });
      this.#end(connection, CLOSE.restart, 'restart');
    }
    this.#presence.clear();
    return this.#drain();
  }

  #refusal(socket: C, address: string, now: number): { code: number; reason: string } | undefined {
    const { socketsMax, pendingHelloMax } = this.#limits;
    if (this.#isDraining) return { code: CLOSE.restart, reason: 'restart' };
    if (this.#connections.size >= socketsMax || this.#pending.size >= pendingHelloMax)
      return { code: CLOSE.overloaded, reason: 'overloaded' };
    if (!this.#addresses.admit(address, socket, now))
      return { code: CLOSE.rateLimited, reason: 'too many sockets of this address' };
    return undefined;
  }

  #connection(
    socket: C,
    { room, address, now }: { room: string; address: string; now: number },
  ): Connection<C> {
    const { messagesPerSec, messagesBurst, bytesPerSec, bytesBurst, helloTimeoutMs } = this.#limits;
    return {
      socket,
      roomId: room,
      address,
      messages: new TokenBucket({ perSec: messagesPerSec, burst: messagesBurst, now }),
      bytes: new TokenBucket({ perSec: bytesPerSec, burst: bytesBurst, now }),
      phase: 'greeted',
      deadline: now + helloTimeoutMs,
      hello: undefined,
      member: undefined,
      badMessages: 0,
      heardAt: now,
      isPinged: false,
    };
  }

  #receive(
    connection: Connection<C>,
    { text, size, now }: { text: string; size: number; now: number },
  ): void {
    const { messages, bytes, socket, member } = connection;
    const retryMs = Math.max(messages.take(1, now), bytes.take(size, now));
    if (messages.isFlooded || bytes.isFlooded) {
      this.#expel(connection, CLOSE.rateLimited, 'flood', now);
      return;
    }
    const parsed = parseClientMessage(text);
    const ref = refOf(parsed);
    if (retryMs > 0) {
      this.#error(socket, 'rate_limited', { ...ref, retryMs });
      return;
    }
    if ('error' in parsed) {
      this.#error(socket, parsed.error, ref);
      if (parsed.error === 'bad_message') this.#strike(connection, now);
      return;
    }
    // Whoever speaks on a resumed socket has received its new token.
    if (member !== undefined) member.formerDigest = undefined;
    this.#handle(connection, parsed.message, now);
  }

  #handle(connection: Connection<C>, message: ClientMessage, now: number): void {
    const { member, socket, phase } = connection;
    if (message.type === 'bye') {
      this.#expel(connection, CLOSE.bye, 'bye', now);
      return;
    }
    if (message.type === 'hello') {
      if (phase === 'greeted') {
        this.#hello(connection, message, now);
        return;
      }
      this.#error(socket, 'bad_message');
      this.#strike(connection, now);
      return;
    }
    if (member === undefined) {
      this.#error(socket, 'unauthorized', refOf({ message }));
      this.#strike(connection, now);
      return;
    }
    if (message.type === 'ping') this.#effects.push({ type: 'send', socket, text: PONG });
    if (message.type === 'signal') this.#signal(member, message);
  }

  #hello(connection: Connection<C>, hello: HelloMessage, now: number): void {
    connection.phase = 'authorizing';
    connection.deadline = now + this.#limits.helloTimeoutMs;
    connection.hello = hello;
    this.#effects.push({ type: 'authorize', socket: connection.socket, hello });
  }

  #signal(sender: Member<C>, { to, data, ref }: ClientMessage & { type: 'signal' }): void {
    const target = to === sender.peer ? undefined : sender.room.members.get(to)?.socket;
    if (target !== undefined) {
      this.#send(target, { type: 'signal', from: sender.peer, data });
      return;
    }
    if (sender.socket !== undefined)
      this.#error(sender.socket, 'no_such_peer', ref === undefined ? {} : { ref });
  }

  #enter(
    connection: Connection<C>,
    iceServers: readonly IceServer[] | undefined,
    now: number,
  ): void {
    const resumed = this.#resume(connection, now);
    const member = resumed ?? this.#join(connection, now);
    if (member === undefined) return;
    this.#pending.delete(connection);
    connection.phase = 'joined';
    connection.hello = undefined;
    connection.member = member;
    const { peer, seq } = member;
    const peers = member.room.viewOf(member);
    this.#send(connection.socket, {
      type: 'ready',
      peer,
      resume: this.#presence.renewToken(member),
      peers,
      seq,
      ...(iceServers === undefined ? {} : { iceServers }),
    });
    // Whoever kept its view over the gap is told to replace it.
    if (resumed !== undefined) this.#send(connection.socket, { type: 'peers', peers, seq });
  }

  #resume(connection: Connection<C>, now: number): Member<C> | undefined {
    const { socket, roomId, hello } = connection;
    const token = hello?.resume;
    if (token === undefined) return undefined;
    const resumed = this.#presence.resume(roomId, { socket, token });
    const old = resumed?.replaced && this.#connections.get(resumed.replaced);
    if (old !== undefined) {
      old.member = undefined;
      this.#expel(old, CLOSE.replaced, 'replaced', now);
    }
    return resumed?.member;
  }

  #join(connection: Connection<C>, now: number): Member<C> | undefined {
    const { roomId, socket, hello } = connection;
    const member = this.#presence.join(roomId, { socket, meta: hello?.meta });
    if (typeof member === 'object') return member;
    if (member === 'room_full') {
      this.#error(socket, 'room_full');
      this.#expel(connection, CLOSE.roomFull, 'room full', now);
    } else this.#expel(connection, CLOSE.overloaded, 'too many rooms', now);
    return undefined;
  }

  #checkIdle(connection: Connection<C>, now: number): void {
    const { heartbeatMs, idleTimeoutMs } = this.#limits;
    const quietMs = now - connection.heardAt;
    if (quietMs >= idleTimeoutMs) {
      this.#expel(connection, CLOSE.goingAway, 'idle', now);
      return;
    }
    // Timers of a hidden page fire once a minute, but it still answers messages.
    if (quietMs < Math.min(1.5 * heartbeatMs, (heartbeatMs + idleTimeoutMs) / 2)) return;
    if (connection.isPinged) return;
    connection.isPinged = true;
    this.#effects.push({ type: 'send', socket: connection.socket, text: PING });
  }

  #expire(connection: Connection<C>, now: number): void {
    const { phase, socket } = connection;
    if (phase === 'greeted') this.#expel(connection, CLOSE.helloTimeout, 'no hello', now);
    else if (phase === 'authorizing')
      this.#expel(connection, CLOSE.overloaded, 'authorization timed out', now);
    else {
      this.#error(socket, 'unauthorized');
      this.#expel(connection, CLOSE.unauthorized, 'unauthorized', now);
    }
  }

  #strike(connection: Connection<C>, now: number): void {
    connection.badMessages += 1;
    if (connection.badMessages >= this.#limits.badMessagesMax)
      this.#expel(connection, CLOSE.malformed, 'malformed', now);
  }

  #expel(connection: Connection<C>, code: number, reason: string, now: number): void {
    this.#end(connection, code, reason);
    this.#lose(connection.member, code, now);
  }

  #end(connection: Connection<C>, code: number, reason: string): void {
    this.#forget(connection);
    this.#effects.push({ type: 'close', socket: connection.socket, code, reason });
  }

  #forget(connection: Connection<C>): void {
    this.#connections.delete(connection.socket);
    this.#pending.delete(connection);
    this.#addresses.release(connection.address, connection.socket);
  }

  #lose(member: Member<C> | undefined, code: number, now: number): void {
    if (member === undefined) return;
    if (code === CLOSE.bye) this.#presence.leave(member, 'bye');
    else this.#presence.lose(member, now);
  }

  #error(socket: C, code: ErrorCode, details: { ref?: string; retryMs?: number } = {}): void {
    this.#send(socket, { type: 'error', code, ...details });
  }

  #send(socket: C, message: ServerMessage): void {
    this.#effects.push({ type: 'send', socket, text: JSON.stringify(message) });
  }

  #drain(): Effect<C>[] {
    const effects = this.#effects;
    this.#effects = [];
    return effects;
  }
}

function refOf(parsed: ReturnType<typeof parseClientMessage>): { ref?: string } {
  const ref =
    'error' in parsed
      ? parsed.ref
      : parsed.message.type === 'signal'
        ? parsed.message.ref
        : undefined;
  return ref === undefined ? {} : { ref };
}
