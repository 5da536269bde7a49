// A process that writes one record, told what to do by its argument; see `file-process.test.ts`.
import { FileMedium } from '../../src/store/file-store.ts';
import { type FilePlace, type FileSystem, placeOf } from '../../src/store/file-system.ts';
import { storeOn } from '../../src/store/medium.ts';

/** What the process does, as JSON. */
export interface Orders {
  readonly path: string;
  /** Adds one to the number in the record until it has succeeded so often; prints how often it lost. */
  readonly wins?: number;
  /** Writes the numbers `next` over `previous`, and prints how that ended. */
  readonly write?: { readonly next: number[]; readonly previous: number[] | null };
  /** The process sends itself this signal before the act of this number. */
  readonly signal?: { readonly name: 'SIGKILL' | 'SIGSTOP'; readonly act: number };
}

const orders = JSON.parse(process.argv[2] ?? '') as Orders;
const place = placeOf(orders.path) as FilePlace;
const store = storeOn(new FileMedium({ ...place, files: counted(place.files) }));
if (orders.wins) console.log(await count(orders.wins));
if (orders.write) console.log(await write(orders.write));

async function count(wins: number): Promise<number> {
  let losses = 0;
  for (let won = 0; won < wins; ) {
    const previous = await store.read('k');
    const next = new Uint8Array(4);
    const number = previous ? new DataView(previous.buffer).getUint32(0) : 0;
    new DataView(next.buffer).setUint32(0, number + 1);
    const hasWon = await store.write('k', next, previous).then(
      () => true,
      (error: { readonly code: string }) => {
        if (error.code !== 'storage-conflict') throw error;
        return false;
      },
    );
    if (hasWon) won += 1;
    else losses += 1;
  }
  return losses;
}

async function write({ next, previous }: NonNullable<Orders['write']>): Promise<string> {
  const expected = previous && Uint8Array.from(previous);
  return store.write('k', Uint8Array.from(next), expected).then(
    () => 'written',
    (error: { readonly code: string }) => error.code,
  );
}

/** The file system, each act of which may be the one before which the signal comes. */
function counted(files: FileSystem): FileSystem {
  let acts = 0;
  const act = <T extends object>(target: T, name: keyof T): void => {
    const original = target[name] as (...args: unknown[]) => unknown;
    target[name] = ((...args: unknown[]) => {
      if (acts === orders.signal?.act) process.kill(process.pid, orders.signal.name);
      acts += 1;
      return original.apply(target, args);
    }) as T[keyof T];
  };
  const wrapped: FileSystem = {
    open: async (path, flags) => {
      const file = await files.open(path, flags);
      for (const name of ['read', 'writeFile', 'sync', 'close'] as const) act(file, name);
      return file;
    },
    readdir: (path) => files.readdir(path),
    rename: (from, to) => files.rename(from, to),
    unlink: (path) => files.unlink(path),
  };
  for (const name of ['open', 'readdir', 'rename', 'unlink'] as const) act(wrapped, name);
  return wrapped;
}
