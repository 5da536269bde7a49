import { chromium } from 'playwright-core';
import { CHROMIUM_ADVICE, ensureChromium } from '../scripts/chromium.mjs';
import { startSite } from './demo-site.mjs';
import { spread, table } from './statistics.mjs';

const CHROMIUM_ARGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

const COLUMNS = [
  'tabs',
  'all join at once, loading included',
  'one more joins',
  'leader’s page closes',
  'leader’s renderer crashes',
];

const MESH_LIMIT_MS = 60_000;
/** Two nodes have nobody to confirm a silence; anything longer is a failure. */
const FAILOVER_LIMIT_MS = 30_000;

/** How long real tabs take to meet, and to replace a leader. Each in a browser context of its own. */
export async function run({ isSmoke }) {
  const executablePath = await ensureChromium();
  if (!executablePath) throw new Error(CHROMIUM_ADVICE);
  const browser = await chromium.launch({ executablePath, args: CHROMIUM_ARGS });
  const site = await startSite();
  try {
    const sizes = isSmoke ? [2] : [2, 4, 8];
    const runs = isSmoke ? 1 : 5;
    const rows = [];
    for (const size of sizes) rows.push(await figures({ browser, site, size, runs }));
    console.log(`Median of ${runs} (least–most), in milliseconds.\n`);
    table(COLUMNS, rows);
    console.log(`\nChromium ${browser.version()}`);
  } finally {
    await browser.close();
    await site.close();
  }
}

async function figures({ browser, site, size, runs }) {
  const joins = [];
  const additions = [];
  const closes = [];
  const crashes = [];
  for (let run = 0; run < runs; run += 1) {
    const tabs = new Tabs(browser, site.url(`bench-${size}-${run}`), size);
    joins.push(await tabs.open());
    closes.push(await tabs.failover(closePage));
    additions.push(await tabs.add());
    crashes.push(await tabs.failover(crashPage));
    await tabs.close();
  }
  return [size, ...[joins, additions, closes, crashes].map((values) => spread(values))];
}

/** All tabs of one cluster. */
class Tabs {
  #browser;
  #url;
  #size;
  #pages = [];

  constructor(browser, url, size) {
    this.#browser = browser;
    this.#url = url;
    this.#size = size;
  }

  /** Opens all at once; milliseconds until each is linked with each and all name one leader. */
  async open() {
    const started = Date.now();
    const pages = Array.from({ length: this.#size }, () => this.#page());
    this.#pages = await Promise.all(pages);
    await this.#meshed();
    return Date.now() - started;
  }

  /** Opens one more; milliseconds from the start of its node, when the page has loaded. */
  async add() {
    const page = await this.#page();
    this.#pages.push(page);
    await this.#meshed();
    const ended = Date.now();
    return ended - (await page.evaluate(() => globalThis.nodeStartedAt));
  }

  /** Milliseconds from the act until the last survivor is told of the new leader. */
  async failover(act) {
    const leader = await this.#pages[0].evaluate(() => globalThis.doyen.leadership.current.id);
    const ids = await Promise.all(
      this.#pages.map((page) => page.evaluate(() => globalThis.doyen.id)),
    );
    const [victim] = this.#pages.splice(ids.indexOf(leader), 1);
    const changes = this.#pages.map((page) => page.evaluate(nextLeader, FAILOVER_LIMIT_MS));
    // Each page has begun to listen before the act: its evaluation is queued behind this one.
    await Promise.all(this.#pages.map((page) => page.evaluate(() => true)));
    const acted = Date.now();
    await act(victim);
    const toldAt = await Promise.all(changes);
    await victim.context().close();
    return Math.max(...toldAt) - acted;
  }

  async close() {
    await Promise.all(this.#pages.map((page) => page.context().close()));
    this.#pages = [];
  }

  async #meshed() {
    await Promise.all(this.#pages.map((page) => page.waitForFunction(isMeshed, this.#size, WAIT)));
  }

  async #page() {
    const context = await this.#browser.newContext();
    const page = await context.newPage();
    await page.addInitScript(noteNodeStart);
    await page.goto(this.#url);
    return page;
  }
}

const WAIT = { timeout: MESH_LIMIT_MS, polling: 10 };

function closePage(page) {
  return page.close();
}

async function crashPage(page) {
  const crashed = page.waitForEvent('crash');
  const session = await page.context().newCDPSession(page);
  // The page dies before it can answer; the event proves that it did.
  session.send('Page.crash').catch(() => undefined);
  await crashed;
}

/** Runs in the page. */
function isMeshed(size) {
  const node = globalThis.doyen;
  if (node?.members.length !== size || !node.leadership.current) return false;
  return node.members.every(({ link, status }) => link !== 'relayed' && status === 'alive');
}

/** Runs in the page before its own code: notes when that publishes its node. */
function noteNodeStart() {
  let node;
  Object.defineProperty(globalThis, 'doyen', {
    configurable: true,
    get: () => node,
    set(value) {
      globalThis.nodeStartedAt ??= Date.now();
      node = value;
    },
  });
}

/** Runs in the page: the time at which somebody else than now is named leader. */
function nextLeader(limitMs) {
  const { leadership } = globalThis.doyen;
  const former = leadership.current.id;
  return new Promise((resolve, reject) => {
    setTimeout(() => reject(new Error('no new leader')), limitMs);
    leadership.addEventListener('change', ({ leader }) => {
      if (leader && leader.id !== former) resolve(Date.now());
    });
  });
}
