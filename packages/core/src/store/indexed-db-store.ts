import { DoyenError } from '../runtime/error.ts';
import { type Medium, storeOn } from './medium.ts';
import { isBytes, isSameRecord } from './record.ts';
import type { Store } from './store.ts';

/** Options of {@link indexedDbStore}. */
export interface IndexedDbStoreOptions {
  /** Name of the database, which belongs to this store alone. @defaultValue `'doyen-store'` */
  readonly name?: string;
  /** Where the database is. @defaultValue `globalThis.indexedDB`, looked for at the first use */
  readonly indexedDB?: IDBFactory;
}

/**
 * Records in the browser, shared by all tabs and workers of an origin, and there again after a
 * reload or a crash. A write is one transaction with `durability: 'strict'`: it has reached the disk
 * when it resolves. A private window keeps its records until it closes.
 *
 * A browser may clear what a site has stored when the disk is nearly full, and after weeks without a
 * visit; this node is a new voter then. `await navigator.storage.persist()` in a page makes that
 * less likely. Doyen does not call it, since some browsers ask the user.
 *
 * Where there is no IndexedDB, or none that knows strict durability (Firefox before 126), the first
 * use rejects with a DoyenError `unsupported`. Where it is refused (storage blocked by the user, a
 * sandboxed frame, no space left), it rejects with `storage-failed` and the browser's error as
 * `cause`; the next use tries again.
 */
export function indexedDbStore(options: IndexedDbStoreOptions = {}): Store {
  const { name = 'doyen-store', indexedDB } = options;
  if (typeof name !== 'string') throw new TypeError(`name must be a string, got ${typeof name}`);
  return storeOn(new IndexedDbMedium(name, indexedDB));
}

/**
 * The database is opened for each use and closed after it: there is no connection then that could be
 * lost while the page sleeps, that blocks the deletion of the database, or that keeps the page out
 * of the back/forward cache. Opening one that nobody has open takes tens of milliseconds, so whoever
 * cannot wait keeps a connection, for as long as the page is awake.
 */
class IndexedDbMedium implements Medium {
  readonly #name: string;
  readonly #given: IDBFactory | undefined;
  #keepers = 0;
  #kept: IDBDatabase | null = null;

  constructor(name: string, factory: IDBFactory | undefined) {
    this.#name = name;
    this.#given = factory;
  }

  read(key: string): Promise<unknown> {
    return this.#transact('readonly', (records, answer) => {
      const request = records.get(key);
      request.onsuccess = () => answer(request.result ?? null);
    });
  }

  replace(key: string, next: Uint8Array, previous: Uint8Array | null): Promise<boolean> {
    return this.#transact('readwrite', (records, answer) => {
      const request = records.get(key);
      // Within one transaction, which no other of this store overlaps.
      request.onsuccess = () => {
        const stored: unknown = request.result ?? null;
        const isExpected = (stored === null || isBytes(stored)) && isSameRecord(stored, previous);
        if (isExpected) records.put(next, key);
        answer(isExpected);
      };
    });
  }

  keepReady(): () => void {
    this.#keepers += 1;
    // Should it fail, so will the next use, which says so.
    void this.#keep().catch(() => undefined);
    let isKeeper = true;
    return () => {
      if (isKeeper) this.#keepers -= 1;
      isKeeper = false;
      // At once: a page that goes to sleep does nothing later.
      if (this.#keepers === 0) this.#drop();
    };
  }

  async #keep(): Promise<void> {
    const database = await this.#open();
    if (this.#keepers === 0 || this.#kept) return database.close();
    // Somebody deletes the database, or the browser has taken the connection away.
    database.onversionchange = database.onclose = () => this.#drop();
    this.#kept = database;
  }

  #drop(): void {
    this.#kept?.close();
    this.#kept = null;
  }

  async #transact<T>(mode: IDBTransactionMode, work: Work<T>): Promise<T> {
    if (this.#kept) {
      try {
        return await transact(this.#kept, mode, work);
      } catch (error) {
        if (!isClosed(error)) throw error;
        this.#drop();
      }
    }
    const database = await this.#open();
    try {
      return await transact(database, mode, work);
    } finally {
      database.close();
    }
  }

  async #open(): Promise<IDBDatabase> {
    const factory = this.#given ?? globalThis.indexedDB;
    if (!factory) throw unsupported('IndexedDB');
    return new Promise((resolve, reject) => {
      const request = factory.open(this.#name, 1);
      // Somebody else may hold up the deletion of the database, and everybody behind it, for ever.
      const timer = setTimeout(() => {
        reject(tooSlow());
        request.onsuccess = () => request.result.close();
      }, USE_TIMEOUT_MS);
      request.onupgradeneeded = () => request.result.createObjectStore(RECORDS);
      request.onsuccess = () => {
        clearTimeout(timer);
        resolve(request.result);
      };
      request.onerror = () => {
        clearTimeout(timer);
        reject(request.error);
      };
    });
  }
}

/** What is done within a transaction; `answer` says what comes of it. */
type Work<T> = (records: IDBObjectStore, answer: (value: T) => void) => void;

/** Gives the answer of `work` once the transaction is complete. */
function transact<T>(database: IDBDatabase, mode: IDBTransactionMode, work: Work<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const transaction = database.transaction(RECORDS, mode, { durability: 'strict' });
    if (transaction.durability !== 'strict') throw unsupported('strict durability');
    const timer = setTimeout(() => reject(tooSlow()), USE_TIMEOUT_MS);
    let answer: T;
    transaction.oncomplete = () => {
      clearTimeout(timer);
      resolve(answer);
    };
    transaction.onabort = () => {
      clearTimeout(timer);
      reject(transaction.error ?? new Error('the transaction was aborted'));
    };
    work(transaction.objectStore(RECORDS), (value) => {
      answer = value;
    });
  });
}

/** Nothing was begun: the connection was lost before, and its event is still to come. */
function isClosed(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'InvalidStateError';
}

function unsupported(what: string): DoyenError {
  return new DoyenError(
    'unsupported',
    `indexedDbStore needs ${what}, which is missing here; nothing was stored.`,
  );
}

function tooSlow(): Error {
  return new Error(`IndexedDB did not answer within ${USE_TIMEOUT_MS} ms`);
}

const RECORDS = 'records';
/** A busy disk takes a second at worst; what takes longer than this hangs. */
const USE_TIMEOUT_MS = 10_000;
