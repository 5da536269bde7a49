/**
 * Keeps one small record for each key across restarts. A voter counts only what is stored: it
 * answers nobody before `write` has resolved.
 *
 * A record is 1 byte to 64 KiB, a key 1 to 1024 characters; anything else rejects with a
 * `TypeError` or `RangeError`, and nothing has changed. Bytes are copied on their way in and out.
 */
export interface Store {
  /**
   * What the last `write` of this key left, `null` when nothing was ever written.
   * @throws DoyenError `storage-failed` when it cannot be read, `storage-corrupt` when what is there
   * is no record. Nothing changed then.
   */
  read(key: string): Promise<Uint8Array | null>;

  /**
   * Replaces `previous` by `next`, atomically; durable when it resolves.
   * @throws DoyenError `storage-conflict` when something else than `previous` is stored (two nodes
   * share this record): nothing changed. `storage-failed` when it cannot be written: either of both
   * may be stored then.
   */
  write(key: string, next: Uint8Array, previous: Uint8Array | null): Promise<void>;

  /**
   * Keeps at hand what a use would have to fetch first, until what it gives is called: for who
   * cannot wait later. A store without it is as quick as it ever is.
   */
  keepReady?(): () => void;
}
