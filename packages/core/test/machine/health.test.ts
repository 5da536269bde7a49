import { expect, it } from 'vitest';
import { Health } from '../../src/machine/health.ts';

it('M9: late timers make a node patient, clean intervals make it well again', () => {
  const health = new Health();
  health.timer(900, 0, 0);
  expect(health.factor).toBe(1);
  for (let i = 0; i < 3; i++) health.timer(1200, 0, i);
  expect(health.factor).toBe(4);
  for (let now = 1010; now <= 5010; now += 1000) health.recover(now, 1000);
  expect(health.factor).toBe(1);
});

it('M9: timers that keep to a grid are no fault of the node', () => {
  const health = new Health();
  for (let i = 0; i < 10; i++) health.timer(60_000, 60_000, i);
  expect(health.factor).toBe(1);
});

it('M9: patience has a bound', () => {
  const health = new Health();
  for (let i = 0; i < 100; i++) health.fault(2, i);
  expect(health.factor).toBe(8);
});

it('M9: a fault within the interval keeps the score', () => {
  const health = new Health();
  health.fault(3, 0);
  for (let now = 500; now <= 10_000; now += 500) {
    if (now % 1000 === 500) health.fault(0, now);
    health.recover(now, 1000);
  }
  expect(health.score).toBe(3);
});
