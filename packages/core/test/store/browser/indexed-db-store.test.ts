import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { indexedDbStore } from '@doyen/core/store';
import { storeContract } from '@doyen/core/testing';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { App } from './app.ts';
import { launch, launchMortal, type MortalBrowser, openSite, type Site } from './lab.ts';

declare const app: App;
declare const told: (number: number) => void;

let site: Site;
beforeAll(async () => {
  site = await openSite();
});
afterAll(() => site.close());

async function open(context: BrowserContext): Promise<Page> {
  const page = await context.newPage();
  await page.goto(site.origin);
  await page.waitForFunction(() => 'app' in globalThis);
  return page;
}

describe('indexedDbStore() in Chromium, by the contract', () => {
  let browser: Browser;
  let page: Page;
  beforeAll(async () => {
    browser = await launch();
    page = await open(await browser.newContext());
  });
  afterAll(() => browser.close());

  // The titles are told here, the bodies run in the page.
  storeContract({
    suite: {
      describe,
      it: (title, _body, timeoutMs) =>
        it(`Q1: ${title}`, () => page.evaluate((it) => app.runContract(it), title), timeoutMs),
    },
    setup: () => ({ open: () => indexedDbStore() }),
  });
});

describe('indexedDbStore() in Chromium', () => {
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  const pageErrors: string[] = [];

  beforeAll(async () => {
    browser = await launch();
  });
  beforeEach(async () => {
    context = await browser.newContext();
    page = await open(context);
    page.on('pageerror', ({ message }) => pageErrors.push(message));
  });
  afterEach(async () => {
    await context.close();
    expect(pageErrors.splice(0)).toEqual([]);
  });
  afterAll(() => browser.close());

  it('Q1: a write asks for strict durability', async () => {
    const asked = await page.evaluate(async () => {
      const seen: unknown[] = [];
      const { transaction } = IDBDatabase.prototype;
      IDBDatabase.prototype.transaction = function (...args) {
        const made = transaction.apply(this, args);
        seen.push([made.mode, made.durability]);
        return made;
      };
      await app.write([1], null);
      return seen;
    });
    expect(asked).toEqual([['readwrite', 'strict']]);
  });

  it('Q1: a browser that does not know strict durability is told of, and nothing is written', async () => {
    const outcome = await page.evaluate(async () => {
      const { transaction } = IDBDatabase.prototype;
      IDBDatabase.prototype.transaction = function (stores, mode) {
        return transaction.call(this, stores, mode);
      };
      const written = await app.write([1], null);
      IDBDatabase.prototype.transaction = transaction;
      return [written, await app.read()];
    });
    expect(outcome).toEqual(['unsupported', null]);
  });

  it('Q1: a record outlives a reload, and the tab that wrote it', async () => {
    await page.evaluate(() => app.write([1, 2, 3], null));
    await page.reload();
    await page.waitForFunction(() => 'app' in globalThis);
    expect(await page.evaluate(() => app.read())).toEqual([1, 2, 3]);
    const other = await open(context);
    await page.close();
    expect(await other.evaluate(() => app.read())).toEqual([1, 2, 3]);
    expect(await other.evaluate(() => app.write([4], [1, 2, 3]))).toBeNull();
  });

  it('Q1: of two tabs that write at once exactly one wins, every time', async () => {
    const tabs = [page, await open(context)];
    let previous: number[] | null = null;
    for (let round = 0; round < 30; round += 1) {
      const bids: number[][] = tabs.map((_, tab) => [round, tab]);
      const outcomes: unknown[] = await Promise.all(
        tabs.map((tab, index) =>
          tab.evaluate(([next, expected]) => app.write(next as number[], expected ?? null), [
            bids[index] as number[],
            previous,
          ] as const),
        ),
      );
      expect([...outcomes].sort()).toEqual([null, 'storage-conflict']);
      previous = bids[outcomes.indexOf(null)] as number[];
      for (const tab of tabs) expect(await tab.evaluate(() => app.read())).toEqual(previous);
    }
  });

  it('Q1: two tabs that count in one record lose nothing and count nothing twice', async () => {
    const tabs = [page, await open(context)];
    const losses = await Promise.all(tabs.map((tab) => tab.evaluate(() => app.count(100))));
    expect(await page.evaluate(() => app.read())).toEqual([200]);
    // They did get in each other's way.
    expect(losses.some((count) => count > 0)).toBe(true);
  });

  it('Q1: a worker and its page share the record', async () => {
    const written = await page.evaluate(async () => {
      const worker = new Worker('/app.js', { type: 'module' });
      const heard = () =>
        new Promise((resolve) => {
          worker.onmessage = ({ data }) => resolve(data);
        });
      await heard();
      worker.postMessage(['write', [5], null]);
      return heard();
    });
    expect(written).toBeNull();
    expect(await page.evaluate(() => app.read())).toEqual([5]);
  });

  it('Q1: nothing holds up the deletion of the database, and the next use makes it anew', async () => {
    await page.evaluate(() => app.write([1], null));
    const outcome = await page.evaluate(
      () =>
        new Promise((resolve) => {
          const request = indexedDB.deleteDatabase('doyen-store');
          request.onblocked = () => resolve('blocked');
          request.onsuccess = () => resolve('deleted');
        }),
    );
    expect(outcome).toBe('deleted');
    expect(await page.evaluate(() => app.read())).toBeNull();
    expect(await page.evaluate(() => app.write([2], null))).toBeNull();
  });

  it('Q1: a database that does not open fails the use after 10 s, and the next one tries again', async () => {
    await page.evaluate(() => app.write([1], null));
    await page.clock.install();
    const outcome = await page.evaluateHandle(async () => {
      // It does not close when the database is to be deleted; so whoever comes later waits.
      const stubborn = await app.openDatabase('doyen-store', 1, []);
      indexedDB.deleteDatabase('doyen-store');
      return { stubborn, reading: app.read() };
    });
    await page.clock.runFor(10_000);
    expect(await outcome.evaluate(({ reading }) => reading)).toBe('storage-failed: Error');
    await outcome.evaluate(({ stubborn }) => stubborn.close());
    expect(await page.evaluate(() => app.read())).toBeNull();
  });

  it('Q1: cleared site data is an empty store, and not an error', async () => {
    await page.evaluate(() => app.write([1], null));
    const session = await context.newCDPSession(page);
    await session.send('Storage.clearDataForOrigin', {
      origin: site.origin,
      storageTypes: 'indexeddb',
    });
    expect(await page.evaluate(() => app.read())).toBeNull();
    expect(await page.evaluate(() => app.write([2], null))).toBeNull();
  });

  it('Q1: a database of another program is left alone', async () => {
    const outcomes = await page.evaluate(async () => {
      (await app.openDatabase('newer', 2, ['records'])).close();
      (await app.openDatabase('foreign', 1, ['other'])).close();
      return Promise.all(['newer', 'foreign'].map((name) => app.write([1], null, name)));
    });
    expect(outcomes).toEqual(['storage-failed: VersionError', 'storage-failed: NotFoundError']);
  });

  it('Q1: what is there and is no record is corrupt, and stays', async () => {
    await page.evaluate(() => app.write([1], null));
    const outcomes = await page.evaluate(async () => {
      const database = await app.openDatabase('doyen-store', 1, []);
      const put = (value: unknown) =>
        new Promise((resolve) => {
          const transaction = database.transaction('records', 'readwrite');
          transaction.objectStore('records').put(value, 'k');
          transaction.oncomplete = resolve;
        });
      const seen: unknown[] = [];
      for (const value of ['text', 7, {}, [1], new ArrayBuffer(1), new Uint8Array(65_537)]) {
        await put(value);
        seen.push([await app.read(), await app.write([2], null), await app.read()]);
      }
      database.close();
      return seen;
    });
    for (const seen of outcomes) {
      expect(seen).toEqual(['storage-corrupt', 'storage-conflict', 'storage-corrupt']);
    }
  });

  it('Q1: a frame that may not store anything is told so', async () => {
    const outcome = await page.evaluate(async () => {
      const frame = document.createElement('iframe');
      frame.sandbox.add('allow-scripts');
      const code = `import '${location.origin}/app.js';
        parent.postMessage(await app.write([1], null), '*');`;
      frame.srcdoc = `<script type="module">${code}</script>`;
      const answer = new Promise((resolve) => {
        addEventListener('message', ({ data }) => resolve(data));
      });
      document.body.append(frame);
      return answer;
    });
    expect(outcome).toBe('storage-failed: SecurityError');
  });

  it('Q1: a file store says that a page has no files', async () => {
    expect(await page.evaluate(() => app.readFile())).toBe('unsupported');
  });
});

