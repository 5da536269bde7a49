import { DoyenError } from '../runtime/error.ts';
import { isBytes, isRecord, RECORD_BYTES_MAX } from './record.ts';
import type { Store } from './store.ts';

/** Where records are kept. What all kinds of stores have in common is in {@link storeOn}. */
export interface Medium {
  /** What is there, whatever it is; `null` when nothing is. */
  read(key: string): Promise<unknown>;
  /** Puts `next` in the place of `previous`, all or nothing; `false` when something else is there. */
  replace(key: string, next: Uint8Array, previous: Uint8Array | null): Promise<boolean>;
  /** As {@link Store.keepReady}. */
  keepReady?(): () => void;
}

/** A store that checks and copies what passes through it, and does one thing at a time. */
export function storeOn(medium: Medium): Store {
  return new MediumStore(medium);
}

class MediumStore implements Store {
  readonly #medium: Medium;
  #last: Promise<unknown> = Promise.resolve();
  #waitingCount = 0;

  constructor(medium: Medium) {
    this.#medium = medium;
  }

  async read(key: string): Promise<Uint8Array | null> {
    checkKey(key);
    const found = await this.#inTurn(`${named(key)} cannot be read`, () => this.#medium.read(key));
    if (found === null) return null;
    if (isRecord(found)) return copyOf(found);
    const expected = `1 to ${RECORD_BYTES_MAX} bytes`;
    throw new DoyenError(
      'storage-corrupt',
      `${named(key)} must be ${expected}, got ${sizeOf(found)}; it was left as it is.`,
    );
  }

  async write(key: string, next: Uint8Array, previous: Uint8Array | null): Promise<void> {
    checkKey(key);
    checkRecord('next', next);
    if (previous !== null) checkRecord('previous', previous);
    // Copied before anything is awaited: the caller's bytes are the caller's again at once.
    const [put, expected] = [copyOf(next), previous && copyOf(previous)];
    const failure = `${named(key)} cannot be written, and may hold the old or the new bytes`;
    if (await this.#inTurn(failure, () => this.#medium.replace(key, put, expected))) return;
    throw new DoyenError(
      'storage-conflict',
      `${named(key)} holds something else than was expected, so another node writes it too; ` +
        'nothing was overwritten.',
    );
  }

  keepReady(): () => void {
    return this.#medium.keepReady?.() ?? nothing;
  }

  /** One after the other, so that each write is compared with what the one before it has left. */
  async #inTurn<T>(failure: string, act: () => Promise<T>): Promise<T> {
    if (this.#waitingCount >= WAITING_MAX) {
      throw new DoyenError(
        'storage-failed',
        `At most ${WAITING_MAX} reads and writes may wait for a store; nothing was changed.`,
      );
    }
    this.#waitingCount += 1;
    const turn = this.#last.then(act).finally(() => {
      this.#waitingCount -= 1;
    });
    this.#last = turn.catch(() => undefined);
    return turn.catch((cause: unknown) => {
      if (cause instanceof DoyenError) throw cause;
      throw new DoyenError('storage-failed', `${failure}: ${String(cause)}`, { cause });
    });
  }
}

const nothing = (): void => undefined;

/** Not `slice()`: that of a Node `Buffer` shares its memory. */
function copyOf(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes);
}

function checkKey(key: string): void {
  if (typeof key !== 'string') throw new TypeError(`key must be a string, got ${typeof key}`);
  if (key.length > 0 && key.length <= KEY_LENGTH_MAX) return;
  throw new RangeError(`key must be 1 to ${KEY_LENGTH_MAX} characters long, got ${key.length}`);
}

function checkRecord(name: string, bytes: Uint8Array): void {
  const expected = `${name} must be a Uint8Array of 1 to ${RECORD_BYTES_MAX} bytes`;
  if (!isBytes(bytes)) throw new TypeError(`${expected}, got ${sizeOf(bytes)}`);
  if (!isRecord(bytes)) throw new RangeError(`${expected}, got ${sizeOf(bytes)}`);
}

function sizeOf(value: unknown): string {
  return isBytes(value) ? `${value.length}` : `a value of type ${typeof value}`;
}

function named(key: string): string {
  return `The record ${JSON.stringify(key.slice(0, 64))}`;
}

/** Two names of 128 bytes each and what tells one use from another fit in several times. */
const KEY_LENGTH_MAX = 1024;
/** A voter waits for each write before the next; more than this is a loop that does not wait. */
const WAITING_MAX = 64;
