import { highestId, oldestNode } from '@doyen/core';
import { type SimNode, type SimulateOptions, SimulationError, simulate } from '@doyen/core/testing';
import { describe, expect, it } from 'vitest';
import { agrees } from '../../src/testing/script.ts';

describe('simulate', () => {
  it('gives the same bytes for the same seed, every message included, and others for another', async () => {
    const [one, two, other] = [await eventful(7), await eventful(7), await eventful(8)];
    expect(one).toBe(two);
    expect(one).not.toBe(other);
    expect(one.split('\n').length).toBeGreaterThan(500);
  });

  it('counts nodes from n1, or takes ids and options as given', async () => {
    expect(simulate({ seed: 1, nodes: 2 }).ids).toEqual(['n1', 'n2']);
    const sim = simulate({ seed: 1, nodes: ['a', { id: 'b', startedAt: 5, voter: false }] });
    expect(sim.ids).toEqual(['a', 'b']);
    expect(await sim.runUntil(() => agrees(sim))).toBeGreaterThan(0);
    expect(sim.node('a').leadership.current?.id).toBe('b');
  });

  it('takes the election and what else join() takes', async () => {
    const sim = simulate({ seed: 1, nodes: 3, election: highestId, meta: { from: 'test' } });
    await sim.runUntil(() => agrees(sim));
    expect(sim.node('n1').leadership.current).toMatchObject({ id: 'n3', meta: { from: 'test' } });
  });

  it('spreads starts, and a node that has not started yet can be used already', async () => {
    const sim = simulate({ seed: 3, nodes: 4, startSpreadMs: 2_000 });
    const leader = sim.node('n4').leadership.waitForLeader();
    await sim.runUntil(() => agrees(sim));
    expect(sim.now).toBeGreaterThan(500);
    const stamps = sim.node('n1').members.map(({ startedAt }) => startedAt);
    expect(new Set(stamps).size).toBe(4);
    expect((await leader).id).toBe(sim.node('n1').leadership.current?.id);
  });

  it('runs for as long as it is told, and not at all before', async () => {
    const sim = simulate({ seed: 1, nodes: 1 });
    expect([sim.now, sim.node('n1').leadership.isSelf]).toEqual([0, false]);
    await sim.run(1_234);
    expect(sim.now).toBe(1_234);
    await expect(Promise.all([sim.run(1), sim.run(1)])).rejects.toThrow(TypeError);
  });

  it('says when, with which seed and after which events something was not reached', async () => {
    const sim = simulate({ seed: 42, nodes: 2, replay: 'npm run sim -- --seed 42' });
    const failure = await sim.runUntil(() => false, { withinMs: 900 }).catch(String);
    expect(failure).toContain('SimulationError: not met within 900 ms: () => false');
    expect(failure).toContain('at 900 ms, seed 42; npm run sim -- --seed 42');
    expect(failure).toMatch(/ n1 {2}change nobody -> n1 epoch=1 \(elected\)/);
  });

  it('rejects when a checker finds a rule violated', async () => {
    const sim = simulate({ seed: 1, nodes: 2 });
    await sim.runUntil(() => agrees(sim));
    Object.defineProperty(sim.node('n2').leadership, 'epoch', { get: () => 0 });
    const failure = sim.run(5_000);
    await expect(failure).rejects.toThrow(SimulationError);
    await expect(failure).rejects.toThrow('E4: the epoch of n2 went back from 1 to 0');
  });

  it.each<[unknown, ErrorConstructor, string]>([
    [undefined, TypeError, 'options must be an object, got undefined'],
    [{}, TypeError, 'seed must be a number, got undefined'],
    [{ seed: '1' }, TypeError, 'seed must be a number, got "1"'],
    [
      { seed: 1, nodes: 'n1' },
      TypeError,
      'nodes must be a number, or an array of ids and of { id }, got "n1"',
    ],
    [
      { seed: 1, nodes: [{}] },
      TypeError,
      'nodes must be a number, or an array of ids and of { id }, got an array',
    ],
    [{ seed: 1, election: oldestNode() }, TypeError, 'election must be a function, got an object'],
    [{ seed: 1, latencyMs: 5 }, TypeError, 'latencyMs must be an array of two numbers, got 5'],
    [{ seed: 1, startSpreadMs: '1' }, TypeError, 'startSpreadMs must be a number, got "1"'],
    [{ seed: 1, jitter: 'on' }, TypeError, 'jitter must be true or false, got "on"'],
    [{ seed: 1, trace: 'all' }, RangeError, "trace must be 'events' or 'messages', got \"all\""],
    [{ seed: 1, started: true }, TypeError, 'started must be a function, got true'],
    [{ seed: 1, latency: [1, 2] }, TypeError, 'latency is no option'],
  ])('names what is wrong with the options %j', (options, type, message) => {
    expect(refusalOf(() => simulate(options as SimulateOptions))).toEqual([type, message]);
  });

  it('names what is wrong with the arguments of what happens', async () => {
    const sim = simulate({ seed: 1, nodes: 2 });
    const until = (...args: unknown[]) => sim.runUntil(...(args as [() => boolean]));
    await expect(until(5)).rejects.toThrow(new TypeError('isMet must be a function, got 5'));
    const never = () => false;
    await expect(until(never, 5)).rejects.toThrow('options must be an object, got 5');
    await expect(until(never, { within: 5 })).rejects.toThrow(new TypeError('within is no option'));
    await expect(until(never, { withinMs: -1 })).rejects.toThrow(RangeError);
    const cut = (options: object) => () => sim.net.cut('n1', 'n2', options);
    expect(cut({ oneway: true })).toThrow(new TypeError('oneway is no option'));
    expect(() => sim.restart('n1', { amnesic: true } as object)).toThrow('amnesic is no option');
  });

  it('names the option or the id that is wrong', () => {
    expect(() => simulate({ seed: -1 })).toThrow(/^seed must be from 0 to \d+, got -1$/);
    expect(() => simulate({ seed: 1, nodes: 1.5 })).toThrow('nodes must be whole, got 1.5');
    expect(() => simulate({ seed: 1, nodes: ['a', 'a'] })).toThrow('got a twice');
    expect(() => simulate({ seed: 1, latencyMs: [9, 3] })).toThrow('latencyMs[1] must be from 9');
    const sim = simulate({ seed: 1, nodes: 2 });
    expect(() => sim.node('n3')).toThrow('id must be one of n1, n2, got n3');
    expect(() => sim.net.cut('n1', 'x')).toThrow('id must be one of n1, n2, got x');
    expect(() => sim.add('n1')).toThrow(RangeError);
    sim.crash('n1');
    expect(() => sim.crash('n1')).toThrow('n1 must run, but it has ended');
  });

  it('runs user code in virtual time: lead, ready, sleep and channels', async () => {
    const sim = simulate({ seed: 1, nodes: 2 });
    const said: string[] = [];
    sim
      .node('n2')
      .channel('work')
      .addEventListener('message', ({ data, epoch }) => {
        said.push(`${data[0]} in epoch ${epoch} at ${sim.now > 5_000 ? 'second 5' : 'once'}`);
      });
    const work = sim.node('n1').leadership.lead(async (term) => {
      await sim.node('n1').ready();
      for (const value of [1, 2]) {
        term.channel('work').broadcast(Uint8Array.of(value));
        await sim.sleep(5_000, { signal: term.signal });
      }
    });
    await sim.run(20_000);
    expect(said).toEqual(['1 in epoch 1 at once', '2 in epoch 1 at second 5']);
    sim.leave('n1');
    await sim.runUntil(() => sim.node('n1').state === 'left');
    await sim.run(1_000);
    await expect(work).resolves.toBeUndefined();
  });

  it('records public events with ids, oldest first', async () => {
    const sim = simulate({ seed: 1, nodes: 2 });
    await sim.runUntil(() => agrees(sim));
    const { events } = sim.node('n2');
    expect(events.find(({ type }) => type === 'memberjoin')).toMatchObject({ member: 'n1' });
    const change = { type: 'change', leader: 'n1', epoch: 1, previous: null, reason: 'elected' };
    expect(events.at(-1)).toMatchObject(change);
    expect(events.map(({ at }) => at)).toEqual(
      events.map(({ at }) => at).toSorted((a, b) => a - b),
    );
  });

  it('counts what the network has carried', async () => {
    const sim = simulate({ seed: 1, nodes: 2 });
    await sim.run(10_000);
    const [one, two] = [sim.stats('n1'), sim.stats('n2')];
    expect(one.messagesSent).toBeGreaterThan(5);
    expect(one.bytesSent).toBeGreaterThan(one.messagesSent);
    expect(two.messagesReceived).toBeGreaterThanOrEqual(one.messagesSent - 2);
  });
});

