import { createFenceStore, indexedDbFence } from '../../../src/fence/index.ts';
import { type DoyenNode, type JoinOptions, join, type Token } from '../../../src/index.ts';
import { tabs, webLock } from '../../../src/tabs/index.ts';

/** Quick to suspect, so that tests need not wait long. */
const detection = { heartbeatIntervalMs: 500, leaderSuspicionMinMs: 1000, suspicionMs: 10_000 };

const log: string[] = [];
const app: { node: DoyenNode | null; token: Token | null } = { node: null, token: null };

async function enter(id: string, options: Partial<JoinOptions> = {}): Promise<void> {
  const node = await join({
    cluster: 'c',
    id,
    transport: tabs(),
    election: webLock(),
    detection,
    ...options,
  });
  app.node = node;
  const { leadership } = node;
  leadership.addEventListener('change', ({ leader, epoch }) => {
    log.push(`leader ${leader?.id ?? null} ${epoch}`);
  });
  node.addEventListener('fault', ({ code, message }) => log.push(`fault ${code} ${message}`));
  void leadership.lead(async ({ signal, token, epoch }) => {
    app.token = token;
    log.push(`begin ${epoch}`);
    await new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => {
        log.push(`end ${epoch} ${leadership.isSelf}`);
        resolve();
      });
    });
  });
}

/** Something that only the leader may do: with the token of the latest term here. */
async function write(): Promise<string> {
  if (!app.token) return 'no token';
  const opening = indexedDB.open('guarded', 1);
  opening.onupgradeneeded = () => {
    opening.result.createObjectStore('work');
    createFenceStore(opening.result);
  };
  const database = await new Promise<IDBDatabase>((resolve, reject) => {
    opening.onsuccess = () => resolve(opening.result);
    opening.onerror = () => reject(opening.error);
  });
  const fence = indexedDbFence({ cluster: 'c', database, stores: ['work'] });
  const { epoch } = app.token;
  try {
    await fence.admit(app.token, (transaction) => {
      transaction.objectStore('work').put(epoch, 'epoch');
    });
    return `admitted ${epoch}`;
  } catch (error) {
    return `${(error as { verdict?: string }).verdict} ${epoch}`;
  } finally {
    database.close();
  }
}

/** Does not let anything else run for so long; gives whether it leads, in the same task. */
function hang(ms: number): boolean | undefined {
  const endMs = performance.now() + ms;
  while (performance.now() < endMs);
  const isSelf = app.node?.leadership.isSelf;
  log.push('hung');
  return isSelf;
}

/** Who holds the lock of the cluster, and how many wait for it. */
async function locked(): Promise<readonly [held: number, pending: number]> {
  const { held = [], pending = [] } = await navigator.locks.query();
  const count = (locks: LockInfo[]) => locks.filter(({ name }) => name === 'doyen/c/leader').length;
  return [count(held), count(pending)];
}

const page = { app, log, enter, write, hang, locked };

export type LockPage = typeof page;

Object.assign(globalThis, { page });
