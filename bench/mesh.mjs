import { setTimeout } from 'node:timers/promises';
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
/** An older tab preempts one that led alone some 100 ms after they met: only what lasts is settled. */
const SETTLED_MS = 300;
const POLL_MS = 20;
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
    return (await this.#settled()).since - started;
  }

  /** Opens one more; milliseconds from the start of its node, when the page has loaded. */
  async add() {
    const page = await this.#page();
    this.#pages.push(page);
    const { since } = await this.#settled();
    return since - (await page.evaluate(() => globalThis.nodeStartedAt));
  }

  /** Milliseconds from the act until the last survivor is told of the new leader. */
  async failover(act) {
    const { leader } = await this.#settled();
    const ids = await this.#each(() => globalThis.doyen.id);
    const [victim] = this.#pages.splice(ids.indexOf(leader), 1);
    const listening = this.#each(nextLeader, { former: leader, limitMs: FAILOVER_LIMIT_MS });
    // Each page has begun to listen before the act: its evaluation is queued behind this one.
    const named = await this.#each(() => globalThis.doyen.leadership.current?.id);
    if (named.some((id) => id !== leader)) throw new Error('The leader changed before the act.');
    const acted = Date.now();
    await act(victim);
    const toldAt = await listening;
    await victim.context().close();
    return Math.max(...toldAt) - acted;
  }

  async close() {
    await Promise.all(this.#pages.map((page) => page.context().close()));
    this.#pages = [];
  }

  /** Waits until all are linked and have named one leader at one epoch for a while; since when. */
  async #settled() {
    const deadline = Date.now() + MESH_LIMIT_MS;
    for (let since, last; Date.now() < deadline; await setTimeout(POLL_MS)) {
      const asked = Date.now();
      const [claim, ...others] = await this.#each(claimOfMesh, this.#size);
      const isOne = claim !== null && others.every((other) => other === claim);
      if (!isOne || claim !== last) since = asked;
      last = isOne ? claim : undefined;
      if (isOne && asked - since >= SETTLED_MS) return { since, leader: JSON.parse(claim)[0] };
    }
    throw new Error(`The tabs do not agree on a leader within ${MESH_LIMIT_MS} ms.`);
  }

  /** What each page answers. */
  #each(work, arg) {
    return Promise.all(this.#pages.map((page) => page.evaluate(work, arg)));
  }

  async #page() {
    const context = await this.#browser.newContext();
    const page = await context.newPage();
    await page.addInitScript(noteNodeStart);
    await page.goto(this.#url);
    return page;
  }
}

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

/** Runs in the page: the leader and the epoch that it names, once it has a link to every other. */
function claimOfMesh(size) {
  const node = globalThis.doyen;
  const leader = node?.leadership.current;
  if (!leader || node.members.length !== size) return null;
  const isLinked = node.members.every(
    ({ link, status }) => link !== 'relayed' && status === 'alive',
  );
  return isLinked ? JSON.stringify([leader.id, node.leadership.epoch]) : null;
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

/** Runs in the page: the time at which somebody else than the former leader is named. */
function nextLeader({ former, limitMs }) {
  const { leadership } = globalThis.doyen;
  return new Promise((resolve, reject) => {
    setTimeout(() => reject(new Error('no new leader')), limitMs);
    leadership.addEventListener('change', ({ leader }) => {
      if (leader && leader.id !== former) resolve(Date.now());
    });
  });
}
