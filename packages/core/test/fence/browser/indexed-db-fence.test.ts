import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { memoryFence } from '../../../src/fence/index.ts';
import { fenceContract } from '../../../src/testing/fence-contract.ts';
import { launch, launchMortal, openSite, type Site } from '../../store/browser/lab.ts';
import { listClient } from '../list-client.ts';
import { token } from '../token.ts';
import type { App } from './app.ts';

declare const app: App;
declare const said: (epoch: number) => void;

let site: Site;
beforeAll(async () => {
  site = await openSite(new URL('app.ts', import.meta.url));
});
afterAll(() => site.close());

async function open(context: BrowserContext): Promise<Page> {
  const page = await context.newPage();
  await page.goto(site.origin);
  await page.waitForFunction(() => 'app' in globalThis);
  return page;
}

describe('X3: indexedDbFence in Chromium, by the contract', () => {
  let browser: Browser;
  let page: Page;
  beforeAll(async () => {
    browser = await launch();
    page = await open(await browser.newContext());
  });
  afterAll(() => browser.close());

  // The titles are told here, the bodies run in the page.
  fenceContract({
    suite: {
      describe,
      it: (title, _body, timeoutMs) =>
        it(title, () => page.evaluate((it) => app.runContract(it), title), timeoutMs),
    },
    setup: () => ({ client: () => listClient(memoryFence(), []), effects: async () => [] }),
  });
});

