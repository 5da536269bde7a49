import ts from 'typescript';
import { files, isCode, parse, read, visit } from './source.ts';

/** A test as its author named it; the fixed beginning of a name that is put together. */
export interface Title {
  readonly text: string;
  readonly file: string;
}

/** Where tests are written: also the contract suites, which ship with the core. */
const HOLDS_TESTS =
  /^packages\/[^/]+\/(test|src\/testing)\/|^demo\/(e2e|test)\/|^examples\/[^/]+\/test\/|^scripts\/(test|pack)\//;

export const titles: readonly Title[] = files.flatMap((file) => {
  if (/\/scenarios\/.*\.txt$/.test(file)) return scenarioTitle(file);
  return HOLDS_TESTS.test(file) && isCode(file) ? codeTitles(file) : [];
});

/** Ids at the start of a title: `E3, E4: …` gives E3 and E4. */
export function citedRules(title: string): string[] {
  const ids = /^((?:[A-Z]{1,2}\d+)(?:\s*,\s*[A-Z]{1,2}\d+)*):/.exec(title)?.[1];
  return ids ? ids.split(/\s*,\s*/) : [];
}

/** A scenario is told by its first line. */
function scenarioTitle(file: string): Title[] {
  const text = (read(file).split('\n')[0] ?? '').replace(/^#\s*/, '');
  return [{ text, file }];
}

function codeTitles(file: string): Title[] {
  const found: Title[] = [];
  visit(parse(file), (node) => {
    if (!ts.isCallExpression(node) || !isTestFunction(node.expression)) return;
    const text = fixedText(node.arguments[0]);
    if (text) found.push({ text, file });
  });
  return found;
}

/** `test`, `it`, `describe`, also as `test.each(…)` or `suite.test`; not `test.step`. */
function isTestFunction(callee: ts.Node): boolean {
  if (ts.isIdentifier(callee)) return /^(test|it|describe)$/.test(callee.text);
  if (ts.isCallExpression(callee)) return isTestFunction(callee.expression);
  if (!ts.isPropertyAccessExpression(callee)) return false;
  if (/^(test|it|describe)$/.test(callee.name.text)) return true;
  return /^(each|for|prop|concurrent|sequential|serial|runIf)$/.test(callee.name.text)
    ? isTestFunction(callee.expression)
    : false;
}

function fixedText(node: ts.Node | undefined): string | undefined {
  if (!node) return undefined;
  if (ts.isStringLiteralLike(node)) return node.text;
  return ts.isTemplateExpression(node) ? node.head.text : undefined;
}
