import path from 'node:path';
import ts from 'typescript';
import { expect, it } from 'vitest';
import { files, parse, place, read, root, visit } from '../../../../scripts/test/source.ts';

// Tests alone can take a rule away: nothing that ships hands others in, or lets an application do so.

const BALLOT = 'packages/core/src/machine/quorum/ballot.ts';

it('Q8: no shipped file but the ballot names its rules, or hands any in', () => {
  const takers = takersOf(BALLOT);
  expect([...takers.keys()]).toContain('receiveAsk');
  const shipped = files.filter((file) => /^packages\/[^/]+\/src\/.*\.ts$/.test(file));
  const importers = shipped.filter((file) => file !== BALLOT && importsOf(file).includes(BALLOT));
  expect(importers).not.toEqual([]);
  const found: string[] = [];
  for (const file of importers) {
    visit(parse(file), (node) => {
      if (!ts.isIdentifier(node)) return;
      const at = takers.get(node.text);
      const isHanding = at !== undefined && isUsed(node) && !isCalledWithAtMost(node, at);
      if (isHanding || /^(BALLOT_RULES|BallotRules)$/.test(node.text)) found.push(place(node));
    });
  }
  expect(found).toEqual([]);
});

it('Q8: no entry point exports the ballot', async () => {
  const { exports } = JSON.parse(read('packages/core/package.json'));
  const sources = Object.values<{ 'doyen-source'?: string }>(exports).flatMap((entry) => {
    return entry['doyen-source'] ?? [];
  });
  expect(sources).toContain('./src/index.ts');
  const hidden = new Set(['BALLOT_RULES', ...takersOf(BALLOT).keys()]);
  for (const source of sources) {
    const file = path.join(root, 'packages/core', source);
    const names = Object.keys(await import(/* @vite-ignore */ file));
    expect(names).not.toEqual([]);
    expect(names.filter((name) => hidden.has(name))).toEqual([]);
  }
});

/** Exported functions that take rules, and the place of these among their parameters. */
function takersOf(file: string): ReadonlyMap<string, number> {
  const takers = new Map<string, number>();
  visit(parse(file), (node) => {
    if (!ts.isFunctionDeclaration(node) || !node.name) return;
    const at = node.parameters.findIndex(({ name }) => name.getText() === 'rules');
    const isExported = node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);
    if (isExported && at >= 0) takers.set(node.name.text, at);
  });
  return takers;
}

function importsOf(file: string): string[] {
  const imports: string[] = [];
  visit(parse(file), (node) => {
    if (!ts.isImportDeclaration(node) && !ts.isExportDeclaration(node)) return;
    const from = node.moduleSpecifier;
    if (from && ts.isStringLiteral(from))
      imports.push(path.posix.join(path.dirname(file), from.text));
  });
  return imports;
}

/** Not where it is imported, nor a member of the same name. */
function isUsed(node: ts.Identifier): boolean {
  const { parent } = node;
  if (ts.isImportSpecifier(parent)) return parent.propertyName !== undefined;
  const isNamed = 'name' in parent && parent.name === node;
  return !isNamed || ts.isShorthandPropertyAssignment(parent);
}

function isCalledWithAtMost(node: ts.Identifier, count: number): boolean {
  const { parent } = node;
  if (!ts.isCallExpression(parent) || parent.expression !== node) return false;
  return parent.arguments.length <= count && !parent.arguments.some(ts.isSpreadElement);
}
