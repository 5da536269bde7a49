import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');

const MADE_BY_TOOLS = new Set(['node_modules', 'dist', 'test-results', 'playwright-report']);

/** Every file that people write, as paths from the root; not `git ls-files`: a zip has no git. */
export const files: readonly string[] = readdirSync(root, { withFileTypes: true })
  .flatMap((entry) => walk('', entry))
  .sort();

function walk(folder: string, entry: { name: string; isDirectory(): boolean }): string[] {
  const file = path.posix.join(folder, entry.name);
  if (MADE_BY_TOOLS.has(entry.name) || entry.name.startsWith('.')) return [];
  if (!entry.isDirectory()) return [file];
  const inside = readdirSync(path.join(root, file), { withFileTypes: true });
  return inside.flatMap((inner) => walk(file, inner));
}

export function read(file: string): string {
  return readFileSync(path.join(root, file), 'utf8');
}

export function isCode(file: string): boolean {
  return /\.(ts|mjs|js)$/.test(file) && !file.endsWith('.d.ts');
}

export function isTest(file: string): boolean {
  return /\.(test|spec)\.ts$/.test(file);
}

/** Shipped or run code, as against tests of it. */
export function isProduct(file: string): boolean {
  return isCode(file) && !isTest(file) && !/(^|\/)(test|e2e)\//.test(file);
}

const parsed = new Map<string, ts.SourceFile>();

export function parse(file: string): ts.SourceFile {
  const source =
    parsed.get(file) ?? ts.createSourceFile(file, read(file), ts.ScriptTarget.Latest, true);
  parsed.set(file, source);
  return source;
}

/** Visits every node of a file, parents first. */
export function visit(node: ts.Node, visitor: (node: ts.Node) => void): void {
  visitor(node);
  node.forEachChild((child) => visit(child, visitor));
}

/** `file:line`, as editors link it. */
export function place(node: ts.Node): string {
  const source = node.getSourceFile();
  const { line } = source.getLineAndCharacterOfPosition(node.getStart());
  return `${source.fileName}:${line + 1}`;
}

export function lineCount(node: ts.Node): number {
  const source = node.getSourceFile();
  const first = source.getLineAndCharacterOfPosition(node.getStart()).line;
  const last = source.getLineAndCharacterOfPosition(node.getEnd()).line;
  return last - first + 1;
}
