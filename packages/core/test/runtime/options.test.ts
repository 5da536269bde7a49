import { describe, expect, it } from 'vitest';
import { DEFAULTS, highestId, type JoinOptions, join, memory } from '../../src/index.ts';
import { resolveOptions } from '../../src/runtime/options.ts';

const given = { cluster: 'c', transport: memory() };

describe('wrong options', () => {
  it.each<[unknown, typeof TypeError, string]>([
    [undefined, TypeError, 'options must be an object, got undefined'],
    [{ transport: memory() }, TypeError, 'cluster must be given, got undefined'],
    [{ ...given, cluster: 7 }, TypeError, 'cluster must be a string, got 7'],
    [
      { ...given, cluster: '' },
      RangeError,
      'cluster must be 1 to 128 bytes of UTF-8 without control characters, got ""',
    ],
    [
      { ...given, id: 'a\u0007b' },
      RangeError,
      'id must be 1 to 128 bytes of UTF-8 without control characters, got "a\\u0007b"',
    ],
    [
      { ...given, id: '\ud800' },
      RangeError,
      // A lone surrogate has no UTF-8: two ids that differ here would be one on the wire.
      'id must be 1 to 128 bytes of UTF-8 without control characters, got "\\ud800"',
    ],
    [
      { cluster: 'c', transport: {} },
      TypeError,
      'transport must be an object with start, send, close, got an object',
    ],
    [
      { ...given, election: 'oldest' },
      TypeError,
      'election must be quorum(), or a strategy: { name of 1 to 64 bytes, compare }, got "oldest"',
    ],
    [
      { ...given, election: { ...highestId(), name: 'x'.repeat(125) } },
      TypeError,
      'election must be quorum(), or a strategy: { name of 1 to 64 bytes, compare }, got an object',
    ],
    [
      { ...given, election: { compare: () => 0 } },
      TypeError,
      'election must be quorum(), or a strategy: { name of 1 to 64 bytes, compare }, got an object',
    ],
    [{ ...given, detection: 5 }, TypeError, 'detection must be an object, got 5'],
    [{ ...given, joinGrace: 5 }, TypeError, 'joinGrace is no option'],
    [{ ...given, joinGraceMs: '5' }, TypeError, 'joinGraceMs must be a number, got "5"'],
    [
      { ...given, joinGraceMs: -1 },
      RangeError,
      'joinGraceMs must be an integer, 0 or more, got -1',
    ],
    [{ ...given, startedAt: 1.5 }, RangeError, 'startedAt must be an integer, 0 or more, got 1.5'],
    [
      { ...given, detection: { suspicionMs: 0 } },
      RangeError,
      'detection.suspicionMs must be an integer, 1 or more, got 0',
    ],
    [{ ...given, detection: { suspicion: 1 } }, TypeError, 'detection.suspicion is no option'],
    [
      { ...given, detection: { suspicionMs: 3000, leaderSuspicionMinMs: 4000 } },
      RangeError,
      'detection.leaderSuspicionMinMs must be at most detection.suspicionMs (3000), got 4000',
    ],
    [
      { ...given, detection: { heartbeatIntervalMs: 5000 } },
      RangeError,
      'detection.heartbeatIntervalMs must be at most detection.leaderSuspicionMinMs (2000), got 5000',
    ],
    [
      { ...given, seniority: 'age' },
      TypeError,
      "seniority must be 'cluster' or 'wall-clock', got \"age\"",
    ],
    [{ ...given, floor: 5 }, TypeError, 'floor must be a function, got 5'],
    [{ ...given, meta: Symbol('x') }, TypeError, 'meta must be JSON, got Symbol(x)'],
    [
      { ...given, meta: 'x'.repeat(1023) },
      RangeError,
      'meta must be at most 1024 bytes of JSON, got 1025',
    ],
    [
      { ...given, signal: {} },
      TypeError,
      'signal must be an object with addEventListener, throwIfAborted, got an object',
    ],
  ])('%j say what was expected and what came', async (options, type, message) => {
    const error = await join(options as JoinOptions).catch((reason: unknown) => reason);
    expect([(error as Error).constructor, (error as Error).message]).toEqual([type, message]);
  });
});

describe('right options', () => {
  it('are filled up with the defaults', () => {
    const { detection, joinGraceMs, election, seniority } = resolveOptions(given);
    expect({ detection, joinGraceMs }).toEqual(DEFAULTS);
    expect([election.name, seniority]).toEqual(['oldest-node', 'cluster']);
  });

  it('keep the objects that they were given', () => {
    const election = highestId();
    const resolved = resolveOptions({ ...given, election });
    expect([resolved.transport, resolved.election]).toEqual([given.transport, election]);
  });

  it('with a short window bring the shortest suspicion of a leader down with it', () => {
    const detection = { heartbeatIntervalMs: 100, suspicionMs: 1500 };
    expect(resolveOptions({ ...given, detection }).detection.leaderSuspicionMinMs).toBe(1500);
  });

  it('take undefined as not given', () => {
    const options = { ...given, id: undefined, signal: undefined } as unknown as JoinOptions;
    expect(resolveOptions(options).joinGraceMs).toBe(3000);
  });
});

it('the defaults are frozen', () => {
  expect([Object.isFrozen(DEFAULTS), Object.isFrozen(DEFAULTS.detection)]).toEqual([true, true]);
});
