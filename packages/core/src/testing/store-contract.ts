import { isSameRecord, RECORD_BYTES_MAX } from '../store/record.ts';
import type { Store } from '../store/store.ts';
import { type ContractSuite, check, equal, globalSuite } from './contract-suite.ts';

/** What `storeContract` needs to know of a store. */
export interface StoreContractOptions<B extends StoreBench> {
  /**
   * The functions of the test runner, as for `transportContract`.
   * @defaultValue the global `describe` and `it`
   */
  readonly suite?: ContractSuite;
  /** Called before each test: a fresh place in which nothing is stored. */
  setup(): B | Promise<B>;
  /** Called after each test. */
  teardown?(bench: B): void | Promise<void>;
  readonly capabilities?: StoreCapabilities;
}

/** Makes the stores of one test. */
export interface StoreBench {
  /** A store as a process that has just started would open it: all of one bench share what is kept. */
  open(): Store | Promise<Store>;
}

/** What may differ between stores. */
export interface StoreCapabilities {
  /** Whether each key is a record of its own; else there is one record. @defaultValue true */
  readonly hasKeys?: boolean;
  /** How long a test may take, in milliseconds. @defaultValue 20000 */
  readonly timeoutMs?: number;
}

/**
 * Registers the tests that every store must pass, those of your own included. Needs no particular
 * test runner; each test makes its own bench. Whether a record outlives a power cut no such test
 * can tell.
 */
export function storeContract<B extends StoreBench>(options: StoreContractOptions<B>): void {
  const { describe, it } = options.suite ?? globalSuite('storeContract');
  const { hasKeys = true, timeoutMs = 20_000 } = options.capabilities ?? {};
  const rule = (title: string, body: (bench: B) => Promise<void>) => {
    it(title, () => onBench(options, body), timeoutMs);
  };
  describe('store contract', () => {
    recordTests(rule);
    exchangeTests(rule);
    competitionTests(rule);
    copyTests(rule);
    boundTests(rule);
    if (hasKeys) keyTests(rule);
  });
}

type Test = (title: string, body: (bench: StoreBench) => Promise<void>) => void;

function recordTests(it: Test): void {
  it('there is nothing before the first write', async (bench) => {
    const store = await bench.open();
    await holds(store, null);
    await holds(store, null);
  });

  it('what was written is read, byte by byte, whatever its length', async (bench) => {
    const store = await bench.open();
    let previous: Uint8Array | null = null;
    for (const length of [256, 1, 4096, 2, RECORD_BYTES_MAX, 255]) {
      const next = Uint8Array.from({ length }, (_, index) => (index * 7 + length) & 255);
      await store.write(KEY, next, previous);
      await holds(store, next);
      previous = next;
    }
  });

  it('what was written is there after reopening, and can be replaced then', async (bench) => {
    await (await bench.open()).write(KEY, record(1), null);
    const again = await bench.open();
    await holds(again, record(1));
    await again.write(KEY, record(2), record(1));
    await holds(await bench.open(), record(2));
  });
}

function exchangeTests(it: Test): void {
  it('a first write is refused when there is a record already', async (bench) => {
    const store = await bench.open();
    await store.write(KEY, record(1), null);
    await rejects(store.write(KEY, record(2), null), 'storage-conflict');
    await rejects((await bench.open()).write(KEY, record(2), null), 'storage-conflict');
    await holds(store, record(1));
  });

  it('a write that expects a record is refused when there is none', async (bench) => {
    const store = await bench.open();
    await rejects(store.write(KEY, record(2), record(1)), 'storage-conflict');
    await holds(store, null);
  });

  it('a write that expects another record is refused, and leaves the record as it is', async (bench) => {
    const store = await bench.open();
    const stored = Uint8Array.of(1, 2, 3);
    await store.write(KEY, stored, null);
    for (const other of [[1, 2], [1, 2, 3, 0], [1, 2, 4], [0, 2, 3], [3]]) {
      await rejects(store.write(KEY, record(9), Uint8Array.from(other)), 'storage-conflict');
      await holds(store, stored);
    }
    await holds(await bench.open(), stored);
  });

  it('a refused write does no harm to the next', async (bench) => {
    const store = await bench.open();
    await store.write(KEY, record(1), null);
    await rejects(store.write(KEY, record(2), record(3)), 'storage-conflict');
    await store.write(KEY, record(2), record(1));
    await holds(store, record(2));
  });

  it('a record may be replaced by the same bytes', async (bench) => {
    const store = await bench.open();
    await store.write(KEY, record(1), null);
    await store.write(KEY, record(1), record(1));
    await holds(store, record(1));
  });
}