describe('indexedDbStore() in a Chromium that is killed', () => {
  let profile: string;
  let mortal: MortalBrowser;
  beforeEach(async () => {
    profile = await mkdtemp(join(tmpdir(), 'doyen-profile-'));
  });
  afterEach(async () => {
    await mortal.kill();
    await rm(profile, { recursive: true, maxRetries: 10, retryDelay: 100 });
  });

  async function start(): Promise<Page> {
    mortal = await launchMortal(profile);
    return open(mortal.browser.contexts()[0] as BrowserContext);
  }

  it('Q1: a record is there when the browser was killed as soon as it was written', async () => {
    let page = await start();
    expect(await page.evaluate(() => app.write([1, 2, 3], null))).toBeNull();
    await mortal.kill();
    page = await start();
    expect(await page.evaluate(() => app.read())).toEqual([1, 2, 3]);
    expect(await page.evaluate(() => app.write([4], [1, 2, 3]))).toBeNull();
    await mortal.kill();
    page = await start();
    expect(await page.evaluate(() => app.read())).toEqual([4]);
  });

  it('Q1: killed in the middle of writing, it has the last record that was confirmed or the next, whole', async () => {
    let page = await start();
    let confirmed = 0;
    const many = new Promise<void>((resolve) => {
      void page.exposeFunction('told', (number: number) => {
        confirmed = number;
        if (number === 20) resolve();
      });
    });
    await page.waitForFunction(() => 'told' in globalThis);
    page.evaluate(() => app.writeOn(told)).catch(() => undefined);
    await many;
    await mortal.kill();
    const last = confirmed;
    page = await start();
    const found = Uint8Array.from((await page.evaluate(() => app.read())) as number[]);
    const number = new DataView(found.buffer).getUint32(0);
    expect(number).toBeGreaterThanOrEqual(last);
    expect(found).toHaveLength(64 * 1024);
    expect(found.subarray(4).every((byte) => byte === (number & 255))).toBe(true);
  });
});

