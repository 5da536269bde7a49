import { describe, expect, it } from 'vitest';
import { FileMedium } from '../../src/store/file-store.ts';
import { type Medium, storeOn } from '../../src/store/medium.ts';
import { isSameRecord } from '../../src/store/record.ts';
import { type Lie, ModelDisk } from './model-disk.ts';

const OLD = new Uint8Array(100).fill(1);
const NEXT = new Uint8Array(200).fill(2);
/** What a crash before this one has left. */
const LEFT: [string, Uint8Array] = ['record.0123456789abcdef.tmp', new Uint8Array(50).fill(3)];

const starts: (Uint8Array | null)[] = [null, OLD];

describe('fileStore(), when its process dies', () => {
  it('Q1: at any moment of a write: the old record is there or the new one, and nothing that disturbs', async () => {
    for (const previous of starts) {
      const found = new Set<number | undefined>();
      for await (const { disk, isDone } of deaths(previous)) {
        const record = await open(disk).read('k');
        if (isDone) expect(record).toEqual(NEXT);
        found.add(record?.length);
        await open(disk).write('k', OLD, record);
        expect(disk.names).toEqual(['record']);
        expect(await open(disk).read('k')).toEqual(OLD);
      }
      // Each of both was seen: the deaths fall on either side of the rename.
      expect([...found]).toEqual([previous?.length, NEXT.length]);
    }
  });

  it('Q1: at any moment of a write, and the power with it: the same', async () => {
    expect(await problems(null)).toEqual([]);
  });

  it('Q1: on a disk that only says that it has synced a file, a torn record is found', async () => {
    expect(await problems('file')).toContain('torn');
  });

  it('Q1: on a disk that only says that it has synced a folder, a record is found lost', async () => {
    expect(await problems('folder')).toEqual(expect.arrayContaining(['lost', 'taken back']));
  });
});

/** What is wrong after a power cut: at a death, or later, when its record has been read. */
async function problems(lie: Lie): Promise<string[]> {
  const found = new Set<string>();
  for (const previous of starts) {
    for await (const { disk, isDone } of deaths(previous, lie)) {
      for (const after of disk.afterPowerCut()) {
        const record = after.bytes('record');
        const isNext = isSameRecord(record, NEXT);
        if (!isNext && !isSameRecord(record, previous)) found.add('torn');
        if (isDone && !isNext) found.add('lost');
        await open(after)
          .write('k', OLD, record)
          .catch(() => found.add('stuck'));
      }
      const counted = await open(disk)
        .read('k')
        .catch(() => null);
      for (const after of disk.afterPowerCut()) {
        if (!isSameRecord(after.bytes('record'), counted)) found.add('taken back');
      }
    }
  }
  return [...found];
}

interface Death {
  readonly disk: ModelDisk;
  /** Whether the write had resolved. */
  readonly isDone: boolean;
}

/** The disk after a process died before each act of a write in turn, and after the last one. */
async function* deaths(previous: Uint8Array | null, lie: Lie = null): AsyncGenerator<Death> {
  for (let life = 0; ; life += 1) {
    const disk = new ModelDisk([LEFT, ...(previous ? [['record', previous] as const] : [])], lie);
    const isDone = await writeUntilDeath(disk, previous, life);
    yield { disk, isDone };
    if (isDone) return;
  }
}

/** Writes, and dies after `life` acts on the disk; gives whether the write had resolved by then. */
function writeUntilDeath(
  disk: ModelDisk,
  previous: Uint8Array | null,
  life: number,
): Promise<boolean> {
  let acts = 0;
  return new Promise((resolve, reject) => {
    const gate = (): Promise<void> | void => {
      acts += 1;
      if (acts <= life) return;
      resolve(false);
      return new Promise(() => undefined);
    };
    const medium: Medium = new FileMedium(disk.place('record', gate));
    storeOn(medium)
      .write('k', NEXT, previous)
      .then(() => resolve(true), reject);
  });
}

function open(disk: ModelDisk) {
  return storeOn(new FileMedium(disk.place('record')));
}
