import { describe, expect, it } from 'vitest';
import type { LeaveReason } from '../../src/machine/effect.ts';
import {
  authorChecker,
  boundChecker,
  type Checker,
  changeChecker,
  departureChecker,
  duplicateChecker,
  epochChecker,
  evictionChecker,
  fenceChecker,
  type Observation,
  rosterChecker,
  selfChecker,
  stallChecker,
} from '../../src/testing/checkers.ts';

// A checker that cannot fail proves nothing: each is fed what must not happen.

const a = { id: 'a', instance: 'a1' };
const b = { id: 'b', instance: 'b1' };

describe('checkers', () => {
  it('E4: an epoch that goes back is found', () => {
    const read = (epoch: number): Observation => {
      return { type: 'read', node: a, isSelf: false, epoch, leader: null };
    };
    expect(verdicts(epochChecker(), [read(1), read(2), read(2)])).toEqual([]);
    expect(verdicts(epochChecker(), [read(2), read(1)])).toEqual([
      expect.stringMatching(/E4: the epoch of a went/),
    ]);
  });

  it('E4: a change of leader without a higher epoch is found, a leader that returns is not', () => {
    const calm = [change(a, a, 1), change(a, null, 1), change(a, a, 1), change(a, b, 2)];
    expect(verdicts(changeChecker(), calm)).toEqual([]);
    const bad = [change(a, a, 2), change(a, null, 2), change(a, b, 2)];
    expect(verdicts(changeChecker(), bad)).toEqual([
      expect.stringMatching(/E4: a follows b after a/),
    ]);
  });

  it('E3: following a leader that never claimed the epoch is found', () => {
    expect(verdicts(authorChecker(false), [change(a, a, 1), change(b, a, 1)])).toEqual([]);
    const bad = [change(a, a, 1), change(b, a, 2)];
    expect(verdicts(authorChecker(false), bad)).toEqual([
      expect.stringMatching(/E3: b follows a in epoch 2/),
    ]);
  });

  it('E3: an instance that claims an epoch twice is found', () => {
    const bad = [change(a, a, 3), change(a, null, 3), change(a, a, 3)];
    expect(verdicts(authorChecker(false), bad)).toEqual([
      expect.stringMatching(/E3: a claims epoch 3 after/),
    ]);
  });

  it('E3: two authors of one epoch are found where epochs are exclusive', () => {
    const two = [change(a, a, 1), change(b, b, 1)];
    expect(verdicts(authorChecker(false), two)).toEqual([]);
    expect(verdicts(authorChecker(true), two)).toEqual([
      expect.stringMatching(/E3: epoch 1 has 2 authors/),
    ]);
  });

  it('E5: a node that says it leads while it names another is found', () => {
    const read = (leader: typeof a | null): Observation => {
      return { type: 'read', node: a, isSelf: true, epoch: 1, leader };
    };
    expect(verdicts(selfChecker(), [read(a)])).toEqual([]);
    expect(verdicts(selfChecker(), [read(b), read(null)])).toHaveLength(2);
  });

  it('E8: a leader that still says so after a long stall is found', () => {
    const stalled = (isSelf: boolean, stalledMs: number): Observation => {
      return { type: 'stalled', node: a, isSelf, stalledMs };
    };
    expect(verdicts(stallChecker(2000), [stalled(true, 2000), stalled(false, 9000)])).toEqual([]);
    expect(verdicts(stallChecker(2000), [stalled(true, 2001)])).toEqual([
      expect.stringMatching(/^E8/),
    ]);
  });

  it('E8: a leader that still says so while it is frozen is found', () => {
    const frozen = (isSelf: boolean): Observation => ({ type: 'frozen', node: a, isSelf });
    expect(verdicts(stallChecker(2000), [frozen(false)])).toEqual([]);
    expect(verdicts(stallChecker(2000), [frozen(true)])).toHaveLength(1);
  });

  it('M1: joins and leaves that are no pairs are found', () => {
    const other = { id: 'b', instance: 'b2' };
    const pairs = [joined(b), gone('evicted', 1), joined(b), gone('replaced', 2), joined(other)];
    expect(verdicts(rosterChecker(), pairs)).toEqual([]);
    expect(verdicts(rosterChecker(), [gone('evicted', 1)])).toHaveLength(1);
    expect(verdicts(rosterChecker(), [joined(b), joined(other)])).toHaveLength(1);
    expect(verdicts(rosterChecker(), [joined(other), gone('leave', 1)])).toHaveLength(1);
  });

  it('M7: a member that is back after it left or was replaced is found', () => {
    for (const reason of ['leave', 'replaced'] as const) {
      const back = [joined(b), gone(reason, 1), joined(b)];
      expect(verdicts(rosterChecker(), back)).toEqual([expect.stringMatching(/^M7: b is back/)]);
    }
  });

  it('M5: an eviction within the window is found, counted in the time of who evicts', () => {
    const heard = (local: number): Observation => ({ type: 'heard', node: a, from: b, local });
    expect(verdicts(evictionChecker(20_000), [heard(5), gone('evicted', 20_005)])).toEqual([]);
    const early = [heard(5), gone('evicted', 20_000)];
    expect(verdicts(evictionChecker(20_000), early)).toEqual([
      expect.stringMatching(/M5: a evicts b after 19995/),
    ]);
    expect(verdicts(evictionChecker(20_000), [heard(5), gone('leave', 6)])).toEqual([]);
  });

  it('M7: a leave of a member that did not leave is found', () => {
    const left: Observation = { type: 'ended', node: b, how: 'left' };
    const closed: Observation = { type: 'ended', node: b, how: 'closed' };
    expect(verdicts(departureChecker(), [left, closed, gone('leave', 1)])).toEqual([]);
    expect(verdicts(departureChecker(), [closed, gone('leave', 1)])).toEqual([
      expect.stringMatching(/^M7/),
    ]);
  });

  it('M5: proof of death of a member that lives is found', () => {
    const crashed: Observation = { type: 'ended', node: b, how: 'crashed' };
    expect(verdicts(departureChecker(), [crashed, gone('gone', 1)])).toEqual([]);
    expect(verdicts(departureChecker(), [gone('gone', 1)])).toEqual([
      expect.stringMatching(/M5: a says/),
    ]);
  });

  it('M1: a duplicate of an instance that has ended is found', () => {
    const older = { id: 'b', instance: 'b0' };
    const started = [older, b].map((node): Observation => ({ type: 'started', node }));
    const failed: Observation = { type: 'failed', node: b, code: 'duplicate-id' };
    const crashed: Observation = { type: 'ended', node: older, how: 'crashed' };
    expect(verdicts(duplicateChecker(), [...started, failed])).toEqual([]);
    const alone = [...started, crashed, failed];
    expect(verdicts(duplicateChecker(), alone)).toEqual([expect.stringMatching(/^M1: b fails/)]);
  });

  it('X1: a fence that admits an older epoch, or two holders of one, is found', () => {
    const use = (epoch: number, holder: string, verdict: 'admitted' | 'stale' = 'admitted') => {
      const token = { cluster: 'sim', epoch, holder };
      return { type: 'fence', name: 'store', entry: { at: 0, token, verdict } } as const;
    };
    expect(verdicts(fenceChecker(), [use(1, 'a1'), use(1, 'a1'), use(2, 'b1')])).toEqual([]);
    expect(verdicts(fenceChecker(), [use(2, 'b1'), use(1, 'a1', 'stale')])).toEqual([]);
    expect(verdicts(fenceChecker(), [use(2, 'b1'), use(1, 'a1')])).toEqual([
      expect.stringMatching(/^X1/),
    ]);
    expect(verdicts(fenceChecker(), [use(2, 'b1'), use(2, 'a1')])).toEqual([
      expect.stringMatching(/^X1/),
    ]);
  });

  it('M11: a queue over its bound is found', () => {
    const queue = (count: number): Observation => ({ type: 'queue', what: 'it', count, max: 10 });
    expect(verdicts(boundChecker(), [queue(10)])).toEqual([]);
    expect(verdicts(boundChecker(), [queue(11)])).toEqual([
      expect.stringMatching(/M11: it holds 11/),
    ]);
  });
});

function change(node: typeof a, leader: typeof a | null, epoch: number): Observation {
  return { type: 'change', node, leader, epoch };
}

function joined(member: typeof a): Observation {
  return { type: 'memberjoin', node: a, member };
}

function gone(reason: LeaveReason, local: number): Observation {
  return { type: 'memberleave', node: a, member: b, reason, local };
}

function verdicts(checker: Checker, observed: readonly Observation[]): string[] {
  return observed.map(checker).filter((verdict) => verdict !== null);
}