describe('indexedDbStore() elsewhere', () => {
  it('Q1: without IndexedDB the first use says so, and making a store does not', async () => {
    const store = indexedDbStore();
    await expect(store.read('k')).rejects.toMatchObject({ code: 'unsupported' });
    const failed = store.write('k', Uint8Array.of(1), null);
    await expect(failed).rejects.toMatchObject({ code: 'unsupported' });
  });

  it('Q1: a database that refuses to open, as in some private windows, fails the use with its error', async () => {
    const cause = new DOMException('not in this window', 'InvalidStateError');
    const refusing = {
      open: () => {
        const request = { error: cause, onerror: () => undefined };
        queueMicrotask(() => request.onerror());
        return request;
      },
    } as unknown as IDBFactory;
    const throwing = {
      open: () => {
        throw cause;
      },
    } as unknown as IDBFactory;
    for (const factory of [refusing, throwing]) {
      const store = indexedDbStore({ indexedDB: factory });
      await expect(store.read('k')).rejects.toMatchObject({ code: 'storage-failed', cause });
    }
  });

  it('Q1: a write for which there is no space fails with the error of the browser', async () => {
    const cause = new DOMException('no space left', 'QuotaExceededError');
    const store = indexedDbStore({ indexedDB: fullDatabase(cause) });
    const failed = store.write('k', Uint8Array.of(1), null);
    await expect(failed).rejects.toMatchObject({ code: 'storage-failed', cause });
  });

  it('Q1: a name must be a string', () => {
    expect(() => indexedDbStore({ name: 5 as unknown as string })).toThrow(TypeError);
  });
});

/** A database that has no space for what is put into it: no browser can be made to run out of it. */
function fullDatabase(error: DOMException): IDBFactory {
  const transaction = {
    durability: 'strict',
    error,
    onabort: () => undefined,
    objectStore: () => ({
      get: () => {
        const request = { result: undefined, onsuccess: () => undefined };
        queueMicrotask(() => request.onsuccess());
        return request;
      },
      put: () => queueMicrotask(() => transaction.onabort()),
    }),
  };
  const database = { transaction: () => transaction, close: () => undefined };
  const open = () => {
    const request = { result: database, onsuccess: () => undefined };
    queueMicrotask(() => request.onsuccess());
    return request;
  };
  return { open } as unknown as IDBFactory;
}
