import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Scheduler } from '../../src/testing/scheduler.ts';

describe('Scheduler', () => {
  it('takes tasks by time, and those of one instant in the order of scheduling', () => {
    const times = fc.array(fc.nat(20), { maxLength: 60 });
    fc.assert(
      fc.property(times, (planned) => {
        const scheduler = new Scheduler();
        const ran: [number, number][] = [];
        for (const [index, at] of planned.entries())
          scheduler.schedule(at, () => ran.push([at, index]));
        runAll(scheduler);
        const expected = planned.map((at, index): [number, number] => [at, index]);
        expect(ran).toEqual(expected.sort((one, two) => one[0] - two[0] || one[1] - two[1]));
      }),
    );
  });

  it('moves its clock to the task that it takes, and never back', () => {
    const scheduler = new Scheduler();
    const seen: number[] = [];
    scheduler.schedule(7, () => {
      scheduler.schedule(3, () => seen.push(scheduler.now));
      seen.push(scheduler.now);
    });
    runAll(scheduler);
    expect(seen).toEqual([7, 7]);
    scheduler.advanceTo(5);
    expect(scheduler.now).toBe(7);
  });

  it('leaves out cancelled tasks and what is due later', () => {
    const scheduler = new Scheduler();
    const ran: number[] = [];
    const first = scheduler.schedule(1, () => ran.push(1));
    scheduler.schedule(2, () => ran.push(2));
    scheduler.schedule(9, () => ran.push(9));
    first.cancelled = true;
    scheduler.take(5)?.run();
    expect(scheduler.take(5)).toBeNull();
    expect(ran).toEqual([2]);
  });
});

function runAll(scheduler: Scheduler): void {
  for (let task = scheduler.take(100); task !== null; task = scheduler.take(100)) task.run();
}
