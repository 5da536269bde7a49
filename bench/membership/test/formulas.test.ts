import { describe, expect, it } from 'vitest';
import { stableAfterMs } from '../baselines/akka.mjs';
import { falseEvictionsPerBeat } from '../baselines/heartbeat.mjs';
import { PhiDetector, phi } from '../baselines/phi.mjs';
import {
  falseSuspicionPerProbe,
  firstDetectionPeriods,
  memberlistWindow,
  remainingMs,
  retransmitLimit,
  swimRounds,
} from '../baselines/suspicion-window.mjs';

describe('Akka', () => {
  it.each([
    [0, 0],
    [500, 0.1],
    [1000, 0.3],
    [1200, 1.6],
    [1400, 4.7],
    [1600, 10.8],
    [1700, 15.3],
  ])('has a phi after %i ms of %f, as its own tests say', (silenceMs, expected) => {
    expect(Math.abs(phi(silenceMs, 1000, 100) - expected)).toBeLessThanOrEqual(0.1);
  });

  it.each([
    [0, 0.5],
    [6, 0.7257],
    [15, 0.9332],
    [20, 0.97725],
    [25, 0.99379],
    [35, 0.99977],
  ])('takes the normal distribution at %i of σ = 10 for %f', (at, share) => {
    expect(Math.abs(1 - 10 ** -phi(at, 0, 10) - share)).toBeLessThanOrEqual(0.001);
  });

  it('gives plain zero where the exponential overflows', () => {
    expect(phi(-25, 0, 1)).toBe(0);
  });

  it('crosses its threshold 5.23 deviations after the mean and the acceptable pause', () => {
    const detector = new PhiDetector({
      threshold: 8,
      samplesMax: 1000,
      deviationMinMs: 100,
      acceptablePauseMs: 3000,
      firstEstimateMs: 1000,
    });
    for (let at = 0; at <= 100; at += 1) detector.heard(at * 1000);
    expect(detector.isAvailable(104_520)).toBe(true);
    expect(detector.isAvailable(104_525)).toBe(false);
  });

  it('does not learn the interval that ends an outage', () => {
    const options = {
      threshold: 8,
      samplesMax: 1000,
      deviationMinMs: 100,
      acceptablePauseMs: 3000,
      firstEstimateMs: 1000,
    };
    const [calm, shaken] = [new PhiDetector(options), new PhiDetector(options)];
    for (let at = 0; at <= 50; at += 1) calm.heard(at * 1000);
    for (let at = 0; at <= 50; at += 1) shaken.heard(at * 1000);
    shaken.heard(100_000);
    expect(shaken.phi(104_400)).toBeCloseTo(calm.phi(54_400), 10);
  });

  it.each([
    [5, 7000],
    [10, 10_000],
    [20, 13_000],
    [50, 17_000],
    [100, 20_000],
    [1000, 30_000],
  ])('waits for %i members to be stable as long as its manual says', (size, expected) => {
    expect(stableAfterMs(size)).toBe(expected);
  });
});

describe('memberlist', () => {
  it.each([
    [0, 3, 0, 30_000],
    [1, 3, 2000, 14_000],
    [2, 3, 3000, 4810],
    [3, 3, 4000, -2000],
    [4, 3, 5000, -3000],
    [5, 3, 10_000, -8000],
  ])('has after %i of %i confirmations and %i ms still %i ms', (count, expected, elapsed, left) => {
    expect(remainingMs(count, expected, elapsed, 2000, 30_000)).toBe(left);
  });

  it('ends a suspicion that nobody could confirm at its minimum', () => {
    expect(remainingMs(0, 0, 0, 25, 30_000)).toBe(25);
  });

  it.each([
    [5, 4000, 24_000],
    [10, 4000, 24_000],
    [50, 6795, 40_770],
    [100, 8000, 48_000],
    [200, 9204, 55_224],
  ])('suspects in a cluster of %i for %i to %i ms', (size, minMs, maxMs) => {
    expect(memberlistWindow(size)).toMatchObject({ minMs, maxMs });
  });

  it('expects no confirmation where there is nobody else', () => {
    expect(memberlistWindow(2).expected).toBe(0);
    expect(memberlistWindow(3).expected).toBe(0);
    expect(memberlistWindow(4).expected).toBe(2);
  });

  it.each([
    [0, 0],
    [1, 3],
    [99, 6],
  ])('repeats news among %i members %i times, with a multiplier of 3', (size, expected) => {
    expect(retransmitLimit(size, 3)).toBe(expected);
  });
});

describe('SWIM', () => {
  it('finds a crash after e/(e − 1) periods on average', () => {
    expect(firstDetectionPeriods()).toBeCloseTo(1.582, 3);
  });

  it.each([
    [0.01, 1.2e-6],
    [0.02, 1.9e-5],
    [0.05, 6.2e-4],
    [0.1, 7.7e-3],
    [0.2, 7.4e-2],
    [0.5, 0.62],
  ])('suspects the healthy at a loss of %f in one probe of %f', (loss, expected) => {
    expect(falseSuspicionPerProbe(loss) / expected).toBeGreaterThan(0.95);
    expect(falseSuspicionPerProbe(loss) / expected).toBeLessThan(1.05);
  });

  it('suspects for three times the logarithm of the size', () => {
    expect([2, 10, 50, 200].map(swimRounds)).toEqual([6, 9, 12, 18]);
  });
});

describe('a fixed heartbeat', () => {
  it('evicts the healthy once in eight thousand beats at a loss of five per cent', () => {
    expect(falseEvictionsPerBeat(0.05)).toBeCloseTo(1.25e-4, 6);
  });
});
