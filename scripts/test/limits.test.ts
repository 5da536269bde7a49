import ts from 'typescript';
import { expect, test } from 'vitest';
import { files, isProduct, parse, read, visit } from './source.ts';

// docs/LIMITS.md names every bound by its constant or option.

const sources = files.filter((file) => /^packages\/[^/]+\/src\//.test(file) && isProduct(file));
const document = read('docs/LIMITS.md');

/** Constants and options whose names say that they are a bound. */
const bounds = new Set<string>();
const names = new Set<string>();
for (const file of sources) {
  visit(parse(file), (node) => {
    if (!ts.isVariableDeclaration(node) && !ts.isPropertySignature(node)) return;
    const name = node.name.getText();
    names.add(name);
    if (/^[A-Z0-9_]*_MAX(_[A-Z]+)*$/.test(name)) bounds.add(name);
    if (file.endsWith('/limits.ts') && ts.isPropertySignature(node)) bounds.add(name);
  });
}

test('every bound in the code is documented', () => {
  expect(bounds.size).toBeGreaterThan(0);
  expect([...bounds].filter((name) => !document.includes(`\`${name}\``))).toEqual([]);
});

test('every documented bound is in the code', () => {
  const documented = [
    ...document.matchAll(
      /`([A-Z0-9_]+_MAX(?:_[A-Z]+)*|[a-z]+[A-Za-z]+(?:Max|Ms|PerSec|PerMin|Burst))`/g,
    ),
  ];
  expect(documented.length).toBeGreaterThan(0);
  expect(documented.map(([, name = '']) => name).filter((name) => !names.has(name))).toEqual([]);
});
