import { DoyenError } from '../runtime/error.ts';
import { type FilePlace, isMissing, type OpenFile, placeOf } from './file-system.ts';
import { type Medium, storeOn } from './medium.ts';
import { isSameRecord, RECORD_BYTES_MAX } from './record.ts';
import type { Store } from './store.ts';

/**
 * One record in one file, for Node and what has its built-in modules. The file holds the bytes of
 * the record and nothing else, whatever the key: give each node a file of its own.
 *
 * The folder must exist, on a local disk. Beside the file there are now and then others, named
 * `<file>.<random>.tmp`; they are removed by the next write. A relative `path` is taken from where
 * the process is now. A path that is a symbolic link is replaced by a file.
 *
 * Where there are no files, as in a browser, the first use rejects with a DoyenError `unsupported`.
 */
export function fileStore(path: string): Store {
  if (typeof path !== 'string') throw new TypeError(`path must be a string, got ${typeof path}`);
  if (path === '') throw new RangeError('path must name a file, got an empty string');
  const place = placeOf(path);
  return storeOn(place ? new FileMedium(place) : NO_FILES);
}

/**
 * A write puts the new record into a file beside the old one, syncs it, and renames it over the old
 * one: at every moment there is one whole record under the name.
 *
 * Between the comparison with the old record and the rename another process may come. A lock would
 * have to be taken from a holder that crashed, and nobody can tell that one from a holder that only
 * sleeps and goes on. So there is none. Each writer makes its new file, then removes those of all
 * others, then compares, then renames: who finds its new file gone has changed nothing, and starts
 * over. Of two writers that expect the same record the second one to rename has compared before the
 * first rename; the new file of the first was not there yet when the second removed those of
 * others, so it was made later; then the first removed that of the second. So one of them succeeds
 * at most, however long either stood still, and what crashes leave behind goes the same way.
 *
 * @internal
 */
export class FileMedium implements Medium {
  readonly #place: FilePlace;
  readonly #pause: (attempt: number) => Promise<void>;

  constructor(place: FilePlace, pause = pauseOf) {
    this.#place = place;
    this.#pause = pause;
  }

  /**
   * A crash between rename and sync leaves a record that a power cut may still take back. Nobody may
   * count on it before it is durable, so reading syncs too; which finds a missing folder besides.
   */
  async read(): Promise<Uint8Array | null> {
    const bytes = await this.#bytes();
    await this.#syncFolder();
    return bytes;
  }

  async replace(_key: string, next: Uint8Array, previous: Uint8Array | null): Promise<boolean> {
    for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
      const outcome = await this.#attempt(next, previous);
      if (outcome !== 'disturbed') return outcome === 'replaced';
      await this.#pause(attempt);
    }
    throw new Error(`others wrote at the same time, in ${ATTEMPTS_MAX} attempts`);
  }

  async #attempt(next: Uint8Array, previous: Uint8Array | null): Promise<Outcome> {
    const fresh = `${this.#place.name}.${randomName()}${FRESH_ENDING}`;
    let outcome: Outcome = 'disturbed';
    try {
      await this.#create(fresh, next);
      await this.#removeOthers(fresh);
      outcome = await this.#exchange(fresh, previous);
      return outcome;
    } finally {
      // What cannot be removed now is left to the next write.
      if (outcome !== 'replaced') await this.#remove(fresh).catch(() => undefined);
    }
  }

  async #create(fresh: string, bytes: Uint8Array): Promise<void> {
    const file = await this.#place.files.open(this.#path(fresh), 'wx');
    try {
      await file.writeFile(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
  }

  /** From here on nobody else can rename what was made before. */
  async #removeOthers(fresh: string): Promise<void> {
    const { files, folder, name } = this.#place;
    for (const entry of await files.readdir(folder)) {
      if (entry !== fresh && isFresh(entry, name)) await this.#remove(entry);
    }
  }

  async #exchange(fresh: string, previous: Uint8Array | null): Promise<Outcome> {
    if (!isSameRecord(await this.#bytes(), previous)) return 'refused';
    try {
      await this.#place.files.rename(this.#path(fresh), this.#path(this.#place.name));
    } catch (error) {
      if (isMissing(error)) return 'disturbed';
      throw error;
    }
    await this.#syncFolder();
    return 'replaced';
  }

  async #remove(name: string): Promise<void> {
    try {
      await this.#place.files.unlink(this.#path(name));
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
  }

  async #bytes(): Promise<Uint8Array | null> {
    try {
      const file = await this.#place.files.open(this.#path(this.#place.name), 'r');
      return await contentOf(file).finally(() => file.close());
    } catch (error) {
      if (isMissing(error)) return null;
      throw error;
    }
  }

  async #syncFolder(): Promise<void> {
    const folder = await this.#place.files.open(this.#place.folder, 'r');
    try {
      if (this.#place.hasFolderSync) await folder.sync();
    } finally {
      await folder.close();
    }
  }

  #path(name: string): string {
    return `${this.#place.folder}/${name}`;
  }
}

/** How an attempt to replace a record ends. `disturbed`: nothing has changed, try again. */
type Outcome = 'replaced' | 'refused' | 'disturbed';

/** All of a file, but no more than shows that it is too long for a record. */
async function contentOf(file: OpenFile): Promise<Uint8Array> {
  const bytes = new Uint8Array(RECORD_BYTES_MAX + 1);
  let length = 0;
  let bytesRead = 0;
  do {
    ({ bytesRead } = await file.read(bytes, length, bytes.length - length));
    length += bytesRead;
  } while (bytesRead > 0);
  return bytes.subarray(0, length);
}

function isFresh(entry: string, name: string): boolean {
  if (!entry.startsWith(`${name}.`) || !entry.endsWith(FRESH_ENDING)) return false;
  return /^[0-9a-f]{16}$/.test(entry.slice(name.length + 1, -FRESH_ENDING.length));
}

function randomName(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(8));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Longer with each attempt, and random, so that two do not disturb each other for ever. */
function pauseOf(attempt: number): Promise<void> {
  const delayMs = Math.random() * Math.min(2 ** attempt, PAUSE_MAX_MS);
  return new Promise((resolve) => setTimeout(resolve, delayMs));
}

async function noFiles(): Promise<never> {
  throw new DoyenError(
    'unsupported',
    'fileStore needs the modules node:fs and node:path, which are missing here; nothing was stored.',
  );
}

const NO_FILES: Medium = { read: noFiles, replace: noFiles };
const FRESH_ENDING = '.tmp';
/** Several times what a handful of processes needs that all write at once: a second in all. */
const ATTEMPTS_MAX = 16;
/** A write takes a few milliseconds; in this time a dozen others get through. */
const PAUSE_MAX_MS = 128;