function competitionTests(it: Test): void {
  it('of two that write at once exactly one wins, and the other is told', async (bench) => {
    const [one, two] = [await bench.open(), await bench.open()];
    let previous: Uint8Array | null = null;
    for (let round = 0; round < ROUNDS; round += 1) {
      const bids = [record(round, 1), record(round, 2)] as const;
      const results = await Promise.allSettled([
        one.write(KEY, bids[0], previous),
        two.write(KEY, bids[1], previous),
      ]);
      const winners = bids.filter((_, index) => results[index]?.status === 'fulfilled');
      equal(winners.length, 1, `winners of round ${round}`);
      const lost = results.find((result) => result.status === 'rejected');
      equal(codeOf(lost?.reason), 'storage-conflict', 'what the loser is told');
      previous = winners[0] as Uint8Array;
      await holds(one, previous);
      await holds(two, previous);
    }
  });

  it('writes that are asked for at once are done one after the other', async (bench) => {
    const store = await bench.open();
    const records = [1, 2, 3, 4, 5].map((number) => record(number));
    await Promise.all(
      records.map((next, index) => store.write(KEY, next, records[index - 1] ?? null)),
    );
    await holds(store, record(5));
  });

  it('who reads beside a writer finds one record or the other, whole', async (bench) => {
    const [writer, reader] = [await bench.open(), await bench.open()];
    const [ones, twos] = [1, 2].map((byte) => new Uint8Array(RECORD_BYTES_MAX).fill(byte));
    let previous: Uint8Array | null = null;
    let isWriting = true;
    const reading = (async () => {
      while (isWriting) {
        const found = await reader.read(KEY);
        const [first] = found ?? [];
        check(found === null || found.length === RECORD_BYTES_MAX, 'half a record was read');
        check(found?.every((byte) => byte === first) ?? true, 'two records were read as one');
      }
    })();
    try {
      for (let round = 0; round < ROUNDS; round += 1) {
        const next = (round % 2 ? ones : twos) as Uint8Array;
        await writer.write(KEY, next, previous);
        previous = next;
      }
    } finally {
      isWriting = false;
      await reading;
    }
  });
}

function copyTests(it: Test): void {
  it('bytes that change after they were handed over change nothing', async (bench) => {
    const store = await bench.open();
    const [first, second] = [record(1), record(2)];
    const writing = store.write(KEY, first, null);
    first.fill(0);
    await writing;
    await holds(store, record(1));
    const expected = record(1);
    const replacing = store.write(KEY, second, expected);
    second.fill(0);
    expected.fill(0);
    await replacing;
    await holds(store, record(2));
  });

  it('bytes that were read belong to the reader', async (bench) => {
    const store = await bench.open();
    await store.write(KEY, record(1), null);
    (await store.read(KEY))?.fill(0);
    await holds(store, record(1));
    await store.write(KEY, record(2), record(1));
  });

  it('of bytes that are a view, only what is in view is stored', async (bench) => {
    const store = await bench.open();
    const buffer = Uint8Array.of(9, 1, 2, 3, 9);
    await store.write(KEY, buffer.subarray(1, 4), null);
    await holds(store, Uint8Array.of(1, 2, 3));
    const found = await store.read(KEY);
    equal(found?.buffer.byteLength, 3, 'bytes behind what was read');
    await store.write(KEY, record(2), buffer.subarray(1, 4));
  });

  it('bytes whose slice shares memory, as that of a Node Buffer, are copied too', async (bench) => {
    const store = await bench.open();
    const bytes = Sharing.from(record(1));
    const writing = store.write(KEY, bytes, null);
    bytes.fill(0);
    await writing;
    await holds(store, record(1));
  });
}

