import { expect, it } from 'vitest';
import { suspicionRemaining } from '../../src/machine/suspicion.ts';

// memberlist, suspicion_test.go: confirmations, expected, elapsed, min, max -> remaining (s).
it.each([
  [0, 3, 0, 2, 30, 30],
  [1, 3, 2, 2, 30, 14],
  [2, 3, 3, 2, 30, 4.81],
  [3, 3, 4, 2, 30, -2],
  [4, 3, 5, 2, 30, -3],
  [5, 3, 10, 2, 30, -8],
])(
  'M5: %d of %d confirmations after %d s of %d to %d s leave %d s',
  (n, k, elapsed, min, max, rest) => {
    const remaining = suspicionRemaining(n, k, elapsed * 1000, min * 1000, max * 1000);
    expect(Math.floor(remaining)).toBe(rest * 1000);
  },
);

it.each([
  [0, 2000],
  [1, 1250],
  // The published table rounds to 810 and allows 25 ms; the formula gives 811.27.
  [2, 811],
  [3, 500],
])('M5: %d confirmations of 3 shrink 2000 ms to %d ms, not below 500 ms', (n, total) => {
  expect(suspicionRemaining(n, 3, 0, 500, 2000)).toBe(total);
});

it('M5: with nobody expected to confirm the minimum holds', () => {
  expect(suspicionRemaining(0, 0, 0, 25, 30_000)).toBe(25);
});
