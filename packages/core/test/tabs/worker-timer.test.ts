import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type TimerWorker, WorkerTimer } from '../../src/tabs/worker-timer.ts';

/** A worker that answers when it is told to. */
class HandWorker implements TimerWorker {
  onmessage: Worker['onmessage'] = null;
  onerror: Worker['onerror'] = null;
  readonly told: unknown[] = [];
  isTerminated = false;

  postMessage(message: unknown): void {
    this.told.push(message);
  }

  terminate(): void {
    this.isTerminated = true;
  }

  answer(id: number): void {
    this.onmessage?.call(this as unknown as Worker, new MessageEvent('message', { data: id }));
  }

  fail(message: string): void {
    const event = Object.assign(new Event('error', { cancelable: true }), { message });
    this.onerror?.call(this as unknown as Worker, event as ErrorEvent);
  }
}

describe('timers of a hidden page', () => {
  const page = { visibilityState: 'hidden' };
  const workers: HandWorker[] = [];
  const problems: string[] = [];
  const fired: string[] = [];
  let timers: WorkerTimer;

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    vi.stubGlobal('document', page);
    page.visibilityState = 'hidden';
    for (const list of [workers, problems, fired]) list.length = 0;
    timers = new WorkerTimer(make, (why) => problems.push(why));
  });

  afterEach(() => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });

  function make(): HandWorker {
    const worker = new HandWorker();
    workers.push(worker);
    return worker;
  }

  it('B3: the worker fires them, and the plain timer does not fire again', () => {
    timers.set(() => fired.push('one'), 100.2);
    expect(workers[0]?.told).toEqual([[0, 101]]);
    workers[0]?.answer(0);
    expect(fired).toEqual(['one']);
    vi.advanceTimersByTime(200);
    workers[0]?.answer(0);
    expect(fired).toEqual(['one']);
  });

  it('B3: the plain timer fires where the worker does not, and the worker does not fire again', () => {
    timers.set(() => fired.push('one'), 100);
    vi.advanceTimersByTime(100);
    workers[0]?.answer(0);
    expect(fired).toEqual(['one']);
  });

  it('B3: a cancelled timer fires in neither way', () => {
    const cancel = timers.set(() => fired.push('one'), 100);
    cancel();
    cancel();
    workers[0]?.answer(0);
    vi.advanceTimersByTime(200);
    expect(fired).toEqual([]);
  });

  it('B3: one worker serves all timers, and a visible page or a process has none', () => {
    page.visibilityState = 'visible';
    timers.set(() => fired.push('visible'), 10);
    vi.stubGlobal('document', undefined);
    timers.set(() => fired.push('process'), 10);
    expect(workers).toHaveLength(0);
    vi.stubGlobal('document', page);
    page.visibilityState = 'hidden';
    timers.set(() => fired.push('hidden'), 10);
    timers.set(() => fired.push('hidden too'), 10);
    expect(workers).toHaveLength(1);
    vi.advanceTimersByTime(10);
    expect(fired).toEqual(['visible', 'process', 'hidden', 'hidden too']);
  });

  it('B3: a worker that cannot be made, or does not start, is told once; plain timers remain', () => {
    timers.set(() => fired.push('one'), 100);
    workers[0]?.fail('blocked by the policy of the page');
    timers.set(() => fired.push('two'), 100);
    workers[0]?.fail('again');
    expect(workers).toHaveLength(1);
    expect(workers[0]?.isTerminated).toBe(true);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain('blocked by the policy of the page');
    vi.advanceTimersByTime(100);
    expect(fired).toEqual(['one', 'two']);
    const refused = new WorkerTimer(
      () => {
        throw new DOMException('denied', 'SecurityError');
      },
      (why) => problems.push(why),
    );
    refused.set(() => fired.push('three'), 100);
    vi.advanceTimersByTime(100);
    expect(fired).toEqual(['one', 'two', 'three']);
    expect(problems[1]).toContain('SecurityError: denied');
  });

  it('B3: with worker: false there is none, and nothing to tell', () => {
    const plain = new WorkerTimer(false, (why) => problems.push(why));
    plain.set(() => fired.push('one'), 100);
    vi.advanceTimersByTime(100);
    expect([fired, problems, workers]).toEqual([['one'], [], []]);
  });

  it('B3: closed, it ends its worker, and what is set still fires', () => {
    timers.set(() => fired.push('one'), 100);
    timers.close();
    timers.set(() => fired.push('two'), 100);
    expect(workers.map(({ isTerminated }) => isTerminated)).toEqual([true]);
    vi.advanceTimersByTime(100);
    expect([fired, problems]).toEqual([['one', 'two'], []]);
  });
});
