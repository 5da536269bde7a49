import { expect, test } from 'vitest';
import { Crew, PICTURE, pixelsOf, TOTAL } from './crew.ts';

const computedTwice = (crew: Crew, id: string) =>
  crew
    .get(id)
    .checkpoint.progress()
    .tiles.filter(({ computed }) => computed > 1)
    .map((tile) => tile.id);

test('one tab alone finishes the picture', async () => {
  const crew = new Crew('a');
  crew.lead('a', 1);
  await crew.workOff();
  const progress = crew.get('a').checkpoint.progress();
  expect(progress).toMatchObject({ total: TOTAL, done: TOTAL, refusedStale: 0 });
  expect(progress.tiles).toEqual(
    Array.from({ length: TOTAL }, (_, id) => ({ id, epoch: 1, by: 'a', computed: 1 })),
  );
});

test('every member works, and every member holds the whole picture', async () => {
  const crew = new Crew('a', 'b', 'c');
  crew.lead('a', 1);
  await crew.workOff();
  for (const id of ['a', 'b', 'c']) {
    const { checkpoint, begun } = crew.get(id);
    expect(begun.length).toBeGreaterThan(0);
    expect(checkpoint.progress()).toEqual(crew.get('a').checkpoint.progress());
    expect(checkpoint.get(7)?.pixels).toEqual(pixelsOf(PICTURE, 7));
  }
});

test('the picture survives its leader: only tiles in flight are computed again', async () => {
  const crew = new Crew('a', 'b', 'c');
  crew.lead('a', 1);
  for (const id of ['a', 'b', 'c', 'b']) await crew.work(id);
  const before = crew.get('b').checkpoint.progress();
  const inFlight = [...crew.coordinator.inFlight.keys()];
  crew.lose('a');
  crew.lead('b', 2);
  await crew.workOff();

  const after = crew.get('c').checkpoint.progress();
  expect(before.done).toBe(4);
  expect(after.done).toBe(TOTAL);
  expect(after.tiles.filter(({ epoch }) => epoch === 1)).toEqual(before.tiles);
  // What b and c had in work came in under the old epoch.
  expect(after.refusedStale).toBe(2);
  expect(computedTwice(crew, 'c')).toHaveLength(2);
  for (const tile of computedTwice(crew, 'c')) expect(inFlight).toContain(tile);
});

test('a new leader takes what it lacks from the others, and computes none of it again', async () => {
  const crew = new Crew('a', 'b', 'c');
  crew.lead('a', 1);
  await crew.work('a');
  crew.silent.add('c');
  await crew.work('b');
  crew.silent.delete('c');
  expect(crew.get('b').checkpoint.done).toBe(2);
  expect(crew.get('c').checkpoint.done).toBe(1);

  crew.lose('a');
  crew.lead('c', 2);
  expect(crew.get('c').checkpoint.done).toBe(2);
  await crew.workOff();
  expect(
    crew
      .get('c')
      .checkpoint.progress()
      .tiles.filter(({ epoch }) => epoch === 1),
  ).toHaveLength(2);
});

test('results of an older epoch are refused and counted, for all to see', async () => {
  const crew = new Crew('a', 'b');
  crew.lead('a', 1);
  const [tile] = crew.get('b').begun;
  crew.lead('a', 2);
  await crew.work('b');
  crew.pass(1_000);
  expect(crew.get('a').checkpoint.has(tile ?? -1)).toBe(false);
  expect(crew.get('a').checkpoint.refusedStale).toBe(1);
  expect(crew.get('b').checkpoint.refusedStale).toBe(1);
});

test('what an older leader handed out and was not begun is not begun at all', async () => {
  const crew = new Crew('a', 'b');
  crew.lead('a', 1);
  const begun = crew.get('b').begun.length;
  crew.silent.add('a');
  crew.get('b').contributor.leaderChanged(2, false);
  await crew.work('b');
  expect(crew.get('b').begun).toHaveLength(begun);
});

test('a result that was done while nobody led is offered to the next leader', async () => {
  const crew = new Crew('a', 'b', 'c');
  crew.lead('a', 1);
  crew.lose('a');
  await crew.work('b');
  crew.lead('c', 2);
  crew.deliver();
  expect(crew.get('c').checkpoint.refusedStale).toBe(1);
});

test('tiles of a member that is lost are handed to others in the same epoch', async () => {
  const crew = new Crew('a', 'b');
  crew.lead('a', 1);
  const lost = [...crew.get('b').begun];
  crew.lose('b');
  await crew.workOff();
  const { tiles } = crew.get('a').checkpoint.progress();
  expect(lost).toHaveLength(1);
  expect(tiles[lost[0] ?? -1]).toEqual({ id: lost[0], epoch: 1, by: 'a', computed: 1 });
});

