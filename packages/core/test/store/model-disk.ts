import type { FilePlace, FileSystem, OpenFile } from '../../src/store/file-system.ts';

/** A sync that does nothing, as on a disk that lies. */
export type Lie = 'file' | 'folder' | null;

/** Called before each act on the disk; the act waits for it, for ever if the process has died. */
export type Gate = (act: string) => Promise<void> | void;

interface Inode {
  bytes: Uint8Array;
  isSynced: boolean;
}

/** What an act has changed in the folder: entries set, or removed. */
type Change = readonly (readonly [name: string, inode: Inode | null])[];

/**
 * One folder on a disk. What is not synced is seen by every process, and may be lost when the power
 * is cut: changes of the folder each for itself, the bytes of a file from any point on.
 */
export class ModelDisk {
  readonly #lie: Lie;
  readonly #durable: Map<string, Inode>;
  #unsynced: Change[] = [];

  constructor(entries: Iterable<readonly [string, Uint8Array]> = [], lie: Lie = null) {
    this.#lie = lie;
    this.#durable = new Map(
      Array.from(entries, ([name, bytes]) => [name, { bytes, isSynced: true }]),
    );
  }

  get names(): string[] {
    return [...this.#entries.keys()].sort();
  }

  bytes(name: string): Uint8Array | null {
    return this.#entries.get(name)?.bytes ?? null;
  }

  /** Every disk that may be found when the power is cut now. */
  *afterPowerCut(): Generator<ModelDisk> {
    for (let kept = 0; kept < 2 ** this.#unsynced.length; kept += 1) {
      const changes = this.#unsynced.filter((_, index) => (kept >> index) & 1);
      for (const part of [0, 0.5, 1]) {
        const found = [...applied(this.#durable, changes)].map(
          ([name, { bytes, isSynced }]) =>
            [name, isSynced ? bytes : bytes.slice(0, bytes.length * part)] as const,
        );
        yield new ModelDisk(found, this.#lie);
      }
    }
  }

  /** The file `name` on this disk, for one process. */
  place(name: string, gate: Gate = () => undefined): FilePlace {
    return { files: this.#files(gate), folder: FOLDER, name, hasFolderSync: true };
  }

  get #entries(): Map<string, Inode> {
    return applied(this.#durable, this.#unsynced);
  }

  #files(gate: Gate): FileSystem {
    return {
      open: async (path, flags) => {
        await gate(`open ${flags} ${path}`);
        return path === FOLDER ? this.#folder(gate) : this.#file(nameOf(path), flags, gate);
      },
      readdir: async () => {
        await gate('readdir');
        return this.names;
      },
      rename: async (from, to) => {
        await gate(`rename ${from} ${to}`);
        const inode = this.#existing(nameOf(from));
        this.#unsynced.push([
          [nameOf(from), null],
          [nameOf(to), inode],
        ]);
      },
      unlink: async (path) => {
        await gate(`unlink ${path}`);
        this.#existing(nameOf(path));
        this.#unsynced.push([[nameOf(path), null]]);
      },
    };
  }

  #file(name: string, flags: 'r' | 'wx', gate: Gate): OpenFile {
    if (flags === 'wx') {
      if (this.#entries.has(name)) throw Object.assign(new Error('exists'), { code: 'EEXIST' });
      this.#unsynced.push([[name, { bytes: new Uint8Array(0), isSynced: false }]]);
    }
    const inode = this.#existing(name);
    let position = 0;
    return {
      read: async (into, offset, length) => {
        const part = inode.bytes.subarray(position, position + length);
        into.set(part, offset);
        position += part.length;
        return { bytesRead: part.length };
      },
      writeFile: async (bytes) => {
        await gate('write');
        inode.bytes = bytes.slice();
      },
      sync: async () => {
        await gate('sync file');
        if (this.#lie !== 'file') inode.isSynced = true;
      },
      close: async () => undefined,
    };
  }

  #folder(gate: Gate): OpenFile {
    const isNoFile = (): never => {
      throw new Error('a folder');
    };
    return {
      read: isNoFile,
      writeFile: isNoFile,
      sync: async () => {
        await gate('sync folder');
        if (this.#lie === 'folder') return;
        const entries = this.#entries;
        this.#durable.clear();
        for (const [name, inode] of entries) this.#durable.set(name, inode);
        this.#unsynced = [];
      },
      close: async () => undefined,
    };
  }

  #existing(name: string): Inode {
    const inode = this.#entries.get(name);
    if (!inode) throw Object.assign(new Error(`no ${name}`), { code: 'ENOENT' });
    return inode;
  }
}

function applied(entries: Map<string, Inode>, changes: readonly Change[]): Map<string, Inode> {
  const result = new Map(entries);
  for (const [name, inode] of changes.flat()) {
    if (inode) result.set(name, inode);
    else result.delete(name);
  }
  return result;
}

function nameOf(path: string): string {
  return path.slice(FOLDER.length + 1);
}

const FOLDER = '/folder';
