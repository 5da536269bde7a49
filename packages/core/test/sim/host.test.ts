import { describe, expect, it } from 'vitest';
import { SimClock } from '../../src/testing/sim-clock.ts';
import { Stage } from './stage.ts';

describe('SimHost', () => {
  it('fires timers after at least their delay, in whole milliseconds', () => {
    const { stage, host, fired } = watched();
    host.timer(fired('late'), 10.2);
    host.timer(fired('soon'), 0);
    stage.run(50);
    expect(fired.log).toEqual(['soon@1', 'late@11']);
  });

  it('does not fire a cancelled timer, nor any after it has stopped', () => {
    const { stage, host, fired } = watched();
    host.timer(fired('cancelled'), 5)();
    host.timer(fired('stopped'), 20);
    stage.run(10);
    host.stop();
    host.timer(fired('after'), 1);
    stage.run(50);
    expect(fired.log).toEqual([]);
  });

  it('gives what was queued in a pause before overdue timers, each in its order', () => {
    const { stage, host, fired } = watched();
    host.timer(fired('second'), 30);
    host.timer(fired('first'), 20);
    host.pause();
    host.arrive(fired('message 1'));
    stage.run(100);
    host.arrive(fired('message 2'));
    expect(fired.log).toEqual([]);
    host.resume(fired('resumed'));
    stage.run(0);
    expect(fired.log).toEqual([
      'resumed@100',
      'message 1@100',
      'message 2@100',
      'first@100',
      'second@100',
    ]);
  });

  it('keeps what is queued when it is paused again at once', () => {
    const { stage, host, fired } = watched();
    host.pause();
    host.arrive(fired('message'));
    host.timer(fired('timer'), 5);
    stage.run(10);
    host.resume(() => undefined);
    host.pause();
    stage.run(10);
    expect(fired.log).toEqual([]);
    host.resume(() => undefined);
    stage.run(0);
    expect(fired.log).toEqual(['message@20', 'timer@20']);
  });

  it('M9: fires timers of a throttled page on the grid only, while messages still come', () => {
    const { stage, host, fired } = watched();
    host.timer(fired('before'), 1500);
    host.throttle(1000);
    host.timer(fired('after'), 100);
    stage.run(500);
    host.arrive(fired('message'));
    stage.run(2000);
    expect(fired.log).toEqual(['message@500', 'after@1000', 'before@2000']);
    host.timer(fired('free'), 700);
    host.throttle(0);
    stage.run(1000);
    expect(fired.log.at(-1)).toBe('free@3200');
  });

  it('runs its timers and its monotonic clock at its own rate, also in the middle of a timer', () => {
    const { stage, host, fired } = watched();
    host.timer(fired('timer'), 100);
    stage.run(50);
    host.setClock({ rate: 2 });
    stage.run(100);
    expect(fired.log).toEqual(['timer@75']);
    expect(host.now()).toBe(250);
  });
});

describe('SimClock', () => {
  it('stands still before its host starts', () => {
    const stage = new Stage();
    const clock = new SimClock(stage.scheduler, 40, 7);
    const first = { now: clock.now(), wall: clock.wallNow() };
    stage.run(40);
    expect({ now: clock.now(), wall: clock.wallNow() }).toEqual(first);
    stage.run(5);
    expect({ now: clock.now(), wall: clock.wallNow() }).toEqual({ now: 12, wall: first.wall + 5 });
  });

  it('jumps on the wall only', () => {
    const stage = new Stage();
    const clock = new SimClock(stage.scheduler, 0, 0);
    const wall = clock.wallNow();
    clock.jump(-3_600_000);
    expect([clock.now(), clock.wallNow()]).toEqual([0, wall - 3_600_000]);
  });
});

function watched() {
  const stage = new Stage();
  const log: string[] = [];
  const fired = (name: string) => () => void log.push(`${name}@${stage.scheduler.now}`);
  return { stage, host: stage.host(), fired: Object.assign(fired, { log }) };
}
