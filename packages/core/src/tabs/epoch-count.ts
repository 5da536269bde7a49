import { DoyenError } from '../runtime/error.ts';
import type { Store } from '../store/store.ts';

/** How many have held the lock of a cluster, kept in a store: no two get the same number. */
export class EpochCount {
  readonly #store: Store;
  readonly #key: string;

  constructor(store: Store, key: string) {
    this.#store = store;
    this.#key = key;
  }

  /** Counts quickly until what it gives is called. */
  keepReady(): () => void {
    return this.#store.keepReady?.() ?? (() => undefined);
  }

  /**
   * Counts on, to the next number, and above `above`.
   * @throws what the store throws; DoyenError `storage-corrupt` when something else is kept there.
   */
  async next(above: number): Promise<number> {
    // The last leader has told its epoch, so that is mostly what is kept.
    let kept = above > 0 ? bytesOf(above) : await this.#store.read(this.#key);
    for (let turn = 1; ; turn += 1) {
      const epoch = Math.max(numberOf(kept), above) + 1;
      try {
        await this.#store.write(this.#key, bytesOf(epoch), kept);
        return epoch;
      } catch (error) {
        // Whoever has been robbed while it counted counts all the same.
        const isConflict = error instanceof DoyenError && error.code === 'storage-conflict';
        if (!isConflict || turn === TURNS_MAX) throw error;
      }
      kept = await this.#store.read(this.#key);
    }
  }
}

function bytesOf(epoch: number): Uint8Array {
  return new TextEncoder().encode(String(epoch));
}

function numberOf(kept: Uint8Array | null): number {
  if (kept === null) return 0;
  const text = new TextDecoder().decode(kept);
  const epoch = Number(text);
  if (Number.isSafeInteger(epoch) && epoch > 0) return epoch;
  throw new DoyenError('storage-corrupt', `expected an epoch, got ${kept.length} other bytes`);
}

/** Each turn lost is another node that has counted; so many do not at one time. */
const TURNS_MAX = 16;
