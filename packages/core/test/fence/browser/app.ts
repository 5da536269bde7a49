// What the pages of the tests run.
import { createFenceStore, indexedDbFence, type Token } from '../../../src/fence/index.ts';
import { fenceContract } from '../../../src/testing/fence-contract.ts';

const contract = new Map<string, () => Promise<void>>();

fenceContract({
  suite: {
    describe: (_title, body) => body(),
    it: (title, body) => contract.set(title, body),
  },
  setup() {
    const name = crypto.randomUUID();
    const databases: IDBDatabase[] = [];
    const client = async () => {
      const database = await openDatabase(name);
      databases.push(database);
      return listClient(database);
    };
    return {
      client,
      effects: async () => textsOf(await openDatabase(name)),
      restart: async () => {
        for (const database of databases.splice(0)) database.close();
      },
    };
  },
});

/** A database with a list, and with room for the marks of fences. */
function openDatabase(name = 'resource'): Promise<IDBDatabase> {
  const request = indexedDB.open(name, 1);
  request.onupgradeneeded = () => {
    createFenceStore(request.result);
    request.result.createObjectStore('list', { autoIncrement: true });
  };
  return settled(request);
}

function listClient(database: IDBDatabase) {
  const fence = indexedDbFence({ database, stores: ['list'] });
  return {
    fence,
    append: (token: Token, text: string) =>
      fence.admit(token, (transaction) => settled(transaction.objectStore('list').add(text))),
    appendAndFail: (token: Token, text: string) =>
      fence.admit(token, async (transaction) => {
        await settled(transaction.objectStore('list').add(text));
        throw new Error('failed');
      }),
  };
}

function textsOf(database: IDBDatabase): Promise<string[]> {
  return settled(database.transaction('list').objectStore('list').getAll());
}

function settled<Value>(request: IDBRequest<Value>): Promise<Value> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/** Appends; gives `admitted`, or what the refusal says. */
async function append(token: Token, text: string): Promise<string> {
  return outcomeOf(listClient(await openDatabase()).append(token, text));
}

async function outcomeOf(act: Promise<unknown>): Promise<string> {
  return act.then(
    () => 'admitted',
    ({ code, verdict, high, name }) => {
      if (verdict) return `${verdict} ${high}`;
      // Exceptions of the platform have numbers for codes.
      return typeof code === 'string' ? code : name;
    },
  );
}

/** Appends in rising epochs, and says each number once it is done; never ends. */
async function appendOn(said: (epoch: number) => void): Promise<never> {
  const client = listClient(await openDatabase());
  for (let epoch = 1; ; epoch += 1) {
    await client.append({ cluster: 'c', epoch, holder: 'x' }, String(epoch));
    said(epoch);
  }
}

const app = {
  runContract: (title: string) => contract.get(title)?.() ?? Promise.reject(new Error(title)),
  openDatabase,
  indexedDbFence,
  settled,
  outcomeOf,
  append,
  appendOn,
  high: async () => listClient(await openDatabase()).fence.high(),
  texts: async () => textsOf(await openDatabase()),
};

/** What a page of the tests offers as `app`. */
export type App = typeof app;

Object.assign(globalThis, { app });
