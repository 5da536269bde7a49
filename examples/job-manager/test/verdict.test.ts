import { describe, expect, it } from 'vitest';
import { resultOf, STEPS } from '../job.mjs';
import { problemsOf } from '../story/verdict.mjs';

const before = { by: 'ada', type: 'step', epoch: 1, step: 8 };
const after = { by: 'bob', type: 'manages', epoch: 2, step: 8 };
const refused = { by: 'ada', type: 'refused', epoch: 1, step: 9, verdict: 'stale', high: 2 };

/** By ada up to the cut, then by bob. */
function written() {
  let result = '';
  return Array.from({ length: STEPS }, (_, index) => {
    const step = index + 1;
    result = resultOf(step, result);
    return { step, result, ...(step <= 8 ? { by: 'ada', epoch: 1 } : { by: 'bob', epoch: 2 }) };
  });
}

function problems(facts: Partial<Parameters<typeof problemsOf>[0]>) {
  return problemsOf({ before, after, journal: written(), reports: [refused], ...facts });
}

// A story proves something only if its end could be a bad one.
describe('the verdict on a story', () => {
  it('finds nothing where all went well', () => {
    expect(problems({})).toEqual([]);
  });

  it('finds a step that was lost', () => {
    expect(problems({ journal: written().toSpliced(8, 1) })).toEqual(['step 9 was lost']);
  });

  it('finds a step that was repeated, and who wrote after whom', () => {
    const journal = written().flatMap((entry) =>
      entry.step === 11 ? [entry, { ...entry, step: 9, by: 'ada', epoch: 1 }] : [entry],
    );
    expect(problems({ journal })).toEqual([
      'step 9 was repeated: bob (epoch 2), ada (epoch 1)',
      'ada (epoch 1) wrote after bob (epoch 2)',
    ]);
  });

  it('finds a result that does not follow from all steps', () => {
    const journal = written().map((entry) => ({ ...entry, result: 'another' }));
    expect(problems({ journal })).toEqual(['the last result is wrong']);
  });

  it('finds a manager that did not go on where the other had stopped', () => {
    const problem = 'bob (epoch 2) went on after step 7 instead of 8';
    expect(problems({ after: { ...after, step: 7 } })).toEqual([problem]);
  });

  it('finds that nothing was refused, or only by the mark of the same epoch', () => {
    const problem = 'no write of ada (epoch 1) was refused';
    expect(problems({ reports: [] })).toEqual([problem]);
    expect(problems({ reports: [{ ...refused, high: 1 }] })).toEqual([problem]);
  });
});
