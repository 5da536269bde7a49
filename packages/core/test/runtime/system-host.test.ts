import { expect, it } from 'vitest';
import { sleepAwareClock, systemHost } from '../../src/runtime/system-host.ts';

/** A clock over two sources that a test moves. */
function clock(): { read: () => number; move: (monotonicMs: number, wallMs: number) => number } {
  let monotonic = 1000;
  let wall = 1_700_000_000_000;
  const read = sleepAwareClock(
    () => monotonic,
    () => wall,
  );
  const start = read();
  return {
    read,
    move: (monotonicMs, wallMs) => {
      monotonic += monotonicMs;
      wall += wallMs;
      return read() - start;
    },
  };
}

it('M9: the clock advances by what the machine slept', () => {
  const { move } = clock();
  expect(move(10, 60_010)).toBe(60_010);
  expect(move(5, 5)).toBe(60_015);
});

it('M9: a wall clock that is set back is ignored', () => {
  const { move } = clock();
  expect(move(10, -3_600_000)).toBe(10);
  expect(move(10, 10)).toBe(20);
  expect(move(10, 3_600_010)).toBe(3_600_030);
});

it('M9: a monotonic clock that counts sleep itself is not counted twice', () => {
  const { move } = clock();
  expect(move(60_000, 60_000)).toBe(60_000);
});

it('M9: the rounding of clocks does not add up', () => {
  const { move } = clock();
  let elapsed = 0;
  // A wall clock of whole milliseconds, read each tenth of one.
  for (let tick = 1; tick <= 10_000; tick += 1) elapsed = move(0.1, tick % 10 === 0 ? 1 : 0);
  expect(elapsed).toBeCloseTo(1000);
});

it('the system gives time, chance and timers', async () => {
  const host = systemHost();
  const before = host.now();
  await new Promise<void>((resolve) => host.timer(resolve, 5));
  expect(host.now()).toBeGreaterThan(before);
  const draws = new Set(Array.from({ length: 100 }, () => host.random()));
  expect(draws.size).toBeGreaterThan(90);
  for (const draw of draws) expect(draw >= 0 && draw < 1).toBe(true);
});

it('a timer that is cancelled does not fire', async () => {
  const host = systemHost();
  let hasFired = false;
  const cancel = host.timer(() => {
    hasFired = true;
  }, 1);
  cancel();
  await new Promise<void>((resolve) => host.timer(resolve, 10));
  expect(hasFired).toBe(false);
});
