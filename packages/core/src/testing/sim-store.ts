import { DoyenError } from '../runtime/error.ts';
import type { Store } from '../store/store.ts';

/** How a simulated store fails; `null`: it works. `torn`: a write stops in the middle. */
export type StoreFailure = 'read' | 'write' | 'torn' | null;

/** What a simulated disk needs of its surroundings. */
export interface SimDisk {
  /** Tells the trace. */
  act(what: string): void;
  /** Runs `happen` when the disk has done its work, whatever became of the node meanwhile. */
  later(happen: () => void): void;
}

/**
 * The durable store of one simulated node: it survives crashes, and a write under way when the node
 * crashes still comes through.
 */
export class SimStore {
  readonly #disk: SimDisk;
  readonly #records = new Map<string, Uint8Array>();
  #failure: StoreFailure = null;
  #writeCount = 0;

  /** @internal */
  constructor(disk: SimDisk) {
    this.#disk = disk;
  }

  /** How the store fails at present. */
  get failure(): StoreFailure {
    return this.#failure;
  }

  /** Durable writes so far. */
  get writeCount(): number {
    return this.#writeCount;
  }

  /** From now on it fails like this; `null` repairs it. */
  fail(failure: StoreFailure): void {
    this.#disk.act(`${failure === null ? 'works' : `fails: ${failure}`}`);
    this.#failure = failure;
  }

  /** @internal The store as one start of the node has it: it hears of nothing when it stands still. */
  for(arrive: (happen: () => void) => void): Store {
    const answer = <T>(work: () => T) =>
      new Promise<T>((resolve, reject) => {
        this.#disk.later(() => {
          const outcome = attempt(work);
          arrive(() => ('value' in outcome ? resolve(outcome.value) : reject(outcome.error)));
        });
      });
    return {
      read: (key) => answer(() => this.#read(key)),
      write: (key, next, previous) => answer(() => this.#write(key, next.slice(), previous)),
    };
  }

  #read(key: string): Uint8Array | null {
    if (this.#failure === 'read') throw new DoyenError('storage-failed', 'the disk does not read');
    return this.#records.get(key)?.slice() ?? null;
  }

  #write(key: string, next: Uint8Array, previous: Uint8Array | null): void {
    if (this.#failure === 'write')
      throw new DoyenError('storage-failed', 'the disk does not write');
    if (!isEqual(this.#records.get(key) ?? null, previous)) {
      throw new DoyenError('storage-conflict', 'another has written meanwhile');
    }
    this.#writeCount += 1;
    const isTorn = this.#failure === 'torn';
    this.#records.set(key, isTorn ? next.slice(0, Math.floor(next.length / 2)) : next);
    if (isTorn) throw new DoyenError('storage-failed', 'the disk stopped in the middle');
  }
}

function attempt<T>(work: () => T): { readonly value: T } | { readonly error: unknown } {
  try {
    return { value: work() };
  } catch (error) {
    return { error };
  }
}

function isEqual(a: Uint8Array | null, b: Uint8Array | null): boolean {
  if (a === null || b === null) return a === b;
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}
