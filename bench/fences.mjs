import { mkdtemp, open, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { build } from 'esbuild';
import { chromium } from 'playwright-core';
import { createClient } from 'redis';
import {
  httpFence,
  memoryFence,
  nodeGuard,
  redisFence,
  storeFence,
} from '../packages/core/dist/fence/index.js';
import { fileStore } from '../packages/core/dist/store/index.js';
import { CHROMIUM_ADVICE, ensureChromium } from '../scripts/chromium.mjs';
import { ensureRedis, REDIS_ADVICE, startRedis } from '../scripts/redis.mjs';
import { median, spread, table } from './statistics.mjs';

/** Each writes the same few bytes in the same way: alone, through a fence, and for a new leader. */
const STORES = { memory, file, indexedDb, redis, http };
const VALUE = 'x'.repeat(100);

/** What a fence costs: writes a second through it, beside those of the bare store. */
export async function run({ isSmoke }) {
  const runs = isSmoke ? 1 : 7;
  const rows = [];
  const folder = await mkdtemp(path.join(tmpdir(), 'doyen-bench-'));
  try {
    for (const store of Object.values(STORES))
      rows.push(...(await store({ folder, isSmoke, runs })));
  } finally {
    await rm(folder, { recursive: true });
  }
  console.log(`Writes of ${VALUE.length} B a second; median of ${runs} (least–most).\n`);
  table(['store', 'in flight', 'bare', 'fenced', 'share', 'fenced, each in a new epoch'], rows);
}

async function memory({ isSmoke, runs }) {
  const map = new Map();
  const fence = memoryFence();
  const works = kindsOf(
    async () => map.set('key', VALUE),
    (token) => fence.admit(token, () => map.set('key', VALUE)),
  );
  return [await row('memory', works, { count: isSmoke ? 1_000 : 200_000, runs })];
}

/** A file that is synced, as the mark is: without that neither would be worth guarding. */
async function file({ folder, isSmoke, runs }) {
  const fence = storeFence({ store: fileStore(path.join(folder, 'mark')) });
  const write = () => syncedWrite(path.join(folder, 'data'));
  const works = kindsOf(write, (token) => fence.admit(token, write));
  return [await row('file, `storeFence`', works, { count: isSmoke ? 5 : 100, runs })];
}

async function indexedDb({ isSmoke, runs }) {
  const executablePath = await ensureChromium();
  if (!executablePath) throw new Error(CHROMIUM_ADVICE);
  const browser = await chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-gpu'],
  });
  const site = await listen(await pageServer());
  try {
    const page = await browser.newPage();
    await page.goto(site.url);
    await page.waitForFunction(() => 'measure' in globalThis);
    const rates = (kind, count) =>
      page.evaluate((args) => globalThis.measure(...args), [kind, count]);
    const kinds = ['bare', 'fenced', 'raised'];
    return [await rowOf('IndexedDB, strict', rates, { kinds, count: isSmoke ? 10 : 500, runs })];
  } finally {
    await browser.close();
    await site.close();
  }
}

async function redis({ folder, isSmoke, runs }) {
  if (!(await ensureRedis())) throw new Error(REDIS_ADVICE);
  const server = await startRedis({ folder, isDurable: true });
  const client = createClient({ socket: { path: server.socket } });
  try {
    await client.connect();
    const fence = redisFence({ client, key: '{bench}:fence' });
    const set = ['SET', '{bench}:key', VALUE];
    const works = kindsOf(
      () => client.sendCommand(set),
      (token) => fence.admit(token, [set]),
    );
    const sizes = { count: isSmoke ? 50 : 2_000, runs };
    return [
      await row('Redis, appendfsync always', works, sizes),
      await row('Redis, appendfsync always', works, { ...sizes, inFlight: 32 }),
    ];
  } finally {
    client.destroy();
    await server.kill();
  }
}

