import path from 'node:path';
import ts from 'typescript';
import { beforeAll, expect, test } from 'vitest';
import { files, isCode, isProduct, lineCount, parse, place, read, visit } from './source.ts';

// Rules of CONTRIBUTING.md that a machine can check. Each failure names the place.

const FUNCTION_LINES_MAX = 70;
const FILE_LINES_MAX = 600;

const code = files.filter(isCode);
const product = files.filter(isProduct);
const machine = files.filter((file) => /^packages\/core\/src\/machine\/.*\.ts$/.test(file));
const markdown = files.filter((file) => file.endsWith('.md'));

// Once for all tests; on a busy machine it takes longer than a test may.
beforeAll(() => {
  for (const file of code) parse(file);
}, 60_000);

/** Every node of `among` for which `judge` gives a complaint. */
function complaints(
  among: readonly string[],
  judge: (node: ts.Node) => string | false | undefined,
): string[] {
  const found: string[] = [];
  for (const file of among) {
    visit(parse(file), (node) => {
      const complaint = judge(node);
      if (complaint) found.push(`${place(node)} ${complaint}`);
    });
  }
  return found;
}

test('no function is longer than 70 lines', () => {
  const found = complaints(product, (node) => {
    if (!ts.isFunctionLike(node) || !('body' in node) || !node.body) return undefined;
    const lines = lineCount(node);
    return lines > FUNCTION_LINES_MAX && `${lines} lines`;
  });
  expect(found).toEqual([]);
});

test('no file is longer than 600 lines', () => {
  const lines = (file: string) => read(file).split('\n').length;
  expect(code.filter((file) => lines(file) > FILE_LINES_MAX)).toEqual([]);
});

test('no file is a drawer for odds and ends', () => {
  const drawer = /^(utils?|helpers?|misc|common)\.[a-z]+$/;
  expect(code.filter((file) => drawer.test(path.basename(file)))).toEqual([]);
});

test('files are named in kebab-case', () => {
  const kebab = /^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z]+)+$/;
  expect(code.filter((file) => !kebab.test(path.basename(file)))).toEqual([]);
});

test('the machine has no clock, no timer, no random source and no console', () => {
  const banned = new Set(
    'Date performance setTimeout setInterval setImmediate queueMicrotask crypto console globalThis'.split(
      ' ',
    ),
  );
  expect(machine).not.toEqual([]);
  const found = complaints(machine, (node) => {
    if (ts.isPropertyAccessExpression(node) && node.getText() === 'Math.random') return 'random';
    if (!ts.isIdentifier(node) || !banned.has(node.text)) return undefined;
    const isName = ts.isPropertyAccessExpression(node.parent) && node.parent.name === node;
    return !isName && node.text;
  });
  expect(found).toEqual([]);
});

test('the machine imports nothing of the platform or of the layers above it', () => {
  const found = complaints(machine, (node) => {
    if (!ts.isImportDeclaration(node) && !ts.isExportDeclaration(node)) return undefined;
    const from = node.moduleSpecifier;
    if (!from || !ts.isStringLiteral(from) || from.text.startsWith('lib0/')) return undefined;
    if (!from.text.startsWith('.')) return from.text;
    const target = path.join(path.dirname(node.getSourceFile().fileName), from.text);
    return !target.startsWith('packages/core/src/machine/') && from.text;
  });
  expect(found).toEqual([]);
});

test('packages have no default exports', () => {
  const sources = product.filter((file) => /^packages\/[^/]+\/src\//.test(file));
  const found = complaints(sources, (node) => {
    if (ts.isExportAssignment(node)) return 'export default';
    const modifiers = ts.canHaveModifiers(node) ? ts.getModifiers(node) : undefined;
    return modifiers?.some(({ kind }) => kind === ts.SyntaxKind.DefaultKeyword) && 'default';
  });
  expect(found).toEqual([]);
});

test('no error is swallowed by an empty catch', () => {
  const isEmpty = (block: ts.Node) => ts.isBlock(block) && block.statements.length === 0;
  const found = complaints(code, (node) => {
    if (ts.isCatchClause(node)) return isEmpty(node.block) && 'empty catch';
    if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return;
    const handler = node.arguments[0];
    if (node.expression.name.text !== 'catch' || !handler) return undefined;
    return ts.isArrowFunction(handler) && isEmpty(handler.body) && 'empty .catch()';
  });
  expect(found).toEqual([]);
});

test('what is left to do says why', () => {
  // Put together, so that this file does not accuse itself.
  const mark = new RegExp(
    `\\b(${['TO', 'FIX'].map((word) => `${word}DO|${word}ME`).join('|')})\\b`,
  );
  const found = code.flatMap((file) =>
    read(file)
      .split('\n')
      .filter((line) => mark.test(line) && !/: \S+ \S+ \S+/.test(line))
      .map((line) => `${file}: ${line.trim()}`),
  );
  expect(found).toEqual([]);
});

test('every Markdown file begins with its title', () => {
  expect(markdown).not.toEqual([]);
  expect(markdown.filter((file) => !/^# \S/.test(read(file)))).toEqual([]);
});

test('links between documents lead somewhere', () => {
  const broken = markdown.flatMap((file) =>
    linksOf(file)
      .filter((link) => !leadsSomewhere(file, link))
      .map((link) => `${file}: ${link}`),
  );
  expect(broken).toEqual([]);
});

function linksOf(file: string): string[] {
  const prose = read(file).replace(/```[\s\S]*?```/g, '');
  const links = [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map((match) => match[1] ?? '');
  return links.filter((link) => !/^(https?|mailto):/.test(link));
}

function leadsSomewhere(file: string, link: string): boolean {
  const [target = '', anchor] = link.split('#');
  const resolved = target ? path.posix.join(path.posix.dirname(file), target) : file;
  const isFolder = files.some((other) => other.startsWith(`${resolved.replace(/\/$/, '')}/`));
  if (!files.includes(resolved)) return isFolder && !anchor;
  return !anchor || anchorsOf(resolved).includes(anchor);
}

/** GitHub's anchors of headings. */
function anchorsOf(file: string): string[] {
  const headings = [...read(file).matchAll(/^#+ (.+)$/gm)].map((match) => match[1] ?? '');
  return headings.map((heading) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replace(/ /g, '-'),
  );
}
