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
  rivalChecker,
  rosterChecker,
  selfChecker,
  sizeChecker,
  stallChecker,
  termChecker,
} from '../../src/testing/checkers.ts';

// A checker that cannot fail proves nothing: each is fed what must not happen.

const a = { id: 'a', instance: 'a1' };
const b = { id: 'b', instance: 'b1' };

describe('checkers', () => {
  it('E4: an epoch that goes back is found', () => {
    const read = (epoch: number) => reading({ epoch });
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
    const read = (leader: typeof a | null) => reading({ isSelf: true, leader });
    expect(verdicts(selfChecker(2_000), [read(a)])).toEqual([]);
    expect(verdicts(selfChecker(2_000), [read(b), read(null)])).toHaveLength(2);
  });

  it('E8: a node that says it leads after its end is found', () => {
    const end = reading({ isSelf: true, leader: a, isOver: true });
    expect(verdicts(selfChecker(2_000), [end])).toEqual([expect.stringMatching(/^E8: a says/)]);
    expect(verdicts(selfChecker(2_000), [reading({ isOver: true })])).toEqual([]);
  });

  it('E8: a lost term that is resumed is found, a new one is not', () => {
    const leads = (epoch: number) => reading({ isSelf: true, leader: a, epoch });
    const calm = [leads(1), change(a, null, 1), leads(2)];
    expect(verdicts(selfChecker(2_000), calm)).toEqual([]);
    const bad = [leads(1), change(a, null, 1), leads(1)];
    expect(verdicts(selfChecker(2_000), bad)).toEqual([expect.stringMatching(/^E8: a resumes/)]);
    const slept = (stalledMs: number): Observation => {
      return { type: 'stalled', node: a, isSelf: false, stalledMs };
    };
    expect(verdicts(selfChecker(2_000), [leads(1), slept(1_900), leads(1)])).toEqual([]);
    const frozen: Observation = { type: 'frozen', node: a, isSelf: false };
    for (const sleep of [slept(2_100), frozen]) {
      expect(verdicts(selfChecker(2_000), [leads(1), sleep, leads(2)])).toEqual([]);
      expect(verdicts(selfChecker(2_000), [leads(1), sleep, leads(1)])).toHaveLength(1);
    }
  });

  it('E13: a leader that is no candidate is found', () => {
    const asked = (isCandidate: boolean): Observation => {
      return { type: 'candidacy', node: a, isCandidate };
    };
    const leads = reading({ isSelf: true, leader: a });
    expect(verdicts(selfChecker(2_000), [asked(false), asked(true), leads])).toEqual([]);
    expect(verdicts(selfChecker(2_000), [asked(false), leads])).toEqual([
      expect.stringMatching(/^E13: a leads/),
    ]);
  });

  it('E6: two leaders of one epoch that hear each other and do not decide are found', () => {
    const both = [a, b].map((node) => reading({ node, isSelf: true, leader: node }));
    const heard = (node: typeof a, from: typeof a, local: number): Observation => {
      return { type: 'heard', node, from, local };
    };
    const talkFor = (ms: number) => {
      const times = Array.from({ length: 31 }, (_, index) => (index * ms) / 30);
      return times.flatMap((at) => [heard(a, b, at), heard(b, a, at)]);
    };
    const talk = talkFor(8_000);
    const oneWay = Array.from({ length: 99 }, (_, index) => heard(a, b, index * 1_000));
    expect(verdicts(rivalChecker(), [...both, ...talk])).toEqual([expect.stringMatching(/^E6/)]);
    expect(verdicts(rivalChecker(), [...both, ...oneWay])).toEqual([]);
    expect(verdicts(rivalChecker(), [...both, ...talkFor(1_000)])).toEqual([]);
    const decided = reading({ node: b, isSelf: false });
    expect(verdicts(rivalChecker(), [...both, decided, ...talk])).toEqual([]);
  });

  it('Q7: a change that is told before the signal of the term has aborted is found', () => {
    const told = (leader: typeof a | null, epoch: number, isAborted: boolean): Observation => {
      return { type: 'term', node: a, epoch: 2, isAborted, told: { leader, epoch } };
    };
    expect(verdicts(termChecker(), [told(a, 2, false), told(b, 3, true)])).toEqual([]);
    const early = [told(null, 2, false), told(a, 3, false)];
    expect(verdicts(termChecker(), early)).toHaveLength(2);
  });

  it('M11: a roster with strangers, or with more members than ids, is found', () => {
    const started = [a, b].map((node): Observation => ({ type: 'started', node }));
    const size = (memberCount: number) => reading({ memberCount });
    expect(verdicts(sizeChecker(), [...started, joined(b), size(2)])).toEqual([]);
    expect(verdicts(sizeChecker(), [...started, size(3)])).toHaveLength(1);
    const ghost = joined({ id: 'b', instance: 'b9' });
    expect(verdicts(sizeChecker(), [...started, ghost])).toHaveLength(1);
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
    const limits = { suspicionMs: 20_000, leaderSuspicionMinMs: 2_000 };
    expect(verdicts(evictionChecker(limits), [heard(5), gone('evicted', 20_005)])).toEqual([]);
    const early = [heard(5), gone('evicted', 20_000)];
    expect(verdicts(evictionChecker(limits), early)).toEqual([
      expect.stringMatching(/M5: a evicts b after 19995/),
    ]);
    expect(verdicts(evictionChecker(limits), [heard(5), gone('leave', 6)])).toEqual([]);
  });

  it('M5: a leader that is given up after less silence than makes a suspect is found', () => {
    const limits = { suspicionMs: 20_000, leaderSuspicionMinMs: 2_000 };
    const heard: Observation = { type: 'heard', node: a, from: b, local: 5 };
    const silent = (local: number): Observation => {
      return { ...change(a, null, 1), previous: b, reason: 'silent', local };
    };
    expect(verdicts(evictionChecker(limits), [heard, silent(3_505)])).toEqual([]);
    expect(verdicts(evictionChecker(limits), [heard, silent(3_500)])).toEqual([
      expect.stringMatching(/M5: a gives up b after 3495/),
    ]);
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

function change(node: typeof a, leader: typeof a | null, epoch: number) {
  const rest = { previous: null, reason: 'elected', local: 0 } as const;
  return { type: 'change', node, leader, epoch, ...rest } satisfies Observation;
}

/** Reads of `a`, a follower in a cluster of two, but for what is given. */
function reading(given: Partial<Extract<Observation, { type: 'read' }>>): Observation {
  const usual = { node: a, isSelf: false, epoch: 1, leader: null, isOver: false, memberCount: 2 };
  return { type: 'read', ...usual, ...given };
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
