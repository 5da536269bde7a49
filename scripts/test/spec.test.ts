import { describe, expect, test } from 'vitest';
import { read } from './source.ts';
import { citedRules, titles } from './title.ts';

// The documents and the tests hold each other to their word.

const NOT_BUILT = '## Not built yet';

/** Ids of the rules defined in a part of the specification, one a line: `- **E1** …`. */
function definedRules(text: string): string[] {
  return [...text.matchAll(/^- \*\*([A-Z]{1,2}\d+)\*\*/gm)].map((match) => match[1] ?? '');
}

function specification(): { built: string[]; all: string[] } {
  const text = read('docs/SPEC.md');
  const [built = ''] = text.split(NOT_BUILT);
  return { built: definedRules(built), all: definedRules(text) };
}

describe('docs/SPEC.md', () => {
  test('ends with what is not built yet', () => {
    expect(read('docs/SPEC.md').split('\n')).toContain(NOT_BUILT);
  });

  test('defines each rule once among what is built', () => {
    const { built } = specification();
    expect(built.filter((id, at) => built.indexOf(id) !== at)).toEqual([]);
    expect(built.length).toBeGreaterThan(0);
  });

  test('has a test for every rule that is built', () => {
    const tested = new Set(titles.flatMap(({ text }) => citedRules(text)));
    expect(specification().built.filter((id) => !tested.has(id))).toEqual([]);
  });

  test('has every rule that a test cites', () => {
    const defined = new Set(specification().all);
    const strangers = new Map<string, string>();
    for (const { text, file } of titles) {
      for (const id of citedRules(text)) if (!defined.has(id)) strangers.set(id, file);
    }
    expect(Object.fromEntries(strangers)).toEqual({});
  });
});

describe('docs/CASES.md', () => {
  test('gives each case a test that exists, or a reason', () => {
    const known = new Set(titles.map(({ text }) => text));
    expect(cases().length).toBeGreaterThan(0);
    expect(cases().filter(({ proof }) => !isProven(proof, known))).toEqual([]);
  });
});

/** Rows of the tables: the case is named in the first column, its proof stands in the last. */
function cases(): { name: string; proof: string }[] {
  const rows = read('docs/CASES.md')
    .split('\n')
    .filter((line) => line.startsWith('|'));
  const cells = rows.map((row) =>
    row
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
  return cells
    .filter(([name = '']) => name !== 'Case' && !/^:?-+:?$/.test(name))
    .map((row) => ({ name: row[0] ?? '', proof: row.at(-1) ?? '' }));
}

/** Titles in backticks, all of which exist; or words that begin with why there are none. */
function isProven(proof: string, known: ReadonlySet<string>): boolean {
  const named = [...proof.matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? '');
  if (named.length > 0) return named.every((title) => known.has(title));
  return /^(Not built yet|Cannot occur|Not ours): \S+/.test(proof);
}
