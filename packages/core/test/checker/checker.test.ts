import { describe, expect, it } from 'vitest';
import type { Watch, WorldOptions } from './bounds.ts';
import { BROKEN_RULES, type BrokenRule } from './broken-rules.ts';
import { canonical } from './interner.ts';
import { type Finding, type Result, search } from './search.ts';
import { traceOf } from './trace.ts';
import { World } from './world.ts';

// Every state that ballots can come to, within bounds; `npm run check` goes farther.

/** On a busy machine; a calm one takes a tenth. */
const LIMIT_MS = 300_000;

describe('every state of three voters', { timeout: LIMIT_MS }, () => {
  it('Q3, Q8, Q9: no epoch is won twice, and no disk goes back, in more than a million of them', () => {
    expect(exhausted({ versions: 2 }).named).toBeGreaterThan(1_000_000);
  });

  it('X1, Q8, Q9: no fence goes back, or sees two holders of an epoch, while the voters change twice', () => {
    exhausted({ epochs: 2, hasFence: true });
  });

  it('Q2, Q8, Q9: nor does a voter that has lost its storage make a second winner, as it is or added anew', () => {
    exhausted({ epochs: 1, hasLoss: true });
  });

  it('Q1, Q8, Q9: nor do crashes between an input, the end of its write, and the answer', () => {
    exhausted({ epochs: 2, versions: 2, hasOpenWrites: true });
  });
});

describe('without a rule', { timeout: LIMIT_MS }, () => {
  const cases = BROKEN_RULES.map((broken) => [broken.when, broken] as const);

  it.each(cases)('Q2, Q3, Q8, Q9: two win one epoch when %s', (_when, { name, world }) => {
    const { states, finding } = found({ ...world, watched: ['wins'] });
    expect(finding.breach).toMatch(/^epoch \d is won by \w\d-1 and by \w\d-1$/);
    console.info(`without ${name}: ${finding.steps.length} steps, found in ${states} states`);
  });

  it.each<[Watch, RegExp]>([
    ['fence', /^fence: \w1-1 and \w1-1 in epoch 1$/],
    ['disk', /^disk: two votes in epoch 1$/],
  ])('Q3, X1: what is watched of a %s is seen to break', (watch, breach) => {
    const { world } = BROKEN_RULES.find(({ name }) => name === 'votesOnce') as BrokenRule;
    const bounds = { epochs: 1, versions: 1, hasFence: true };
    expect(found({ ...world, ...bounds, watched: [watch] }).finding.breach).toMatch(breach);
  });

  it('Q8: what is found is told step by step', () => {
    const { world } = BROKEN_RULES.find(({ name }) => name === 'votesOnce') as BrokenRule;
    const checked = new World({ ...world, watched: ['wins'] });
    const lines = traceOf(checked, search(checked).finding as Finding).split('\n');
    expect(lines[0]).toMatch(
      /^ {2}1\. A stands +A: epoch 1, 0\.1\{A B C\}, voted for A, candidate/,
    );
    expect(lines.at(-1)).toMatch(/^ +epoch 1 is won by .+ \(6 steps\)$/);
  });
});

describe('what makes the states fewer', { timeout: LIMIT_MS }, () => {
  it.each<[WorldOptions]>([
    [{ epochs: 2, versions: 1 }],
    [{ epochs: 1 }],
    [{ epochs: 1, hasLoss: true }],
  ])(
    'Q8, Q9: where names are exchanged, one state stands for as many as there are: %o',
    (bounds) => {
      const all = exhausted({ ...bounds, hasSymmetry: false });
      expect(exhausted(bounds).named).toBe(all.states);
    },
  );

  it.each<[WorldOptions]>([[{ voters: 2, epochs: 2 }], [{ epochs: 1, versions: 2 }]])(
    'Q8, Q9: where a write ends at once, voters come to the same as with others in between: %o',
    (bounds) => {
      const apart = statesAtRest({ ...bounds, hasOpenWrites: true });
      expect(apart.size).toBeGreaterThan(1000);
      const atOnce = statesAtRest(bounds);
      expect([...apart].filter((state) => !atOnce.has(state)).slice(0, 1)).toEqual([]);
      expect(atOnce.size).toBe(apart.size);
    },
  );
});

function exhausted(options: WorldOptions): Result {
  const world = new World(options);
  const result = search(world);
  expect(result.finding && traceOf(world, result.finding)).toBeNull();
  expect(result.isExhausted).toBe(true);
  return result;
}

function found(options: WorldOptions): { readonly states: number; readonly finding: Finding } {
  const { states, finding } = search(new World(options));
  if (!finding) throw new Error('nothing was found');
  return { states, finding };
}

/** Every state in which nobody writes, as text that does not depend on how it was come to. */
function statesAtRest(options: WorldOptions): ReadonlySet<string> {
  const world = new World({ ...options, hasSymmetry: false });
  const texts = new Set<string>();
  const onVisit = (state: Int32Array) => {
    const voters = world.voters(state);
    if (voters.some(({ ballot }) => ballot.isStoring)) return;
    const packets = world.packets(state).map(canonical).sort();
    texts.add(canonical([voters, packets, world.history(state)]));
  };
  search(world, { onVisit });
  return texts;
}
