import { oldestNode } from '@doyen/core';
import { describe, expect, it } from 'vitest';
import { faultSchedule } from '../../src/testing/fault-schedule.ts';
import { Lineage } from '../../src/testing/lineage.ts';
import { runSchedule, scenarioOf, shrinkSchedule } from '../../src/testing/schedule-run.ts';
import { perform } from '../../src/testing/script.ts';
import type { SimNode } from '../../src/testing/sim-node.ts';
import { SimulationError, simulate } from '../../src/testing/simulate.ts';
import { Story } from '../../src/testing/story.ts';

describe('fault schedules', () => {
  it('are the same for the same seed, end in calm, and leave out what they are told to', () => {
    const options = { seed: 5, nodes: 3, forMs: 600_000 };
    const script = faultSchedule(options);
    expect(script).toEqual(faultSchedule(options));
    expect(script).not.toEqual(faultSchedule({ ...options, seed: 6 }));
    expect(script[0]).toMatch(/^start seed=5 .*n1.* n2.* n3/);
    expect(script.at(-1)).toBe('settle');
    expect(script.some((line) => line.startsWith('partition'))).toBe(true);
    const without = faultSchedule({ ...options, without: ['partition'] });
    expect(without.some((line) => line.startsWith('partition'))).toBe(false);
  });

  it('tell a failed run by its error, with the command that repeats it', async () => {
    const script = ['start n1 n2 n3', 'crash n1', 'expect n1 within=10', 'calm'];
    const { error, views } = await runSchedule({ seed: 5, nodes: 3, forMs: 9_000, script });
    expect(error).toBeInstanceOf(SimulationError);
    expect(error?.message).toContain('npm run sim -- --seed 5 --nodes 3 --seconds 9');
    expect(views).toHaveLength(2);
  });

  it('are narrowed down to the lines that make them fail', async () => {
    const script = ['run 100', 'loss 0.01', 'run 5000', 'meta n3 7', 'partition n1 | n2 n3'];
    const options = { seed: 5, nodes: 3, forMs: 9_000 };
    const failing = [...script, 'crash n1', 'expect n1 within=50', 'heal', 'calm'];
    const run = await runSchedule({ ...options, script: ['start n1 n2 n3', ...failing] });
    const shrunk = await shrinkSchedule(options, run);
    expect(shrunk.script).toEqual(['start n1 n3', 'expect n1 within=50', 'calm']);
    expect(scenarioOf(shrunk)).toMatch(/^# not met within 50 ms.*\n.*\n\nstart n1 n3\nexpect n1/);
  });
});

describe('the end of a story', () => {
  it('E1: finds a leader that is outranked, and nothing that it could defend itself by', async () => {
    const { sim, tell } = storyOf('start n1 n2');
    await tell('run 5000');
    // Its application takes part behind the back of the story, which then looks wrong.
    sim.node('n1').leadership.setCandidacy(false);
    await expect(tell('settle')).rejects.toThrow('E1: n2 leads in epoch 2, but n1 ranks above it');
  });

  it('E13: finds a leader that is no candidate', async () => {
    const { sim, tell } = storyOf('start n1 n2');
    await tell('expect n1');
    await tell('candidacy n2 off');
    sim.node('n1').leadership.setCandidacy(false);
    sim.node('n2').leadership.setCandidacy(true);
    await expect(tell('settle')).rejects.toThrow('E13: n2 leads, but is no candidate');
  });

  it('E7: takes a leader for the right one that was given the lead, or won it at a meeting', async () => {
    for (const giving of ['transfer leader n2', 'resign leader']) {
      const { tell } = storyOf('start n1 n2 n3');
      await tell('expect n1');
      await tell(giving);
      await tell('expect n2');
      await tell('settle');
    }
    const { sim, tell } = storyOf('start n1 n2 n3');
    await tell('partition n1 n2 | n3');
    await tell('tiebreaker n3 nodeCount=5 createdAt=1');
    await tell('run 30000');
    expect(sim.node('n3').leadership.epoch).toBe(sim.node('n1').leadership.epoch);
    await tell('heal');
    await tell('expect n3');
    await tell('settle');
  });

  it('E7: does not let a leader defend itself once a better one has taken over', async () => {
    const { sim, tell } = storyOf('start n1 n2 n3');
    await tell('expect n1');
    await tell('transfer leader n3');
    await tell('expect n3');
    await tell('add n0 startedAt=5');
    await tell('expect n0');
    sim.node('n0').leadership.setCandidacy(false);
    await tell('run 5000');
    await expect(tell('settle')).rejects.toThrow(/E1: n\d leads in epoch 4/);
  });

  it('E7: finds a lead that was given, and taken by one that ranks below the giver', () => {
    const lineage = new Lineage(oldestNode());
    const node = (id: string, startedAt: number) => {
      const leadership = new EventTarget();
      const made = { id, instance: id, startedAt, leadership };
      lineage.follow(made as unknown as SimNode);
      return made;
    };
    const [giver, taker, third] = [node('a', 1), node('b', 3), node('c', 2)];
    const claim = (
      leader: typeof giver,
      epoch: number,
      reason: string,
      previous?: typeof giver,
    ) => {
      const event = Object.assign(new Event('change'), { leader, epoch, reason, previous });
      leader.leadership.dispatchEvent(event);
    };
    claim(giver, 1, 'elected');
    claim(taker, 2, 'transferred', giver);
    expect(lineage.complaint).toBeNull();
    claim(third, 3, 'preempted', taker);
    expect(lineage.complaint).toBe(
      'E7: c preempts in epoch 3, but a, who gave the lead, ranks above',
    );
  });

  it('E10: finds a cluster that does not come to rest', async () => {
    const { sim, tell } = storyOf('start n1 n2');
    // Later than everybody has come forward, and before the cluster has been calm for long enough.
    const late = sim.sleep(28_000).then(() => sim.node('n1').leadership.setCandidacy(false));
    await expect(tell('settle')).rejects.toThrow('not met within 0 ms');
    await late;
  });
});

function storyOf(start: string) {
  const story = new Story(start);
  return { sim: story.sim, tell: (line: string) => story.tell(line) };
}

describe('scripts', () => {
  it('refuse a line that is no command', async () => {
    const sim = simulate({ seed: 1, nodes: 1 });
    await expect(perform(sim, 'explode n1')).rejects.toThrow(
      'no such command in a script: explode',
    );
    expect(() => new Story('run 5')).toThrow('a story must begin with start, got run 5');
    expect(() => new Story('start n1@soon')).toThrow('no such node in a story: n1@soon');
  });

  it('let a leader give the lead up, whoever that is', async () => {
    const { sim, tell } = storyOf('start n1 n2 n3');
    await tell('resign leader');
    await tell('run 5000');
    await tell('transfer leader n3');
    await tell('expect n3 within=1000');
    await tell('resign leader');
    await tell('expect n1 within=1000');
    expect(sim.node('n1').leadership.epoch).toBe(3);
  });

  it('read a tiebreaker that says something else each time', async () => {
    const { sim, tell } = storyOf('start n1');
    let read: (() => unknown) | null = null;
    sim.node('n1').leadership.setTiebreaker = (given) => {
      read = given;
    };
    await tell('tiebreaker n1 live=3');
    const readings = Array.from({ length: 9 }, () => JSON.stringify(read?.()));
    expect(new Set(readings).size).toBeGreaterThan(3);
  });
});
