import type { Progress } from '../src/coordinator/checkpoint.ts';
import type { Tab } from './tab.ts';
import { agree, expect, split, type Tabs, test } from './tabs.ts';

/** Two for each of three tabs: what a leader hands out at a time. */
const IN_FLIGHT_MAX = 6;

test('the picture is finished by all tabs together, and each shows all of it', async ({ tabs }) => {
  const all = await tabs.openMany(3);
  const [progress] = await Promise.all(all.map((tab) => tab.hasCompleted()));
  expect(new Set(progress?.tiles.map(({ by }) => by)).size).toBeGreaterThan(1);
  await showTheSame(all);
});

test('E4, M5: the picture survives the crash of its leader', async ({ tabs }) => {
  const all = await tabs.openMany(3);
  const { leader, others } = await split(all);
  const { epoch } = await leader.leadership();
  await others[0]?.hasDone(8);
  const before = await checkpointOf(others);
  await leader.crashRenderer();

  for (const tab of others) {
    const after = await tab.hasCompleted();
    expect((await tab.leadership()).epoch).toBeGreaterThan(epoch);
    expectNothingLost(before, after);
  }
  await showTheSame(others);
  await showTheSame([...others, await tabOfItsOwn(tabs)]);
});

test('E4, M7: the picture survives that its leader’s tab is closed', async ({ tabs }) => {
  const all = await tabs.openMany(3);
  const { leader, others } = await split(all);
  await others[0]?.hasDone(8);
  const before = await checkpointOf(others);
  await leader.page.close();
  for (const tab of others) expectNothingLost(before, await tab.hasCompleted());
  await showTheSame(others);
});

test('E4, E8: late results of a frozen leader are refused, and counted in every tab', async ({
  tabs,
}) => {
  const all = await tabs.openMany(3);
  const before = await agree(all);
  const { leader, others } = await split(all);
  await others[0]?.hasDone(6);
  await leader.click('Freeze');
  // The others' own late results are refused as well: once each has done a tile of the new epoch,
  // these are counted.
  for (const tab of others) {
    const id = await tab.id();
    const hasNewTile = async () =>
      (await tab.progress()).tiles.some(({ epoch, by }) => epoch > before.epoch && by === id);
    await expect.poll(hasNewTile).toBe(true);
  }
  const { refusedStale, done } = await (await split(others)).leader.progress();

  await leader.click('Thaw');
  const after = await agree(all);
  expect(after.leader).not.toBe(before.leader);
  for (const tab of all) {
    await expect
      .poll(async () => (await tab.progress()).refusedStale)
      .toBeGreaterThan(refusedStale);
    expect((await tab.hasCompleted()).done).toBeGreaterThan(done);
  }
  await showTheSame(all);
});

test('a tab that comes late gets what is done, and another picture can be begun', async ({
  tabs,
}) => {
  const first = await tabs.open({ query: '?picture=small&iterations=500' });
  await first.hasCompleted();
  const late = await tabs.open({ query: '?picture=large' });
  const progress = await late.hasCompleted();
  expect(progress.total).toBe(48);
  await showTheSame([first, late]);

  await late.click('New picture');
  await expect.poll(async () => (await late.progress()).tiles.some(isNotFrom(progress))).toBe(true);
  await first.hasCompleted();
});

/** What all of them hold: tiles that each knows to be accepted. */
async function checkpointOf(all: readonly Tab[]): Promise<Progress> {
  const [first, ...rest] = await Promise.all(all.map((tab) => tab.progress()));
  if (!first) throw new Error('no tab');
  const tiles = first.tiles.filter(({ id }) =>
    rest.every((other) => other.tiles.some((tile) => tile.id === id)),
  );
  return { ...first, tiles };
}

/** What was accepted stays as it was; the rest is computed once more at most where it was in flight. */
function expectNothingLost(before: Progress, after: Progress): void {
  const identity = ({ id, epoch, by }: Progress['tiles'][number]) => `${id} in ${epoch} by ${by}`;
  expect(after.tiles.map(identity)).toEqual(expect.arrayContaining(before.tiles.map(identity)));
  const again = after.tiles.filter(({ computed }) => computed > 1);
  expect(again.length).toBeLessThanOrEqual(IN_FLIGHT_MAX);
}

async function showTheSame(all: readonly Tab[]): Promise<void> {
  const [first, ...rest] = await Promise.all(all.map((tab) => tab.picture()));
  for (const picture of rest) expect(picture === first).toBe(true);
}

/** The same picture, computed by a tab in a cluster of its own. */
async function tabOfItsOwn(tabs: Tabs): Promise<Tab> {
  const alone = await tabs.open({ cluster: 'alone' });
  await alone.hasCompleted();
  expect(await alone.members()).toHaveLength(1);
  return alone;
}

function isNotFrom(progress: Progress): (tile: Progress['tiles'][number]) => boolean {
  return ({ id, by, epoch }) => {
    const former = progress.tiles[id];
    return former?.by !== by || former.epoch !== epoch;
  };
}
