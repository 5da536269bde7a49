import type { StorageProblem } from '../machine/election.ts';
import type { Store } from '../store/store.ts';
import { DoyenError } from './error.ts';
import type { Host } from './host.ts';
import { withResolvers } from './promise.ts';

/** Keeps one record in the application's store, one write after the other, each within its time. */
export class Keeper {
  readonly #store: Store;
  readonly #key: string;
  readonly #host: Host;
  #previous: Uint8Array | null = null;

  constructor(parts: { readonly store: Store; readonly key: string; readonly host: Host }) {
    this.#store = parts.store;
    this.#key = parts.key;
    this.#host = parts.host;
  }

  /** What is stored. @throws when the store fails, or takes longer than 10 s. */
  async read(): Promise<Uint8Array | null> {
    const bytes = await this.#timed(this.#store.read(this.#key));
    if (bytes !== null && !(bytes instanceof Uint8Array)) {
      throw new DoyenError('storage-corrupt', 'the store gave something else than bytes');
    }
    this.#previous = bytes;
    return bytes;
  }

  /** Replaces what was read or written last. @throws as `read` does, and on a conflict. */
  async write(bytes: Uint8Array): Promise<void> {
    await this.#timed(this.#store.write(this.#key, bytes, this.#previous));
    this.#previous = bytes;
  }

  /** An answer that comes later is worth nothing: others have gone on. */
  async #timed<T>(answer: Promise<T>): Promise<T> {
    const late = withResolvers<never>();
    const error = new DoyenError('storage-failed', `no answer within ${STORE_MS} ms`);
    const cancel = this.#host.timer(() => late.reject(error), STORE_MS);
    try {
      return await Promise.race([answer, late.promise]);
    } finally {
      cancel();
    }
  }
}

/** What a failure of a store means. */
export function problemOf(error: unknown): StorageProblem {
  const code = error instanceof DoyenError ? error.code : null;
  return code === 'storage-corrupt' || code === 'storage-conflict' ? code : 'storage-failed';
}

// A disk that is awake answers within a fraction of a second, one that is not within some seconds.
const STORE_MS = 10_000;