describe('indexedDbFence in Chromium', () => {
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

  it('X1: of two tabs with one epoch exactly one is ever admitted', async () => {
    const tabs = [page, await open(context)];
    for (let epoch = 1; epoch <= 10; epoch += 1) {
      const outcomes = await Promise.all(
        tabs.map((tab, index) =>
          tab.evaluate((next) => app.append(next, next.holder), token(epoch, `tab ${index}`)),
        ),
      );
      expect([...outcomes].sort()).toEqual(['admitted', `conflict ${epoch}`]);
    }
    expect((await page.evaluate(() => app.texts())).length).toBe(10);
  });

  it('X1: the mark outlives the tab that raised it', async () => {
    const other = await open(context);
    await other.evaluate((next) => app.append(next, 'x'), token(34));
    await other.close();
    expect(await page.evaluate((old) => app.append(old, 'late'), token(33))).toBe('stale 34');
    expect(await page.evaluate(() => app.texts())).toEqual(['x']);
  });

  it('X1: token and effect are one transaction, of strict durability', async () => {
    const asked = await page.evaluate(async (next) => {
      const database = await app.openDatabase();
      const fence = app.indexedDbFence({ database, stores: ['list'] });
      return fence.admit(next, ({ mode, durability, objectStoreNames }) => {
        return { mode, durability, stores: [...objectStoreNames] };
      });
    }, token(1));
    const stores = ['doyen-fence', 'list'];
    expect(asked).toEqual({ mode: 'readwrite', durability: 'strict', stores });
  });

  it('X1: an effect that fails, by itself or by a request, leaves neither a trace nor a mark', async () => {
    const outcomes = await page.evaluate(async (next) => {
      const database = await app.openDatabase();
      const fence = app.indexedDbFence({ database, stores: ['list'] });
      const acts: ((transaction: IDBTransaction) => unknown)[] = [
        (transaction) => {
          transaction.objectStore('list').add('a');
          throw new Error('own');
        },
        async (transaction) => {
          await app.settled(transaction.objectStore('list').add('b', 1));
          await app.settled(transaction.objectStore('list').add('c', 1));
        },
        (transaction) => {
          transaction.objectStore('list').add('d', 1);
          transaction.objectStore('list').add('e', 1);
        },
        (transaction) => transaction.abort(),
        // Never says that it has failed.
        (transaction) =>
          new Promise((resolve) => {
            transaction.objectStore('list').add('f', 1);
            transaction.objectStore('list').add('g', 1).onsuccess = resolve;
          }),
      ];
      const seen: string[] = [];
      for (const act of acts) seen.push(await app.outcomeOf(fence.admit(next, act)));
      return seen;
    }, token(5));
    expect(outcomes).toEqual([
      'Error',
      'ConstraintError',
      'storage-failed',
      'storage-failed',
      'storage-failed',
    ]);
    expect(await page.evaluate(() => app.texts())).toEqual([]);
    expect(await page.evaluate(() => app.high())).toBe(0);
  });

  it('gives what the effect gives, also when that comes after the transaction', async () => {
    const value = await page.evaluate(async (next) => {
      const database = await app.openDatabase();
      const fence = app.indexedDbFence({ database, stores: ['list'] });
      const key = await fence.admit(next, (transaction) =>
        app.settled(transaction.objectStore('list').add('x')),
      );
      const late = await fence.admit(next, async () => {
        await new Promise((resolve) => setTimeout(resolve, 50));
        return 'late';
      });
      return [key, late];
    }, token(1));
    expect(value).toEqual([1, 'late']);
  });

  it('says so when the database is closed, or has no room for marks', async () => {
    const outcomes = await page.evaluate(async (next) => {
      const database = await app.openDatabase();
      const fence = app.indexedDbFence({ database, stores: ['list'] });
      database.close();
      const closed = [await app.outcomeOf(fence.open(next)), await app.outcomeOf(fence.high())];
      const plain = await app.settled(indexedDB.open('plain', 1));
      try {
        app.indexedDbFence({ database: plain, stores: [] });
      } catch (error) {
        closed.push(String(error));
      }
      return closed;
    }, token(1));
    expect(outcomes).toEqual([
      'storage-failed',
      'storage-failed',
      expect.stringMatching(/^TypeError: database must have been upgraded/),
    ]);
  });

  it('X1: what is no mark admits nobody, and is left as it is', async () => {
    const outcome = await page.evaluate(async (next) => {
      const database = await app.openDatabase();
      const marks = () =>
        database.transaction('doyen-fence', 'readwrite').objectStore('doyen-fence');
      await app.settled(marks().put({ epoch: 'one' }, 'fence'));
      const fence = app.indexedDbFence({ database, stores: ['list'] });
      const codes = [await app.outcomeOf(fence.open(next)), await app.outcomeOf(fence.high())];
      return [...codes, await app.settled(marks().get('fence'))];
    }, token(9));
    expect(outcome).toEqual(['storage-corrupt', 'storage-corrupt', { epoch: 'one' }]);
  });

  it('keeps a mark for each resource', async () => {
    const highs = await page.evaluate(async (next) => {
      const database = await app.openDatabase();
      const of = (resource: string) => app.indexedDbFence({ database, stores: [], resource });
      await of('a').open(next);
      return [await of('a').high(), await of('b').high()];
    }, token(5));
    expect(highs).toEqual([5, 0]);
  });
});

describe('indexedDbFence in a browser that is killed', () => {
  it('X1: keeps what it has confirmed, and leaves no effect above the mark', async () => {
    const profile = await mkdtemp(join(tmpdir(), 'doyen-profile-'));
    let mortal = await launchMortal(profile);
    try {
      let confirmed = 0;
      const page = await open(mortal.browser.contexts()[0] as BrowserContext);
      await page.exposeFunction('said', (epoch: number) => {
        confirmed = epoch;
      });
      void page.evaluate(() => app.appendOn(said)).catch(() => undefined);
      await expect.poll(() => confirmed, { timeout: 30_000 }).toBeGreaterThan(20);
      await mortal.kill();
      mortal = await launchMortal(profile);
      const again = await open(mortal.browser.contexts()[0] as BrowserContext);
      const high = await again.evaluate(() => app.high());
      const texts = await again.evaluate(() => app.texts());
      expect(high).toBeGreaterThanOrEqual(confirmed);
      expect(texts).toEqual(Array.from({ length: high }, (_, index) => String(index + 1)));
      expect(await again.evaluate((old) => app.append(old, 'late'), token(1))).toBe(
        `stale ${high}`,
      );
    } finally {
      await mortal.kill();
      await rm(profile, { recursive: true, force: true });
    }
  });
});