/** Server and client in this process, on one connection for each request in flight. */
async function http({ folder, isSmoke, runs }) {
  const map = new Map();
  const write = (body) => map.set('key', body);
  const fence = storeFence({ store: fileStore(path.join(folder, 'http-mark')) });
  const guarded = nodeGuard({ fence }, (_request, response, { body }) => {
    write(body);
    response.end();
  });
  const bare = await listen(
    createServer(async (request, response) => {
      const chunks = [];
      for await (const chunk of request) chunks.push(chunk);
      write(Buffer.concat(chunks));
      response.end();
    }),
  );
  const site = await listen(createServer(guarded));
  const client = httpFence({ url: site.url });
  const post = { method: 'POST', body: VALUE };
  const works = kindsOf(
    async () => (await fetch(bare.url, post)).arrayBuffer(),
    async (token) => (await client.admit(token, post)).arrayBuffer(),
  );
  const sizes = { count: isSmoke ? 20 : 500, runs };
  try {
    return [
      await row('HTTP, loopback', works, sizes),
      await row('HTTP, loopback', works, { ...sizes, inFlight: 32 }),
    ];
  } finally {
    await Promise.all([bare.close(), site.close()]);
  }
}

/** The kinds of writes; `fenced` makes one with a token. */
function kindsOf(bare, fenced) {
  let epoch = 1;
  const admit = () => fenced({ cluster: 'bench', epoch, holder: 'bench' });
  const raised = () => {
    epoch += 1;
    return admit();
  };
  return { bare, fenced: admit, raised };
}

function row(name, works, { count, runs, inFlight = 1 }) {
  // Of several new epochs at a time some would be overtaken, and refused.
  const kinds = Object.keys(works).filter((kind) => kind !== 'raised' || inFlight === 1);
  const rates = (kind, repeats) => rate(works[kind], { count: repeats, inFlight });
  return rowOf(name, rates, { kinds, count, runs, inFlight });
}

/** The kinds take turns, so that a change in the machine's load falls on all of them. */
async function rowOf(name, rates, { kinds, count, runs, inFlight = 1 }) {
  const found = { bare: [], fenced: [], raised: [] };
  for (const kind of kinds) await rates(kind, Math.ceil(count / 10));
  for (let run = 0; run < runs; run += 1) {
    for (const kind of kinds) found[kind].push(await rates(kind, count));
  }
  const share = `${Math.round((100 * median(found.fenced)) / median(found.bare))} %`;
  const raised = found.raised.length > 0 ? spread(found.raised) : '';
  return [name, inFlight, spread(found.bare), spread(found.fenced), share, raised];
}

async function rate(work, { count, inFlight }) {
  let begun = 0;
  const one = async () => {
    while (begun < count) {
      begun += 1;
      await work();
    }
  };
  const started = performance.now();
  await Promise.all(Array.from({ length: inFlight }, one));
  return (count / (performance.now() - started)) * 1000;
}

async function syncedWrite(name) {
  const handle = await open(name, 'w');
  try {
    await handle.writeFile(VALUE);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function listen(server) {
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/`,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

async function pageServer() {
  const { outputFiles } = await build({
    stdin: { contents: PAGE, resolveDir: import.meta.dirname },
    bundle: true,
    write: false,
    format: 'esm',
  });
  const page = `<script type="module">${outputFiles[0].text}</script>`;
  return createServer((_request, response) =>
    response.writeHead(200, { 'content-type': 'text/html' }).end(page),
  );
}

const PAGE = `
import { createFenceStore, indexedDbFence } from '../packages/core/dist/fence/index.js';
const settled = (request) => new Promise((resolve, reject) => {
  request.onsuccess = () => resolve(request.result);
  request.onerror = () => reject(request.error);
});
const opening = indexedDB.open('bench', 1);
opening.onupgradeneeded = () => {
  createFenceStore(opening.result);
  opening.result.createObjectStore('data');
};
const database = await settled(opening);
const fence = indexedDbFence({ database, stores: ['data'] });
let epoch = 1;
const put = (transaction) => transaction.objectStore('data').put('${VALUE}', 'key');
const admit = () =>
  fence.admit({ cluster: 'bench', epoch, holder: 'bench' }, (transaction) => void put(transaction));
const works = {
  bare: () => new Promise((resolve) => {
    const transaction = database.transaction('data', 'readwrite', { durability: 'strict' });
    transaction.oncomplete = resolve;
    put(transaction);
  }),
  fenced: admit,
  raised: () => {
    epoch += 1;
    return admit();
  },
};
globalThis.measure = async (kind, count) => {
  const started = performance.now();
  for (let index = 0; index < count; index += 1) await works[kind]();
  return (count / (performance.now() - started)) * 1000;
};
`;
