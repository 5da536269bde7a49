import { DoyenError } from '../runtime/error.ts';
import type { FunctionFence } from './fence.ts';
import {
  checkCluster,
  checkEffect,
  checkName,
  type FenceOptions,
  raised,
  storedMark,
} from './mark.ts';
import { checkToken, type Token } from './token.ts';

/** Options of `indexedDbFence()`. */
export interface IndexedDbFenceOptions extends FenceOptions {
  /** An open database, in which {@link createFenceStore} has made room for marks. */
  readonly database: IDBDatabase;
  /** The object stores that effects use. */
  readonly stores: readonly string[];
  /** What is guarded: each resource of a database has a mark of its own. @defaultValue `'fence'` */
  readonly resource?: string;
}

/** Makes room for the marks of fences; to be called while the database is being upgraded. */
export function createFenceStore(database: IDBDatabase): void {
  database.createObjectStore(MARKS);
}

/**
 * A fence for what IndexedDB holds, shared by all tabs of an origin. An effect gets the read-write
 * transaction that checks the token, over its own stores and the mark, with strict durability; it
 * may await the requests of this transaction, and nothing else. `admit` resolves once it is
 * complete; when the effect fails it is aborted, and nothing has changed.
 */
export function indexedDbFence(options: IndexedDbFenceOptions): FunctionFence<IDBTransaction> {
  const { database, resource = 'fence' } = options;
  checkCluster(options);
  checkName('resource', resource);
  if (!database.objectStoreNames.contains(MARKS)) {
    throw new TypeError(
      'database must have been upgraded with createFenceStore(), has no such store',
    );
  }
  return new IndexedDbFence({ ...options, resource });
}

class IndexedDbFence implements FunctionFence<IDBTransaction> {
  readonly #options: IndexedDbFenceOptions & { readonly resource: string };

  constructor(options: IndexedDbFenceOptions & { readonly resource: string }) {
    this.#options = options;
  }

  async open(token: Token): Promise<void> {
    await this.admit(token, () => undefined);
  }

  async admit<Result>(
    token: Token,
    effect: (transaction: IDBTransaction) => Result | PromiseLike<Result>,
  ): Promise<Result> {
    const checked = checkToken(token);
    checkEffect(effect);
    const { resource, cluster } = this.#options;
    const transaction = this.#transaction('readwrite');
    const marks = transaction.objectStore(MARKS);
    return inTransaction(transaction, async () => {
      const stored = await settled(marks.get(resource));
      const mark = stored === undefined ? null : storedMark(stored);
      marks.put(raised({ mark, token: checked, cluster }), resource);
      return effect(transaction);
    });
  }

  async high(): Promise<number> {
    const transaction = this.#transaction('readonly');
    const stored = await settled(transaction.objectStore(MARKS).get(this.#options.resource));
    return stored === undefined ? 0 : storedMark(stored).epoch;
  }

  #transaction(mode: 'readonly' | 'readwrite'): IDBTransaction {
    const { database, stores } = this.#options;
    try {
      return mode === 'readonly'
        ? database.transaction(MARKS, mode)
        : database.transaction([MARKS, ...stores], mode, { durability: 'strict' });
    } catch (cause) {
      throw new DoyenError('storage-failed', 'the database gives no transaction; nothing changed', {
        cause,
      });
    }
  }
}

/** What `work` gives, once the transaction is complete; aborts it when `work` fails. */
async function inTransaction<Result>(
  transaction: IDBTransaction,
  work: () => Promise<Result>,
): Promise<Result> {
  const ended = new Promise<void>((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => {
      const message = 'the transaction was aborted; nothing changed';
      reject(new DoyenError('storage-failed', message, { cause: transaction.error }));
    };
  });
  const working = work();
  let failure: { readonly reason: unknown } | undefined;
  working.catch((reason: unknown) => {
    failure = { reason };
    abort(transaction);
  });
  try {
    await ended;
  } catch (aborted) {
    // What made the effect fail says more than that the transaction was aborted.
    throw failure ? failure.reason : aborted;
  }
  return working;
}

/** A promise that goes on while the transaction of the request is still active. */
function settled<Value>(request: IDBRequest<Value>): Promise<Value> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => {
      const message = 'the database does not answer; nothing changed';
      reject(new DoyenError('storage-failed', message, { cause: request.error }));
    };
  });
}

function abort(transaction: IDBTransaction): void {
  try {
    transaction.abort();
  } catch (error) {
    // Over already: aborted by a request that failed, or complete before the effect was.
    if (!(error instanceof DOMException) || error.name !== 'InvalidStateError') throw error;
  }
}

const MARKS = 'doyen-fence';
