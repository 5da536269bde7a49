import { digest } from 'lib0/hash/sha256';

// Keeps the ids of this use apart from any other SHA-256 of a cluster name.
const PREFIX = 'doyen.room.v1:';

/**
 * The room in which the nodes of a cluster meet: 43 characters of base64url.
 *
 * A cluster name may be longer than a room id and hold any character, so it is digested, and with
 * SHA-256, because two names that meet in one room by accident or design would see each other's
 * peers. Synchronous, and without `crypto.subtle`, which pages on plain http do not have.
 *
 * The id of a guessable cluster name is guessable too: it separates rooms, it does not protect them.
 */
export function roomIdOf(cluster: string): string {
  const bytes = digest(new TextEncoder().encode(PREFIX + cluster));
  const base64 = btoa(String.fromCharCode(...bytes));
  return base64.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}
