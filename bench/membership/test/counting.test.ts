import { describe, expect, it } from 'vitest';
import { decode, encode } from '../baselines/wire.mjs';
import { quantile } from '../samples.mjs';
import { silence } from '../silence.mjs';

describe('the true silence of a member', () => {
  const stalls = [
    { id: 'n1', from: 1000, to: 31_000 },
    { id: 'n2', from: 5000, to: 6000 },
  ];

  it('is nothing while it runs', () => {
    expect(silence(stalls, 'n1', 500)).toBe(0);
    expect(silence(stalls, 'n1', 60_000)).toBe(0);
    expect(silence(stalls, 'n3', 2000)).toBe(0);
  });

  it('counts from the beginning of its own stall', () => {
    expect(silence(stalls, 'n1', 22_000)).toBe(21_000);
  });

  it('ends when its first words after the stall have had time to arrive', () => {
    expect(silence(stalls, 'n2', 6050)).toBe(1000);
    expect(silence(stalls, 'n2', 6101)).toBe(0);
  });
});

describe('figures', () => {
  it('take the most of few values for their 99th percentile', () => {
    expect(quantile([3, 1, 2], 0.99)).toBe(3);
  });

  it('leave out one of two hundred', () => {
    const values = Array.from({ length: 200 }, (_, at) => at);
    expect(quantile(values, 0.99)).toBe(197);
    expect(quantile(values, 0.5)).toBe(99);
  });
});

describe('messages of baselines', () => {
  it('come back as they were', () => {
    const message = [0, 127, 128, 2 ** 32 - 1, 'n200', 'n1>n2', ''];
    expect(decode(encode(message))).toEqual(message);
  });

  it('spend a byte on a small number, and one more than its length on an id', () => {
    expect(encode([5, 'n12'])).toHaveLength(5);
  });
});