test('tiles of a member that answers but computes nothing are handed to others in time', async () => {
  const crew = new Crew('a', 'b');
  crew.lead('a', 1);
  for (let turn = 0; turn < TOTAL; turn += 1) await crew.work('a');
  expect(crew.get('a').checkpoint.done).toBe(TOTAL - 2);
  crew.pass(19_900);
  expect(await crew.work('a')).toBe(false);
  crew.pass(100);
  expect(await crew.work('a')).toBe(true);
  expect(crew.get('a').checkpoint.done).toBe(TOTAL - 1);
});

test('the late result of a suspect counts, if it is the first', async () => {
  const crew = new Crew('a', 'b');
  crew.lead('a', 1);
  const [tile = -1] = crew.get('b').begun;
  crew.coordinator.lose('b', crew.now);
  await crew.work('b');
  expect(crew.get('a').checkpoint.get(tile)?.record).toEqual({
    id: tile,
    epoch: 1,
    by: 'b',
    computed: 1,
  });
});

test('a result of the wrong size is not taken, and the tile is handed out again', async () => {
  const crew = new Crew('a', 'b');
  crew.lead('a', 1);
  const [tile = -1] = crew.get('b').begun;
  const { key } = crew.get('a').checkpoint;
  const pixels = new Uint8Array(1);
  crew.coordinator.receive('b', { type: 'result', key, tile, epoch: 1, pixels }, crew.now);
  expect(crew.get('a').checkpoint.has(tile)).toBe(false);
  await crew.workOff();
  expect(crew.get('a').checkpoint.get(tile)?.pixels).toEqual(pixelsOf(PICTURE, tile));
});

test('a late joiner gets the whole picture in pieces, and work', async () => {
  const crew = new Crew('a');
  crew.lead('a', 1);
  for (let turn = 0; turn < 8; turn += 1) await crew.work('a');
  crew.join('b');
  crew.pass(300);
  expect(crew.get('b').checkpoint.done).toBe(8);
  expect(crew.get('b').begun).toHaveLength(1);
  await crew.workOff();
  expect(crew.get('b').checkpoint.progress()).toEqual(crew.get('a').checkpoint.progress());
});

test('a member that missed tiles is brought up to date', async () => {
  const crew = new Crew('a', 'b');
  crew.lead('a', 1);
  crew.silent.add('b');
  for (let turn = 0; turn < 5; turn += 1) await crew.work('a');
  crew.silent.delete('b');
  crew.pass(2_000);
  expect(crew.get('b').checkpoint.done).toBe(5);
});

test('the leader’s record replaces what a deposed leader took in alone', async () => {
  const crew = new Crew('a', 'b');
  crew.lead('a', 1);
  crew.silent.add('a');
  await crew.work('a');
  const [tile = -1] = crew.get('a').begun;
  crew.lead('b', 2);
  crew.coordinator.lose('a', crew.now);
  while (!crew.get('b').checkpoint.has(tile)) await crew.work('b');
  expect(crew.get('a').checkpoint.get(tile)?.record.epoch).toBe(1);
  crew.silent.delete('a');
  crew.coordinator.welcome('a', crew.now);
  crew.pass(1_000);
  expect(crew.get('a').checkpoint.get(tile)?.record).toMatchObject({ epoch: 2, by: 'b' });
});

test('a new picture begins with no tile done, whoever asks for it', async () => {
  const crew = new Crew('a', 'b');
  crew.lead('a', 1);
  await crew.workOff();
  crew.coordinator.receive('b', { type: 'restart' }, crew.now);
  crew.deliver();
  for (const id of ['a', 'b']) {
    expect(crew.get(id).checkpoint.picture).toEqual({ ...PICTURE, revision: 2 });
    expect(crew.get(id).checkpoint.done).toBe(0);
  }
  await crew.workOff();
  expect(crew.get('b').checkpoint.isComplete).toBe(true);
});

test('a new leader that missed a new picture goes on with the newest', async () => {
  const crew = new Crew('a', 'b', 'c');
  crew.lead('a', 1);
  crew.silent.add('c');
  crew.coordinator.restart(crew.now);
  crew.deliver();
  await crew.work('b');
  crew.silent.delete('c');
  crew.lose('a');
  crew.lead('c', 2);
  expect(crew.get('c').checkpoint.picture?.revision).toBe(2);
  await crew.workOff();
  expect(crew.get('b').checkpoint.progress()).toEqual(crew.get('c').checkpoint.progress());
});

test('a silent member delays a new leader by a second at most', () => {
  const crew = new Crew('a', 'b');
  crew.silent.add('b');
  crew.lead('a', 1);
  crew.pass(900);
  expect(crew.get('a').begun).toHaveLength(0);
  crew.pass(100);
  expect(crew.get('a').begun).toHaveLength(1);
});