describe('simulated faults', () => {
  it('M5: a crashed leader is replaced, and its own handle stays as it was', async () => {
    const sim = await settled(4);
    const crashed = sim.node('n1');
    sim.crash('n1');
    await sim.runUntil(() => agrees(sim), { withinMs: 30_000 });
    expect(sim.running).toEqual(['n2', 'n3', 'n4']);
    expect(sim.node('n2').leadership.epoch).toBeGreaterThan(1);
    expect(crashed.members).toHaveLength(4);
  });

  it('M1: a restarted node is another instance of the same id', async () => {
    const sim = await settled(3);
    const before = sim.node('n2').instance;
    const after = sim.restart('n2');
    await sim.runUntil(() => agrees(sim), { withinMs: 30_000 });
    expect(sim.node('n2')).toBe(after);
    expect(after.instance).not.toBe(before);
    expect(eventsOf(sim.node('n3'), 'memberleave')).toMatchObject([
      { member: 'n2', reason: 'replaced' },
    ]);
  });

  it('M9, E8: a paused leader does not say that it leads when it resumes', async () => {
    const sim = await settled(3);
    sim.pause('n1');
    await sim.run(10_000);
    expect(sim.node('n2').leadership.current?.id).not.toBe('n1');
    sim.resume('n1');
    expect(sim.node('n1').leadership.isSelf).toBe(false);
    await sim.runUntil(() => agrees(sim), { withinMs: 10_000 });
  });

  it('E13: a frozen leader hands over at once', async () => {
    const sim = await settled(3);
    sim.freeze('n1');
    expect(sim.node('n1').leadership.isSelf).toBe(false);
    expect(await sim.runUntil(() => sim.node('n2').leadership.isSelf)).toBeLessThan(1_000);
    sim.thaw('n1');
    await sim.runUntil(() => agrees(sim), { withinMs: 10_000 });
  });

  it('M5: proof of death evicts at once', async () => {
    const sim = await settled(3);
    sim.proof('n1');
    expect(await sim.runUntil(() => agrees(sim))).toBeLessThan(1_000);
    expect(eventsOf(sim.node('n2'), 'memberleave')).toMatchObject([
      { member: 'n1', reason: 'gone' },
    ]);
  });

  it('M7: a node may also leave by itself', async () => {
    const sim = await settled(3);
    const left = sim.node('n1').leave();
    await sim.runUntil(() => agrees(sim) && sim.running.length === 2);
    await sim.run(1_000);
    await left;
    expect(eventsOf(sim.node('n2'), 'memberleave')).toMatchObject([
      { member: 'n1', reason: 'leave' },
    ]);
  });

  it('M8: a partition heals by itself', async () => {
    const sim = await settled(5);
    sim.net.partition([
      ['n1', 'n2'],
      ['n3', 'n4', 'n5'],
    ]);
    await sim.run(40_000);
    expect(sim.node('n3').members.map(({ id }) => id)).toEqual(['n3', 'n4', 'n5']);
    expect(sim.node('n1').members.map(({ id }) => id)).toEqual(['n1', 'n2']);
    sim.net.heal();
    await sim.runUntil(() => agrees(sim), { withinMs: 30_000 });
  });

  it('partition makes one group of the nodes that it does not name', async () => {
    const sim = await settled(4);
    sim.net.partition([['n1']]);
    await sim.run(40_000);
    expect(sim.node('n2').members.map(({ id }) => id)).toEqual(['n2', 'n3', 'n4']);
    expect(sim.node('n1').members.map(({ id }) => id)).toEqual(['n1']);
  });

  it('M9: a throttled node keeps its place', async () => {
    const sim = await settled(3);
    sim.throttle('n1', 1_000);
    await sim.run(60_000);
    expect(sim.node('n2').leadership.current?.id).toBe('n1');
    expect(sim.node('n2').leadership.epoch).toBe(1);
  });

  it('a clock that runs fast, or jumps on the wall, changes no leader', async () => {
    const sim = await settled(3);
    sim.clock('n1', { jumpMs: -86_400_000 });
    sim.clock('n2', { rate: 1.1 });
    await sim.run(60_000);
    expect(agrees(sim)).toBe(true);
    expect(sim.node('n3').leadership.epoch).toBe(1);
  });

  it('X1: effects of a paused leader do not get past the fence after the takeover', async () => {
    const sim = simulate({ seed: 5, nodes: 3 });
    const fence = sim.fence('store');
    for (const id of sim.ids) {
      const work = sim.node(id).leadership.lead(async (term) => {
        // Careless on purpose: it does not look at its signal.
        for (let round = 0; round < 30; round += 1) {
          fence.admit(term.token);
          await sim.sleep(1_000);
        }
      });
      work.catch(() => undefined);
    }
    await sim.run(5_000);
    sim.pause('n1');
    await sim.run(20_000);
    sim.resume('n1');
    await sim.run(10_000);
    const verdicts = new Set(fence.log.map(({ verdict }) => verdict));
    expect([...verdicts].toSorted()).toEqual(['admitted', 'stale']);
    expect(fence.high()).toBeGreaterThan(1);
  });

  it('keeps how a store fails, until its node loses it', () => {
    const sim = simulate({ seed: 1, nodes: 1 });
    sim.store('n1').fail('torn');
    expect(sim.store('n1').failure).toBe('torn');
    sim.restart('n1');
    expect(sim.store('n1').failure).toBe('torn');
    sim.restart('n1', { amnesia: true });
    expect(sim.store('n1').failure).toBeNull();
  });
});

