import { quorum } from '@doyen/core';
import { describe, expect, it } from 'vitest';
import { highestId } from '../../src/machine/strategy.ts';

const voters = ['a', 'b', 'c'];
/** As an application without types may call it. */
const given = (options: unknown) => () => quorum(options as never);

describe('options of quorum()', () => {
  it('Q0: the first voters are named: the same ones in whatever order', () => {
    expect(quorum({ voters: ['c', 'a', 'b'] })).toMatchObject({
      mode: 'quorum',
      name: 'quorum/oldest-node',
      voters: ['a', 'b', 'c'],
    });
    expect(quorum({ voters, rankBy: highestId() }).name).toBe('quorum/highest-id');
    expect(Object.isFrozen(quorum({ voters }))).toBe(true);
  });

  it.each([
    [undefined, 'options must be an object, got undefined'],
    [null, 'options must be an object, got null'],
    ['a', 'options must be an object, got a'],
    [{}, 'voters must be an array of ids, got undefined'],
    [{ voters: 'abc' }, 'voters must be an array of ids, got abc'],
    [{ voters: { 0: 'a' } }, 'voters must be an array of ids, got an object'],
    [{ voters: ['a', 7] }, 'voters must be an array of ids, got 7'],
    [{ voters, voter: 'a' }, 'voter is no option of quorum()'],
    [{ voters, rankBy: 'oldest' }, 'rankBy must be a strategy, such as oldestNode(), got oldest'],
    [{ voters, rankBy: null }, 'rankBy must be a strategy, such as oldestNode(), got null'],
    [{ voters, evidence: 5 }, 'evidence must be a function, got 5'],
    [{ voters, compareEvidence: {} }, 'compareEvidence must be a function, got an object'],
    [{ voters, preVote: 1 }, 'preVote must be true or false, got 1'],
    [{ voters, stickyMs: '3000' }, 'stickyMs must be a number, got 3000'],
    [
      { voters, electionTimeoutMs: 4000 },
      'electionTimeoutMs must be a shortest and a longest time, got 4000',
    ],
    [
      { voters, electionTimeoutMs: [4000] },
      'electionTimeoutMs must be a shortest and a longest time, got an object',
    ],
    [{ voters, removeAfterMs: 'never' }, 'removeAfterMs must be a number, got never'],
  ])('Q0: %o is a TypeError that says %s', (options, message) => {
    expect(given(options)).toThrow(new TypeError(message));
  });

  it.each([
    [{ voters: [] }, 'voters must be 1 to 15 ids, got 0'],
    [
      { voters: Array.from({ length: 16 }, (_, at) => `v${at}`) },
      'voters must be 1 to 15 ids, got 16',
    ],
    [{ voters: ['a', ''] }, 'voters must be ids, got ""'],
    [{ voters: ['a', 'b\n'] }, 'voters must be ids, got "b\\n"'],
    [{ voters: ['a', 'é'.repeat(65)] }, `voters must be ids, got "${'é'.repeat(65)}"`],
    [{ voters: ['a', 'b', 'a'] }, 'voters must be different ids, got a twice'],
    [{ voters, stickyMs: 99 }, 'stickyMs must be from 100 to 2147483647, got 99'],
    [{ voters, stickyMs: 1000.5 }, 'stickyMs must be whole, got 1000.5'],
    [{ voters, stickyMs: Number.NaN }, 'stickyMs must be from 100 to 2147483647, got NaN'],
    [
      { voters, stickyMs: Number.POSITIVE_INFINITY },
      'stickyMs must be from 100 to 2147483647, got Infinity',
    ],
    [{ voters, beatMs: 0 }, 'beatMs must be from 1 to 1000, got 0'],
    [{ voters, beatMs: 1001 }, 'beatMs must be from 1 to 1000, got 1001'],
    [{ voters, leaseMs: 2401 }, 'leaseMs must be from 500 to 2400, got 2401'],
    [{ voters, stickyMs: 1000, leaseMs: 801 }, 'leaseMs must be from 166 to 800, got 801'],
    [{ voters, leaseMs: 499 }, 'leaseMs must be from 500 to 2400, got 499'],
    [
      { voters, electionTimeoutMs: [3000, 4000] },
      'electionTimeoutMs[0] must be from 3001 to 2147483647, got 3000',
    ],
    [
      { voters, electionTimeoutMs: [4000, 3999] },
      'electionTimeoutMs[1] must be from 4000 to 2147483647, got 3999',
    ],
    [{ voters, rankStepMs: -1 }, 'rankStepMs must be from 0 to 2147483647, got -1'],
    [{ voters, backoffFactor: 0.9 }, 'backoffFactor must be from 1 to 10, got 0.9'],
    [{ voters, backoffMaxMs: -1 }, 'backoffMaxMs must be from 0 to 2147483647, got -1'],
    [{ voters, removeAfterMs: -1 }, 'removeAfterMs must be from 0 to 2147483647, got -1'],
    [{ voters, votersMin: 0 }, 'votersMin must be from 1 to 15, got 0'],
    [{ voters, settleMs: 0.5 }, 'settleMs must be whole, got 0.5'],
  ])('Q0: %o is a RangeError that says %s', (options, message) => {
    expect(given(options)).toThrow(new RangeError(message));
  });

  it('Q6: the lease follows the sticky window', () => {
    expect(given({ voters, stickyMs: 1000, leaseMs: 800 })).not.toThrow();
    expect(given({ voters, stickyMs: 100 })).not.toThrow();
    expect(given({ voters, removeAfterMs: null, backoffFactor: 1.25 })).not.toThrow();
  });
});
