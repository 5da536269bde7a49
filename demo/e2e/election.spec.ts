import { agree, expect, split, test } from './tabs.ts';

test('E3: three tabs agree on one leader', async ({ tabs }) => {
  const all = await tabs.openMany(3);
  const { leader } = await agree(all);
  const leads = await Promise.all(all.map((tab) => tab.isLeader()));
  expect(leads.filter(Boolean)).toHaveLength(1);
  expect(leader).toBe(await (await split(all)).leader.id());
});

test('E9: a lone tab leads at once', async ({ tabs }) => {
  const tab = await tabs.open();
  await expect.poll(() => tab.isLeader()).toBe(true);
  expect((await tab.leadership()).epoch).toBe(1);
});

test('M7, E4: when the leader’s tab is closed, the others follow a new one at a higher epoch', async ({
  tabs,
}) => {
  const all = await tabs.openMany(3);
  const before = await agree(all);
  const { leader, others } = await split(all);
  await leader.page.close();
  const after = await agree(others);
  expect(after.epoch).toBeGreaterThan(before.epoch);
  expect(after.leader).not.toBe(before.leader);
});

test('M7: a tab that leaves by its button is gone at once, and can join again', async ({
  tabs,
}) => {
  const all = await tabs.openMany(3);
  const { leader, others } = await split(all);
  const former = await leader.id();
  await leader.click('Leave');
  await agree(others);
  await expect(leader.page.getByRole('status')).toHaveText('This tab has left.');

  await leader.click('Join again');
  await expect.poll(() => leader.id()).not.toBe(former);
  await agree(all);
});

test('M1: a tab that is reloaded is replaced, not doubled', async ({ tabs }) => {
  const all = await tabs.openMany(3);
  const { others } = await split(all);
  const [reloaded] = others;
  const former = await reloaded?.id();
  await reloaded?.page.reload();
  await reloaded?.opened();
  await agree(all);
  expect(await reloaded?.id()).not.toBe(former);
});

test('E8: a frozen leader loses the lead, and follows when it is thawed', async ({ tabs }) => {
  const all = await tabs.openMany(3);
  const before = await agree(all);
  const { leader, others } = await split(all);
  await leader.click('Freeze');
  await expect.poll(async () => (await others[0]?.leadership())?.leader).not.toBe(before.leader);
  expect(await leader.isLeader()).toBe(false);
  await leader.click('Thaw');
  const after = await agree(all);
  expect(after.epoch).toBeGreaterThan(before.epoch);
  expect(after.leader).not.toBe(before.leader);
});

test('M5: a leader that crashes by its button is replaced, and the tab can join again', async ({
  tabs,
}) => {
  const all = await tabs.openMany(3);
  const before = await agree(all);
  const { leader, others } = await split(all);
  await leader.click('Crash');
  await expect(leader.page.getByRole('status')).toContainText('has crashed');
  for (const tab of others) {
    await expect.poll(async () => (await tab.leadership()).epoch).toBeGreaterThan(before.epoch);
  }
  await leader.click('Join again');
  await expect.poll(() => leader.id()).not.toBe(before.leader);
  const { leader: standIn } = await (others[0] ?? leader).leadership();
  await expect.poll(async () => (await leader.leadership()).leader).toBe(standIn);
});