async function settled(nodes: number) {
  const sim = simulate({ seed: 11, nodes });
  await sim.runUntil(() => agrees(sim));
  return sim;
}

/** What is thrown, by its class and its words. */
function refusalOf(act: () => unknown): [unknown, string] {
  try {
    act();
  } catch (error) {
    return [(error as Error).constructor, (error as Error).message];
  }
  throw new Error('expected a refusal');
}

function eventsOf(node: SimNode, type: string) {
  return node.events.filter((event) => event.type === type);
}

/** A run with most kinds of faults, and user code in it. */
async function eventful(seed: number): Promise<string> {
  const sim = simulate({ seed, nodes: 4, startSpreadMs: 500, trace: 'messages' });
  sim.node('n2').leadership.lead(async (term) => {
    await term.confirm();
    term.channel('work').broadcast(Uint8Array.of(1));
  });
  await sim.run(3_000);
  sim.net.loss(0.05);
  sim.net.duplicate(0.05);
  sim.net.reorder(0.05);
  sim.crash('n1');
  await sim.run(8_000);
  sim.add('n5');
  sim.freeze('n3');
  sim.clock('n4', { rate: 1.01 });
  await sim.run(8_000);
  sim.thaw('n3');
  await sim.run(5_000);
  return sim.trace();
}
