import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FencedError, judge, type Token } from '../../src/fence/index.ts';
import { DoyenError } from '../../src/index.ts';
import { EPOCH_MAX } from '../../src/machine/claim.ts';
import { token } from './token.ts';

describe('judge', () => {
  it('X1: another cluster is foreign, a lower epoch stale, another holder of the epoch a conflict', () => {
    const mark = token(5, 'x');
    expect(judge(null, token(1))).toBe('admitted');
    expect(judge(mark, token(5, 'x'))).toBe('admitted');
    expect(judge(mark, token(6, 'y'))).toBe('admitted');
    expect(judge(mark, token(4, 'x'))).toBe('stale');
    expect(judge(mark, token(5, 'y'))).toBe('conflict');
    for (const epoch of [4, 5, 6]) expect(judge(mark, token(epoch, 'x', 'other'))).toBe('foreign');
  });

  it('X1: whatever was admitted, nothing older and no second holder of an epoch comes after it', () => {
    const tokens = fc.array(fc.tuple(fc.integer({ min: 1, max: 6 }), fc.constantFrom('x', 'y')));
    fc.assert(
      fc.property(tokens, (shown) => {
        let mark: Token | null = null;
        const holders = new Map<number, string>();
        for (const [epoch, holder] of shown) {
          const before: number = mark?.epoch ?? 0;
          if (judge(mark, token(epoch, holder)) !== 'admitted') continue;
          mark = token(epoch, holder);
          expect(epoch).toBeGreaterThanOrEqual(before);
          expect(holders.get(epoch) ?? holder).toBe(holder);
          holders.set(epoch, holder);
        }
      }),
    );
  });

  it('X1: an epoch that is no integer from 1 to the ceiling is refused with a code, whatever the mark', () => {
    const poisoned = [0, -1, 1.5, Number.NaN, Infinity, 2 ** 53 - 1, EPOCH_MAX + 1, 2 ** 60];
    const strange = ['5', 'x', null, undefined, 5n, [5], { valueOf: () => 5 }];
    for (const epoch of [...poisoned, ...strange]) {
      for (const mark of [null, token(4)]) {
        expect(() => judge(mark, token(epoch as number))).toThrow(BAD_TOKEN);
      }
    }
    expect(judge(null, token(EPOCH_MAX))).toBe('admitted');
  });

  it('X1: what has no cluster or no holder is no token', () => {
    for (const name of ['', 'line\nbreak', '\ud800', 'x'.repeat(129), 7, null, undefined]) {
      for (const part of ['cluster', 'holder']) {
        expect(() => judge(null, { ...token(1), [part]: name })).toThrow(BAD_TOKEN);
      }
    }
    for (const nothing of [null, undefined, 7, 'token']) {
      expect(() => judge(null, nothing as unknown as Token)).toThrow(BAD_TOKEN);
    }
  });

  it('X1: a token without order is refused by the compiler', () => {
    const mark = token(1);
    // @ts-expect-error A random id does not tell newer from older.
    const guid = () => judge(mark, 'f81d4fae-7dec-11d0-a765-00a0c91e6bf6');
    // @ts-expect-error Neither does one in the place of the epoch.
    const named = () => judge(mark, { cluster: 'c', epoch: 'f81d4fae', holder: 'x' });
    // @ts-expect-error And who was last does not tell it either.
    const holder = () => judge(mark, { cluster: 'c', holder: 'x' });
    for (const attempt of [guid, named, holder]) expect(attempt).toThrow(BAD_TOKEN);
  });
});

describe('FencedError', () => {
  it('X2: tells its verdict, the mark, and that nothing changed', () => {
    const error = new FencedError(token(3), { verdict: 'stale', high: 9 });
    expect(error).toBeInstanceOf(DoyenError);
    expect(error).toMatchObject({ name: 'FencedError', code: 'fenced', verdict: 'stale', high: 9 });
    expect(error.message).toMatch(/epoch 3 .* epoch 9; nothing changed/);
  });

  it('X2: of another cluster it tells no epoch that could be taken for one of this', () => {
    expect(new FencedError(token(3), { verdict: 'foreign', high: 9 }).high).toBe(0);
  });
});

const BAD_TOKEN = expect.objectContaining({ name: 'DoyenError', code: 'bad-token' });
