import type { PeerInfo } from './protocol.ts';

/** One peer's place in a room. It outlives the socket by the resume window. */
export interface Member<C> {
  readonly peer: string;
  readonly room: Room<C>;
  readonly meta: string | undefined;
  /** Its socket, `undefined` while it is away. */
  socket: C | undefined;
  awaySince: number;
  /** Digest of the token that may take this place over. */
  resumeDigest: string;
  /** Digest of the token before that, until the client has shown that it got the new one. */
  formerDigest: string | undefined;
  /** Number of the last change that it was told. */
  seq: number;
}

/** The peers that meet under one room id. Nothing outside it can be addressed from inside. */
export class Room<C> {
  readonly id: string;
  readonly members = new Map<string, Member<C>>();

  constructor(id: string) {
    this.id = id;
  }

  /** The room as `member` sees it. */
  viewOf(member: Member<C>): PeerInfo[] {
    return this.others(member).map(({ peer, meta, socket }) => ({
      peer,
      ...(meta === undefined ? {} : { meta }),
      ...(socket === undefined ? { away: true as const } : {}),
    }));
  }

  others(member: Member<C>): Member<C>[] {
    return [...this.members.values()].filter((other) => other !== member);
  }

  /** The member that a resume token belongs to. */
  memberWithToken(digest: string): Member<C> | undefined {
    return [...this.members.values()].find(
      ({ resumeDigest, formerDigest }) =>
        isEqual(resumeDigest, digest) ||
        (formerDigest !== undefined && isEqual(formerDigest, digest)),
    );
  }

  longestAway(): Member<C> | undefined {
    const away = [...this.members.values()].filter(({ socket }) => socket === undefined);
    return away.sort((a, b) => a.awaySince - b.awaySince)[0];
  }
}

/** Compares in a time that does not depend on where two texts differ. */
function isEqual(a: string, b: string): boolean {
  if (a.length !== b.length) return false;
  let difference = 0;
  for (let i = 0; i < a.length; i += 1) difference |= a.charCodeAt(i) ^ b.charCodeAt(i);
  return difference === 0;
}
