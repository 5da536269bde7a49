import { type Medium, storeOn } from './medium.ts';
import { isSameRecord } from './record.ts';
import type { Store } from './store.ts';

/**
 * A store that forgets: its records live as long as the object, and nobody else sees them. For tests
 * and simulations, and for voters that may come back as strangers. A node that restarts with a new
 * one is a new voter, never a second vote.
 */
export function memoryStore(): Store {
  return storeOn(new MemoryMedium());
}

class MemoryMedium implements Medium {
  readonly #records = new Map<string, Uint8Array>();

  async read(key: string): Promise<Uint8Array | null> {
    return this.#records.get(key) ?? null;
  }

  async replace(key: string, next: Uint8Array, previous: Uint8Array | null): Promise<boolean> {
    const stored = this.#records.get(key) ?? null;
    if (!isSameRecord(stored, previous)) return false;
    if (stored === null && this.#records.size >= RECORDS_MAX) {
      throw new Error(`a memory store holds ${RECORDS_MAX} records at most`);
    }
    this.#records.set(key, next);
    return true;
  }
}

/** One a cluster and node: far more than one process has, and 64 MiB at worst. */
const RECORDS_MAX = 1024;
