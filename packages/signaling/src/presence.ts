import type { SignalingLimits } from './limits.ts';
import type { LeftReason, ServerMessage } from './protocol.ts';
import { type Member, Room } from './room.ts';

/** What presence needs from its surroundings. */
export interface PresenceOptions<C> {
  readonly limits: SignalingLimits;
  /** 128 random bits as base64url. */
  readonly randomId: () => string;
  /** SHA-256 as text. */
  readonly digest: (text: string) => string;
  readonly send: (socket: C, message: ServerMessage) => void;
}

/** A place taken over, and the socket that held it until now. */
export interface Resumed<C> {
  readonly member: Member<C>;
  readonly replaced: C | undefined;
}

/**
 * Who is in which room, and who is away and may come back. Tells each member every change of its
 * own room once, under consecutive numbers.
 */
export class Presence<C> {
  readonly #limits: SignalingLimits;
  readonly #randomId: () => string;
  readonly #digest: (text: string) => string;
  readonly #send: (socket: C, message: ServerMessage) => void;
  readonly #rooms = new Map<string, Room<C>>();
  /** In the order in which they went. */
  readonly #away = new Set<Member<C>>();

  constructor({ limits, randomId, digest, send }: PresenceOptions<C>) {
    this.#limits = limits;
    this.#randomId = randomId;
    this.#digest = digest;
    this.#send = send;
  }

  get counts(): { readonly rooms: number; readonly members: number; readonly away: number } {
    let members = 0;
    for (const room of this.#rooms.values()) members += room.members.size;
    return { rooms: this.#rooms.size, members, away: this.#away.size };
  }

  /** A new member, or which limit is in the way. */
  join(
    roomId: string,
    { socket, meta }: { socket: C; meta: string | undefined },
  ): Member<C> | 'too_many_rooms' | 'room_full' {
    const known = this.#rooms.get(roomId);
    if (known === undefined && this.#rooms.size >= this.#limits.roomsMax) return 'too_many_rooms';
    const room = known ?? new Room<C>(roomId);
    if (!this.#hasPlace(room)) return 'room_full';
    const peer = this.#randomId();
    const member = { peer, room, meta, socket, awaySince: 0, ...NO_TOKEN, seq: 0 };
    this.#rooms.set(roomId, room);
    room.members.set(peer, member);
    const details = meta === undefined ? { peer } : { peer, meta };
    this.#tell(member, (seq) => ({ type: 'joined', ...details, seq }));
    return member;
  }

  /** Takes an earlier place over, from its old socket too if that still seems open. */
  resume(roomId: string, { socket, token }: { socket: C; token: string }): Resumed<C> | undefined {
    const digest = this.#digest(token);
    const member = this.#rooms.get(roomId)?.memberWithToken(digest);
    if (member === undefined) return undefined;
    const replaced = member.socket;
    member.socket = socket;
    // The answer may get lost: until the client is heard, its old token opens the door again.
    member.formerDigest = digest;
    if (this.#away.delete(member))
      this.#tell(member, (seq) => ({ type: 'back', peer: member.peer, seq }));
    return { member, replaced };
  }

  /** Issues the token with which this place can be taken over next. */
  renewToken(member: Member<C>): string {
    const token = this.#randomId();
    member.resumeDigest = this.#digest(token);
    return token;
  }

  /** A member's socket is gone; its place is kept for a while. */
  lose(member: Member<C>, now: number): void {
    member.socket = undefined;
    member.awaySince = now;
    this.#away.add(member);
    this.#tell(member, (seq) => ({ type: 'away', peer: member.peer, seq }));
    // As many may be awaited as may be here.
    for (const oldest of this.#away) {
      if (this.#away.size <= this.#limits.socketsMax) break;
      this.leave(oldest, 'timeout');
    }
  }

  /** A member is gone for good. An empty room goes with it. */
  leave(member: Member<C>, reason: LeftReason): void {
    const { room, peer } = member;
    this.#away.delete(member);
    room.members.delete(peer);
    if (room.members.size === 0) this.#rooms.delete(room.id);
    this.#tell(member, (seq) => ({ type: 'left', peer, reason, seq }));
  }

  /** Gives up those who did not come back in time. */
  sweep(now: number): void {
    for (const member of this.#away) {
      if (now - member.awaySince < this.#limits.resumeWindowMs) break;
      this.leave(member, 'timeout');
    }
  }

  /** Forgets everybody, telling nobody. */
  clear(): void {
    this.#rooms.clear();
    this.#away.clear();
  }

  /** Whoever is here goes before whoever may come back. */
  #hasPlace(room: Room<C>): boolean {
    if (room.members.size < this.#limits.roomPeersMax) return true;
    const absent = room.longestAway();
    if (absent !== undefined) this.leave(absent, 'replaced');
    return absent !== undefined;
  }

  #tell(about: Member<C>, message: (seq: number) => ServerMessage): void {
    for (const other of about.room.others(about)) {
      if (other.socket === undefined) continue;
      other.seq += 1;
      this.#send(other.socket, message(other.seq));
    }
  }
}

const NO_TOKEN = { resumeDigest: '', formerDigest: undefined };
