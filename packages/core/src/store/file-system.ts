/** The part of `node:fs/promises` that a file store uses. */
export interface FileSystem {
  open(path: string, flags: 'r' | 'wx'): Promise<OpenFile>;
  readdir(path: string): Promise<string[]>;
  rename(from: string, to: string): Promise<void>;
  unlink(path: string): Promise<void>;
}

/** The part of a `FileHandle` that a file store uses. */
export interface OpenFile {
  read(into: Uint8Array, offset: number, length: number): Promise<{ readonly bytesRead: number }>;
  writeFile(bytes: Uint8Array): Promise<void>;
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** Where a file is. */
export interface FilePlace {
  readonly files: FileSystem;
  /** Its absolute path. */
  readonly folder: string;
  readonly name: string;
  /** Whether a folder can be synced: not on Windows, where the file system sees to it itself. */
  readonly hasFolderSync: boolean;
}

/**
 * Where `path` is, in a process that has files; `null` elsewhere. The modules are asked for by name
 * while the program runs, so that no bundler sees an import that a browser does not have.
 */
export function placeOf(path: string): FilePlace | null {
  const { process } = globalThis as { readonly process?: NodeProcess };
  const files = process?.getBuiltinModule?.('node:fs/promises') as FileSystem | undefined;
  const paths = process?.getBuiltinModule?.('node:path') as NodePath | undefined;
  if (!process || !files || !paths) return null;
  const absolute = paths.resolve(path);
  return {
    files,
    folder: paths.dirname(absolute),
    name: paths.basename(absolute),
    hasFolderSync: process.platform !== 'win32',
  };
}

/** Whether an error of a file system says that there is no such file or folder. */
export function isMissing(error: unknown): boolean {
  return (error as { readonly code?: unknown } | null)?.code === 'ENOENT';
}

interface NodeProcess {
  readonly platform?: string;
  getBuiltinModule?(name: string): unknown;
}

interface NodePath {
  resolve(path: string): string;
  dirname(path: string): string;
  basename(path: string): string;
}
