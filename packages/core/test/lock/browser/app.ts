import { type DoyenNode, type JoinOptions, join, type Token } from '../../../src/index.ts';
import { tabs, webLock } from '../../../src/tabs/index.ts';
import { writeGuarded } from '../../fence/browser/guarded.ts';

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

/** With the token of the latest term here. */
async function write(): Promise<string> {
  return app.token ? writeGuarded(app.token) : 'no token';
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

/** Every connection to a database that was ever opened here. */
const databases: IDBDatabase[] = [];
const { open } = IDBFactory.prototype;
IDBFactory.prototype.open = function (...args) {
  const request = open.apply(this, args);
  request.addEventListener('success', () => databases.push(request.result));
  return request;
};

/** Deletes what is counted there; gives whether somebody stood in the way. */
function forget(): Promise<'done' | 'blocked'> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.deleteDatabase('doyen-epochs');
    request.onsuccess = () => resolve('done');
    request.onblocked = () => resolve('blocked');
    request.onerror = () => reject(request.error);
  });
}

const page = { app, log, enter, write, hang, locked, databases, forget };

export type LockPage = typeof page;

Object.assign(globalThis, { page });
