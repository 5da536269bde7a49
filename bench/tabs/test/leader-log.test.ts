import { describe, expect, it } from 'vitest';
import { judge } from '../aims.mjs';
import { figure } from '../figure.mjs';
import { LeaderLog } from '../leader-log.mjs';

describe('who leads, by what the tabs tell', () => {
  it('goes by the times, in whatever order they are told', () => {
    const log = new LeaderLog();
    log.leads('b', 20);
    log.leads('a', 10);
    log.loses('a', 19);
    expect(log.most).toBe(1);
    expect(log.soleSince).toBe(20);
    expect([...log.leaders]).toEqual(['b']);
  });

  it('counts those that lead at one instant', () => {
    const log = new LeaderLog();
    log.leads('a', 10);
    log.leads('b', 20);
    expect(log.soleSince).toBeNull();
    log.loses('a', 21);
    expect(log.most).toBe(2);
    expect(log.soleSince).toBe(21);
  });

  it('takes what is told twice, and a loss without a lead, for nothing', () => {
    const log = new LeaderLog();
    log.loses('b', 5);
    for (let times = 0; times < 2; times += 1) log.leads('a', 10);
    log.loses('c', 30);
    expect(log.most).toBe(1);
    expect(log.soleSince).toBe(10);
    for (let times = 0; times < 2; times += 1) log.loses('a', 40);
    expect(log.soleSince).toBeNull();
  });

  it('finds the first successor: another than the former leader, and after the act', () => {
    const log = new LeaderLog();
    log.leads('b', 5);
    log.leads('a', 10);
    log.leads('a', 21);
    expect(log.successionAfter(20, 'a')).toBeNull();
    log.leads('c', 30);
    log.leads('b', 25);
    expect(log.successionAfter(20, 'a')).toBe(25);
  });
});

describe('figures', () => {
  it('say how many have never come', () => {
    const never = Number.POSITIVE_INFINITY;
    expect(figure([never, never], 30_000)).toBe('never (30 s)');
    expect(figure([never, 12], 30_000)).toBe('12; 1 of 2 never (30 s)');
    expect(figure([10, 12, 30], 30_000)).toBe('12 (10–30)');
  });

  it('ask for half as much again at most where bare locks work, and for anything where not', () => {
    expect(judge(15, 10)).toEqual(['1.5 ×', '1.50 ×', 'yes']);
    expect(judge(15.1, 10)).toEqual(['1.5 ×', '1.51 ×', '**no**']);
    expect(judge(Number.POSITIVE_INFINITY, 10).at(-1)).toBe('**no**');
    const hung = Number.POSITIVE_INFINITY;
    expect(judge(25_000, hung)).toEqual(['finite', '25000 ms', 'yes']);
    expect(judge(hung, hung)).toEqual(['finite', 'never', '**no**']);
  });
});
