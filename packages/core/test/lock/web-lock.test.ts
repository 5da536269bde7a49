import { afterEach, describe, expect, it } from 'vitest';
import {
  combine,
  type DoyenNode,
  type JoinOptions,
  join,
  MemoryNetwork,
  memory,
} from '../../src/index.ts';
import { memoryStore, type Store } from '../../src/store/index.ts';
import { tabs, webLock } from '../../src/tabs/index.ts';
import { faults } from '../../src/testing/index.ts';
import { VirtualLocks } from '../tabs/virtual-locks.ts';

describe('webLock()', () => {
  const nodes: DoyenNode[] = [];

  afterEach(() => Promise.all(nodes.splice(0).map((node) => node.leave())));

  /** Tabs of one browser: its locks, its disk, and how to open one. */
  function browser(store: Store = memoryStore()) {
    const locks = new VirtualLocks();
    const network = new MemoryNetwork();
    const open = async (id: string, options: Partial<JoinOptions> = {}) => {
      const tab = locks.tab();
      const election = webLock({ locks: tab, store });
      const transport = memory({ network });
      const node = await join({ cluster: 'c', id, transport, election, ...options });
      nodes.push(node);
      return Object.assign(node, { tab });
    };
    return { locks, store, open };
  }

  it('B5: who holds the lock leads, and whoever has waited longest is next, at a higher epoch', async () => {
    const { locks, open } = browser();
    const [one, two, three] = [await open('a'), await open('b'), await open('c')];
    expect((await three.leadership.waitForLeader()).id).toBe('a');
    expect(one.leadership.isSelf && one.leadership.epoch).toBe(1);
    await one.leave();
    await expect.poll(() => two.leadership.isSelf).toBe(true);
    expect(two.leadership.epoch).toBe(2);
    expect([locks.heldCount, locks.pendingCount]).toEqual([1, 1]);
    await two.leadership.resign();
    await expect.poll(() => three.leadership.isSelf).toBe(true);
    // It stands behind the others again once another leads.
    await expect.poll(() => locks.pendingCount).toBe(1);
    await Promise.all([two.leave(), three.leave()]);
    expect([locks.heldCount, locks.pendingCount]).toEqual([0, 0]);
  });

  it('B5: the epoch goes on where it was when all have been closed', async () => {
    const { store, open } = browser();
    const first = await open('a');
    await first.leadership.waitForLeader();
    await first.leave();
    const second = await browser(store).open('a');
    await second.leadership.waitForLeader();
    expect(second.leadership.epoch).toBe(2);
  });

  it('B5: who knows the epoch counts on without reading it first, and reads when it has gone on', async () => {
    const memory = memoryStore();
    const log: string[] = [];
    const store: Store = {
      read: (key) => {
        log.push('read');
        return memory.read(key);
      },
      write: (key, next, previous) => {
        log.push(`write ${text(next)}`);
        return memory.write(key, next, previous);
      },
    };
    const { open } = browser(store);
    const [one, two, three] = [await open('a'), await open('b'), await open('c')];
    await expect.poll(() => two.leadership.epoch).toBe(1);
    await one.leave();
    await expect.poll(() => two.leadership.epoch).toBe(2);
    expect(log.splice(0)).toEqual(['read', 'write 1', 'write 2']);
    await expect.poll(() => three.leadership.epoch).toBe(2);
    const key = 'doyen/c/leader';
    await memory.write(key, new TextEncoder().encode('41'), await memory.read(key));
    await two.leave();
    await expect.poll(() => three.leadership.epoch).toBe(42);
    expect(log).toEqual(['write 3', 'read', 'write 42']);
  });

  it('B5: who waits for the lock keeps the store ready, and only for so long', async () => {
    let keepers = 0;
    const keepReady = () => {
      keepers += 1;
      return () => {
        keepers -= 1;
      };
    };
    const { locks, open } = browser(Object.assign(memoryStore(), { keepReady }));
    const [one, two] = [await open('a'), await open('b')];
    await expect.poll(() => locks.pendingCount).toBe(1);
    expect(keepers).toBe(2);
    two.leadership.setCandidacy(false);
    await expect.poll(() => locks.pendingCount).toBe(0);
    expect(keepers).toBe(1);
    await one.leave();
    expect(keepers).toBe(0);
  });

  it('B5: who is robbed of the lock has no term any more, and waits behind the others', async () => {
    const { locks, open } = browser();
    const node = await open('a');
    const log: string[] = [];
    node.leadership.addEventListener('change', ({ leader }) => log.push(`leader ${leader?.id}`));
    void node.leadership.lead(async ({ signal }) => {
      const isOver = new Promise<void>((resolve) => {
        signal.addEventListener('abort', () => {
          log.push(`${signal.reason.code}, leads: ${node.leadership.isSelf}`);
          resolve();
        });
      });
      await isOver;
      log.push('work ends');
    });
    await node.leadership.waitForLeader();
    await expect.poll(() => log).toContain('leader a');
    let release: () => void = () => undefined;
    const stolen = new Promise<void>((resolve) => {
      release = resolve;
    });
    const held = locks.tab().request('doyen/c/leader', { steal: true }, () => stolen);
    await expect.poll(() => locks.pendingCount).toBe(1);
    expect(log).toEqual([
      'leader a',
      'higher-epoch, leads: false',
      'leader undefined',
      'work ends',
    ]);
    release();
    await held;
    await expect.poll(() => node.leadership.epoch).toBe(2);
  });

  it('B5: a node whose count fails gives the lock to the next, says so, and waits behind it', async () => {
    const broken: Store = {
      read: async () => {
        throw new Error('no disk');
      },
      write: async () => undefined,
    };
    const { locks, open } = browser();
    const node = await open('a', { election: webLock({ locks: locks.tab(), store: broken }) });
    const fault = new Promise<string>((resolve) => {
      node.addEventListener('fault', ({ code, message }) => resolve(`${code}: ${message}`));
    });
    const other = await open('b');
    expect(await fault).toBe('lock-failed: Error: no disk');
    await expect.poll(() => other.leadership.isSelf).toBe(true);
  });

  it('B5: a transport that reaches other devices is refused, with what to take instead', async () => {
    const { locks, store } = browser();
    const far = () => ({ ...plain(), start: () => undefined });
    const election = webLock({ locks: locks.tab(), store });
    for (const transport of [far(), combine(memory(), far()), faults(far())]) {
      const refused = join({ cluster: 'c', transport, election });
      await expect(refused).rejects.toThrow(TypeError);
      await expect(refused).rejects.toThrow(/election must be oldestNode\(\) or quorum\(\)/);
    }
    for (const transport of [memory(), tabs({ locks: null }), combine(memory(), memory())]) {
      expect(transport.scope).toBe('browser');
    }
  });

  it('B5, B6: without Web Locks or without IndexedDB it says so at the start', async () => {
    const { locks, store } = browser();
    for (const [options, missing] of [
      [{ store }, 'Web Locks'],
      [{ locks: locks.tab() }, 'IndexedDB'],
    ] as const) {
      const joining = join({ cluster: 'c', transport: memory(), election: webLock(options) });
      const error = await joining.catch((reason: unknown) => reason);
      expect(error).toMatchObject({ name: 'DoyenError', code: 'unsupported' });
      expect(String(error)).toContain(missing);
    }
  });

  it('B5: options that are none are refused by name', () => {
    const wrong = (options: object) => () => webLock(options);
    expect(wrong({ lock: 1 })).toThrow(/^lock is no option/);
    expect(wrong({ store: 1 })).toThrow(/^store must be an object with read, write, got 1/);
    expect(wrong({ locks: {} })).toThrow(/^locks must be an object with request/);
  });
});

function text(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

function plain() {
  return { send: () => 'dropped' as const, close: async () => undefined };
}
