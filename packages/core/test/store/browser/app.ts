// What the pages of the tests run, and their workers.
import { fileStore, indexedDbStore } from '@doyen/core/store';
import { storeContract } from '@doyen/core/testing';

const contract = new Map<string, () => Promise<void>>();
let databaseCount = 0;

storeContract({
  suite: {
    describe: (_title, body) => body(),
    it: (title, body) => contract.set(title, body),
  },
  setup: () => {
    databaseCount += 1;
    const name = `contract-${databaseCount}`;
    return { name, open: () => indexedDbStore({ name }) };
  },
  teardown: async ({ name }) => {
    indexedDB.deleteDatabase(name);
  },
});

/** Reads a record; gives its bytes, or the code of the error. */
async function read(name?: string): Promise<number[] | null | string> {
  return settled(indexedDbStore(name === undefined ? {} : { name }).read('k'));
}

/** Writes a record; gives `null`, or the code of the error. */
async function write(next: number[], previous: number[] | null, name?: string): Promise<unknown> {
  const store = indexedDbStore(name === undefined ? {} : { name });
  const expected = previous && Uint8Array.from(previous);
  return settled(store.write('k', Uint8Array.from(next), expected));
}

/** Adds one to the number in the record until it has succeeded so often; gives how often it lost. */
async function count(wins: number): Promise<number> {
  const store = indexedDbStore();
  let losses = 0;
  for (let won = 0; won < wins; ) {
    const previous = await store.read('k');
    const next = Uint8Array.of((previous?.[0] ?? 0) + 1);
    const outcome = await settled(store.write('k', next, previous));
    if (outcome === null) won += 1;
    else if (outcome === 'storage-conflict') losses += 1;
    else throw new Error(String(outcome));
  }
  return losses;
}

/** Writes 1, 2, 3 … as four bytes each, and says each number once it is stored; never ends. */
async function writeOn(said: (number: number) => void): Promise<never> {
  const store = indexedDbStore();
  let previous = await store.read('k');
  for (let number = 1; ; number += 1) {
    const next = new Uint8Array(64 * 1024).fill(number & 255);
    new DataView(next.buffer).setUint32(0, number);
    await store.write('k', next, previous);
    said(number);
    previous = next;
  }
}

async function settled(
  promise: Promise<Uint8Array | null> | Promise<void>,
): Promise<number[] | null | string> {
  return (promise as Promise<Uint8Array | null | undefined>).then(
    (bytes) => (bytes ? [...bytes] : null),
    (error: { readonly code?: string; readonly cause?: { readonly name?: string } }) =>
      [error.code, error.cause?.name].filter(Boolean).join(': '),
  );
}

/** A tool of the tests: opens a database as another program would. */
function openDatabase(name: string, version: number, stores: string[]): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(name, version);
    request.onupgradeneeded = () => {
      for (const store of stores) request.result.createObjectStore(store);
    };
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

const app = {
  runContract: (title: string) => contract.get(title)?.() ?? Promise.reject(new Error(title)),
  read,
  write,
  count,
  writeOn,
  openDatabase,
  readFile: () => settled(fileStore('record').read('k')),
};

/** What a page of the tests offers as `app`. */
export type App = typeof app;

Object.assign(globalThis, { app });

// In a worker: answers one question, which names a function of the app.
if (typeof document === 'undefined') {
  addEventListener('message', async ({ data: [name, ...args] }: MessageEvent) => {
    const answer = await (app[name as keyof App] as (...args: unknown[]) => unknown)(...args);
    postMessage(answer);
  });
  postMessage('ready');
}
