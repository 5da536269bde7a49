import { agree, expect, test } from './tabs.ts';

declare global {
  /** Every connection that the page made. */
  var connections: RTCPeerConnection[];
  /** Changes of leadership that the page was told of. */
  var changes: number;
}

/** Runs in the page, before anything else. */
function rememberConnections(): void {
  const Original = globalThis.RTCPeerConnection;
  globalThis.connections = [];
  globalThis.RTCPeerConnection = class extends Original {
    constructor(configuration?: RTCConfiguration) {
      super(configuration);
      globalThis.connections.push(this);
    }
  };
}

test('W2: two tabs that join at the same instant get exactly one link', async ({ tabs }) => {
  const both = await Promise.all([1, 2].map(() => tabs.open({ script: rememberConnections })));
  await agree(both);
  for (const tab of both) {
    const open = () =>
      tab.page.evaluate(
        () => globalThis.connections.filter(({ connectionState: s }) => s === 'connected').length,
      );
    await expect.poll(open).toBe(1);
  }
});

test('W5, E10: leadership does not move while the signaling server is away, and tabs join after', async ({
  tabs,
  demo,
}) => {
  tabs.expectedErrors = /WebSocket connection to/;
  const all = await tabs.openMany(3);
  const before = await agree(all);
  await all[0]?.page.evaluate(() => {
    globalThis.changes = 0;
    globalThis.doyen?.leadership.addEventListener('change', () => {
      globalThis.changes += 1;
    });
  });
  await demo.stopSignaling();
  await all[1]?.hasCompleted();
  demo.startSignaling();
  // Whoever comes before the others are back finds an empty room, and would lead it until they meet.
  const health = `http://localhost:${demo.port}/healthz`;
  await expect.poll(async () => (await (await fetch(health)).json()).members).toBe(3);
  const late = await tabs.open();
  expect(await agree([...all, late])).toEqual(before);
  expect(await all[0]?.page.evaluate(() => globalThis.changes)).toBe(0);
});

test('M4: a link that is cut is bridged by another tab, and everybody stays', async ({ tabs }) => {
  const [a, b, c] = await tabs.openMany(3);
  if (!a || !b || !c) throw new Error('three tabs');
  const before = await agree([a, b, c]);
  const id = await b.id();
  await a.page.locator(`li[data-key="${id}"] button`).click();
  await expect.poll(() => a.linkTo(id)).toBe('relayed');
  expect(await agree([a, b, c])).toEqual(before);
  await a.page.locator(`li[data-key="${id}"] button`).click();
  await expect.poll(() => a.linkTo(id)).toBe('direct');
});

test('a tab cut off by the only other one shows no answer, not a way by another', async ({
  tabs,
}) => {
  const [a, b] = await tabs.openMany(2);
  if (!a || !b) throw new Error('two tabs');
  await agree([a, b]);
  await a.page.locator(`li[data-key="${await b.id()}"] button`).click();
  const row = b.page.locator(`li[data-key="${await a.id()}"] .how`);
  await expect(row).toContainText('no answer');
});

test('E3: eight tabs agree on one leader, and again when it is gone', async ({ tabs }) => {
  const all = await Promise.all(
    Array.from({ length: 8 }, () => tabs.open({ query: '?picture=small&iterations=500' })),
  );
  const before = await agree(all);
  const ids = await Promise.all(all.map((tab) => tab.id()));
  const leader = all[ids.indexOf(before.leader ?? '')];
  await leader?.page.close();
  const after = await agree(all.filter((tab) => tab !== leader));
  expect(after.epoch).toBeGreaterThan(before.epoch);
});

test('E3: tabs of one browser window agree, too', async ({ tabs, browser }) => {
  const context = await browser.newContext();
  const all = [await tabs.open({ context }), await tabs.open({ context })];
  await agree(all);
  await context.close();
});