function boundTests(it: Test): void {
  it('a record of none or of more than 64 KiB is refused, and changes nothing', async (bench) => {
    const store = await bench.open();
    for (const length of [0, RECORD_BYTES_MAX + 1]) {
      await rejects(store.write(KEY, new Uint8Array(length), null), 'RangeError');
    }
    await holds(store, null);
    await store.write(KEY, record(1), null);
    await rejects(store.write(KEY, new Uint8Array(RECORD_BYTES_MAX + 1), record(1)), 'RangeError');
    await holds(store, record(1));
  });

  it('what is no record is refused, and to say nothing of the previous one is not to say that there is none', async (bench) => {
    const store = await bench.open();
    const nothing = undefined as unknown as null;
    await rejects(store.write(KEY, record(1), nothing), 'TypeError');
    for (const wrong of [null, 'text', [1, 2], new Uint8Array(8).buffer]) {
      await rejects(store.write(KEY, wrong as unknown as Uint8Array, null), 'TypeError');
    }
    await holds(store, null);
  });

  it('a key must be a text of 1 to 1024 characters', async (bench) => {
    const store = await bench.open();
    for (const key of ['', 'k'.repeat(1025)]) {
      await rejects(store.read(key), 'RangeError');
      await rejects(store.write(key, record(1), null), 'RangeError');
    }
    await rejects(store.read(1 as unknown as string), 'TypeError');
    await store.write('k'.repeat(1024), record(1), null);
  });
}

function keyTests(it: Test): void {
  it('each key is a record of its own', async (bench) => {
    const store = await bench.open();
    const accents = ['\u00e9', 'e\u0301'];
    const keys = ['a', 'A', 'a ', 'b', 'a/b', '../a', '__proto__', '0', '00', '\u0000', ...accents];
    for (const [index, key] of keys.entries()) {
      equal(await store.read(key), null, `record ${JSON.stringify(key)} before it is written`);
      await store.write(key, record(index), null);
    }
    const again = await bench.open();
    for (const [index, key] of keys.entries()) await holds(again, record(index), key);
    await rejects(store.write('a', record(99), record(1)), 'storage-conflict');
  });
}

async function onBench<B extends StoreBench>(
  options: StoreContractOptions<B>,
  body: (bench: B) => Promise<void>,
): Promise<void> {
  const bench = await options.setup();
  try {
    await body(bench);
  } finally {
    await options.teardown?.(bench);
  }
}

/** Bytes that differ for other numbers. */
function record(...numbers: number[]): Uint8Array {
  return Uint8Array.of(7, ...numbers, 7);
}

async function holds(store: Store, expected: Uint8Array | null, key = KEY): Promise<void> {
  const found = await store.read(key);
  const shown = JSON.stringify(key);
  check(isSameRecord(found, expected), `record ${shown}: expected ${expected}, got ${found}`);
}

/** Expects a rejection with a `DoyenError` of this code, or an error of this name. */
async function rejects(promise: Promise<unknown>, expected: string): Promise<void> {
  const outcome = await promise.then(
    () => 'success',
    (error: unknown) => codeOf(error),
  );
  equal(outcome, expected, 'outcome');
}

function codeOf(error: unknown): unknown {
  const { code, name } = error as { readonly code?: unknown; readonly name?: unknown };
  return code ?? name;
}

/** Slices like a Node `Buffer`. */
class Sharing extends Uint8Array<ArrayBuffer> {
  override slice(start?: number, end?: number): Uint8Array<ArrayBuffer> {
    return this.subarray(start, end);
  }
}

const KEY = 'contract';
/** Enough for a race that is lost one time in three to be lost nearly always. */
const ROUNDS = 20;
