import { describe, expect, it } from 'vitest';
import { DoyenError } from '../../src/runtime/error.ts';
import type { Transport } from '../../src/transport/transport.ts';
import { Cluster } from './cluster.ts';
import { settle } from './virtual-host.ts';

function codeOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => 'resolved',
    (error: unknown) => (error instanceof DoyenError ? error.code : error),
  );
}

describe('a node', () => {
  it('E9: is ready, and leads, as soon as it knows that it is alone', async () => {
    const cluster = new Cluster();
    const { node } = cluster.add('a');
    expect([node.state, node.leadership.epoch, node.leadership.current]).toEqual([
      'joining',
      0,
      null,
    ]);
    await cluster.pass(10);
    await node.ready();
    expect([node.state, node.leadership.isSelf, node.leadership.epoch]).toEqual([
      'joined',
      true,
      1,
    ]);
    expect(node.members.map(({ id, link }) => [id, link])).toEqual([['a', 'self']]);
    expect(node.members).toBe(node.members);
    expect(node.instance).toMatch(/^[0-9a-z]{16}$/);
  });

  it('E9: leads alone after joinGraceMs when its transport finds nothing out', async () => {
    const cluster = new Cluster();
    const silent: Transport = {
      start: () => undefined,
      send: () => 'dropped',
      close: async () => undefined,
    };
    const { node } = cluster.add('a', { transport: silent, joinGraceMs: 500 });
    await cluster.pass(499);
    expect(node.state).toBe('joining');
    await cluster.pass(200);
    expect(node.leadership.isSelf).toBe(true);
  });

  it('E1, E5: agrees with the others on the oldest', async () => {
    const seats = await new Cluster().of('c', 'b', 'a');
    expect(seats.map(({ node }) => node.leadership.current?.id)).toEqual(['c', 'c', 'c']);
    expect(seats.map(({ node }) => node.members.map(({ id }) => id).join())).toEqual([
      'a,b,c',
      'a,b,c',
      'a,b,c',
    ]);
    expect(seats.map(({ node }) => node.leadership.isSelf)).toEqual([true, false, false]);
  });

  it('M3: what it says of itself reaches the others', async () => {
    const cluster = new Cluster();
    const [a, b] = await cluster.of('a', 'b');
    const meta = { color: 'red' };
    const seen: unknown[] = [];
    b?.node.addEventListener('memberupdate', ({ member }) => seen.push(member.meta));
    a?.node.setMeta(meta);
    meta.color = 'blue';
    await cluster.pass(2000);
    expect(seen).toEqual([{ color: 'red' }]);
    expect(() => a?.node.setMeta('x'.repeat(1023))).toThrow(
      new RangeError('meta must be at most 1024 bytes of JSON, got 1025'),
    );
    expect(() => a?.node.setMeta(() => 1)).toThrow(TypeError);
  });

  it('M7, E7: a leave is told first, and the next leader follows without suspicion', async () => {
    const cluster = new Cluster();
    const [a, b] = await cluster.of('a', 'b');
    if (!a || !b) throw new Error('two nodes were asked for');
    const log: string[] = [];
    b.node.addEventListener('membersuspect', () => log.push('suspect'));
    b.node.addEventListener('memberleave', ({ member, reason }) => {
      log.push(`memberleave ${member.id} ${reason}`);
      expect(b.node.members.map(({ id }) => id)).toEqual(['b']);
    });
    b.node.leadership.addEventListener('change', ({ leader, reason, epoch }) => {
      log.push(`change ${leader?.id} ${reason} ${epoch}`);
    });
    const before = b.node.leadership.epoch;
    const left = a.node.leave();
    await cluster.pass(50);
    await left;
    expect(a.node.state).toBe('left');
    expect(log).toEqual([
      'memberleave a leave',
      `change undefined leave ${before}`,
      `change b elected ${before + 1}`,
    ]);
  });

  it('M7: leave() is idempotent, and what comes after it has no effect', async () => {
    const cluster = new Cluster();
    const { node } = cluster.add('a');
    await cluster.pass(10);
    const states: string[] = [];
    node.addEventListener('statechange', ({ state }) => states.push(state));
    const calls = [node.leave(), node.leave(), node[Symbol.asyncDispose]()];
    await cluster.pass(2000);
    await Promise.all(calls);
    node.setMeta(1);
    node.leadership.setCandidacy(true);
    expect(node.channel('x').send('b', new Uint8Array(1))).toBe('dropped');
    expect(await codeOf(node.leadership.lead(() => undefined))).toBe('left');
    expect(await codeOf(node.leadership.waitForLeader())).toBe('left');
    await node.leadership.resign();
    expect([states, node.state, node.leadership.isSelf]).toEqual([['left'], 'left', false]);
    expect(cluster.host.timerCount).toBe(0);
  });

  it('M7: a leave that nobody acknowledges ends after a second', async () => {
    const cluster = new Cluster();
    const [a, b] = await cluster.of('a', 'b');
    b?.transport.crash();
    let hasLeft = false;
    void a?.node.leave().then(() => {
      hasLeft = true;
    });
    await cluster.pass(900);
    expect(hasLeft).toBe(false);
    await cluster.pass(200);
    expect(hasLeft).toBe(true);
  });

  it('a leave before it is ready ends ready() with the code left', async () => {
    const cluster = new Cluster();
    const { node } = cluster.add('a');
    const ready = codeOf(node.ready());
    void node.leave();
    await cluster.pass(1100);
    expect(await ready).toBe('left');
    expect(await codeOf(node.ready({ signal: AbortSignal.abort('no') }))).toBe('no');
    await expect(node.ready({ signal: 5 as never })).rejects.toThrow('signal must be an object');
  });

  it('tells when its transport does not close', async () => {
    const cluster = new Cluster();
    const transport: Transport = {
      start: (handler) => handler.discovery(0),
      send: () => 'dropped',
      close: () => new Promise(() => undefined),
    };
    const { node } = cluster.add('a', { transport });
    const faults: string[] = [];
    node.addEventListener('fault', ({ code }) => faults.push(code));
    const left = node.leave();
    await cluster.pass(2000);
    await left;
    expect(faults).toEqual(['close-failed']);
  });

  it('is not made when its transport cannot start', () => {
    const cluster = new Cluster();
    const transport: Transport = {
      start: () => {
        throw new DoyenError('unsupported', 'no such thing here');
      },
      send: () => 'dropped',
      close: async () => undefined,
    };
    expect(() => cluster.add('a', { transport })).toThrow('no such thing here');
    expect(cluster.host.timerCount).toBe(0);
  });

  it('E12: fails when its cluster elects by another rule', async () => {
    const cluster = new Cluster();
    await cluster.of('a');
    const { node } = cluster.add('b', { seniority: 'wall-clock' });
    const errors: unknown[] = [];
    node.addEventListener('statechange', ({ state, error }) => errors.push(state, error?.code));
    const call = codeOf(node.leadership.lead(() => undefined));
    await cluster.pass(1000);
    expect(errors.slice(-2)).toEqual(['failed', 'election-mismatch']);
    expect(await call).toBe('election-mismatch');
    await node.leave();
    expect(node.state).toBe('failed');
  });
});

describe('the page lifecycle', () => {
  it('B2, W4: pagehide says goodbye within its own task', async () => {
    const cluster = new Cluster();
    const [a, b] = await cluster.of('a', 'b');
    if (!a || !b) throw new Error('two nodes were asked for');
    const epoch = b.node.leadership.epoch;
    a.report('pagehide');
    expect([a.node.state, a.node.leadership.isSelf]).toEqual(['left', false]);
    await cluster.pass(10);
    expect([b.node.leadership.current?.id, b.node.leadership.epoch]).toEqual(['b', epoch + 1]);
    expect(cluster.host.timerCount).toBe(1);
  });

  it('B2, E8: freeze hands the lead over, and a thawed node follows', async () => {
    const cluster = new Cluster();
    const [a, b] = await cluster.of('a', 'b');
    if (!a || !b) throw new Error('two nodes were asked for');
    const reasons: string[] = [];
    void a.node.leadership.lead(async ({ signal }) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      reasons.push(signal.reason.code);
      throw signal.reason;
    });
    a.transport.freeze();
    expect([a.node.leadership.isSelf, a.node.leadership.current]).toEqual([false, null]);
    await cluster.pass(3000);
    expect(b.node.leadership.isSelf).toBe(true);
    a.transport.thaw();
    await cluster.pass(1000);
    expect(a.node.leadership.current?.id).toBe('b');
    expect(reasons).toEqual(['frozen']);
  });

  it('B2: a frozen node can leave', async () => {
    const cluster = new Cluster();
    const { node, report } = cluster.add('a');
    await cluster.pass(10);
    report('freeze');
    const left = node.leave();
    await cluster.pass(1000);
    await left;
    expect(node.state).toBe('left');
  });
});

describe('leadership', () => {
  it('E13, Q10: a transfer goes to the member that was named, work drained first', async () => {
    const cluster = new Cluster();
    const [a, b, c] = await cluster.of('a', 'b', 'c');
    if (!a || !b || !c) throw new Error('three nodes were asked for');
    const log: string[] = [];
    for (const { node } of [a, c]) {
      void node.leadership.lead(async ({ signal }) => {
        log.push(`${node.id} begins`);
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        await settle();
        log.push(`${node.id} ends ${signal.reason.code}`);
      });
    }
    const transferred = a.node.leadership.transfer('c');
    await cluster.pass(500);
    await transferred;
    expect(log).toEqual(['a begins', 'a ends transferred', 'c begins']);
    expect(b.node.leadership.current?.id).toBe('c');
    await cluster.pass(20_000);
    expect(b.node.leadership.current?.id).toBe('c');
  });

  it('E13: a transfer to a dead member fails, and the leader goes on', async () => {
    const cluster = new Cluster();
    const [a, b] = await cluster.of('a', 'b');
    if (!a || !b) throw new Error('two nodes were asked for');
    const epochs: number[] = [];
    void a.node.leadership.lead(({ epoch, signal }) => {
      epochs.push(epoch);
      return new Promise((resolve) => signal.addEventListener('abort', () => resolve()));
    });
    const { epoch } = a.node.leadership;
    b.transport.crash();
    const transferred = codeOf(a.node.leadership.transfer('b'));
    await cluster.pass(10_000);
    expect(await transferred).toBe('transfer-failed');
    expect([a.node.leadership.isSelf, a.node.leadership.epoch]).toEqual([true, epoch]);
    expect(epochs).toEqual([epoch, epoch]);
  });

  it('E13: after resign() another leads, and work that throws resigns as well', async () => {
    const cluster = new Cluster();
    const [a, b] = await cluster.of('a', 'b');
    if (!a || !b) throw new Error('two nodes were asked for');
    await a.node.leadership.resign();
    await cluster.pass(1000);
    expect(a.node.leadership.current?.id).toBe('b');
    const broken = codeOf(b.node.leadership.lead(() => Promise.reject('broken')));
    await cluster.pass(1000);
    expect(await broken).toBe('broken');
    expect(a.node.leadership.isSelf).toBe(true);
  });

  it('E8, M9: after a stall isSelf reads false before anything was told', async () => {
    const cluster = new Cluster();
    const [a] = await cluster.of('a', 'b');
    expect(a?.node.leadership.isSelf).toBe(true);
    cluster.host.stall(3000);
    expect(a?.node.leadership.isSelf).toBe(false);
  });

  it('Q7: confirm() and ensure() ask the members', async () => {
    const cluster = new Cluster();
    const [a] = await cluster.of('a', 'b');
    const outcomes: unknown[] = [];
    void a?.node.leadership.lead(async (term) => {
      outcomes.push(term.isValid(500), term.isValid(60_000));
      await term.confirm();
      await term.ensure(1000);
      outcomes.push(await codeOf(term.ensure(60_000)));
    });
    await cluster.pass(8000);
    expect(outcomes).toEqual([true, false, 'leadership-lost']);
  });

  it('E11: the floor is awaited before the first claim, and the epoch starts above it', async () => {
    const cluster = new Cluster();
    let answer = (_epoch: number): void => undefined;
    const { node } = cluster.add('a', {
      floor: () =>
        new Promise((resolve) => {
          answer = resolve;
        }),
    });
    await cluster.pass(4000);
    expect(node.leadership.epoch).toBe(0);
    answer(41);
    await cluster.pass(1000);
    expect([node.leadership.isSelf, node.leadership.epoch]).toEqual([true, 42]);
  });

  it.each([
    ['rejects', () => Promise.reject(new Error('no store'))],
    ['throws', () => JSON.parse('{')],
    ['gives no epoch', () => Promise.resolve(-1)],
    ['takes longer than 5 s', () => new Promise<number>(() => undefined)],
  ])('E11: a floor that %s makes the node ineligible, and is told', async (_how, floor) => {
    const cluster = new Cluster();
    const { node } = cluster.add('a', { floor });
    const faults: string[] = [];
    node.addEventListener('fault', ({ code }) => faults.push(code));
    await cluster.pass(20_000);
    expect(faults).toEqual(['floor-failed']);
    expect([node.leadership.current, node.state]).toEqual([null, 'joined']);
  });
});

describe('channels', () => {
  it('carry messages between members, stamped in a term', async () => {
    const cluster = new Cluster();
    const [a, b] = await cluster.of('a', 'b');
    if (!a || !b) throw new Error('two nodes were asked for');
    const seen: unknown[] = [];
    b.node.channel('work').addEventListener('message', ({ from, data, epoch }) => {
      seen.push([from.id, [...data], epoch]);
    });
    expect(a.node.channel('work').send('b', Uint8Array.of(1))).toBe('sent');
    expect(a.node.channel('work').send('stranger', Uint8Array.of(1))).toBe('dropped');
    const { epoch } = a.node.leadership;
    void a.node.leadership.lead((term) => {
      expect(term.channel('work').broadcast(Uint8Array.of(2))).toBe('sent');
    });
    await cluster.pass(10);
    expect(seen).toEqual([
      ['a', [1], 0],
      ['a', [2], epoch],
    ]);
  });

  it('M11: what comes for a channel that nobody listens to is dropped with an event', async () => {
    const cluster = new Cluster();
    const [a, b] = await cluster.of('a', 'b');
    if (!a || !b) throw new Error('two nodes were asked for');
    const lost: unknown[] = [];
    b.node.addEventListener('dropped', ({ channel, from, sizeBytes }) => {
      lost.push([channel, from.id, sizeBytes]);
    });
    b.node.channel('work').addEventListener('dropped', () => lost.push('on the channel'));
    for (let count = 0; count < 3; count += 1) {
      a.node.channel('work').broadcast(new Uint8Array(100_000));
    }
    await cluster.pass(10);
    expect(lost).toEqual(['on the channel', ['work', 'a', 100_000]]);
  });

  it('X1, E4: a message of an older term is dropped with a stale event', async () => {
    const cluster = new Cluster();
    const [a, b] = await cluster.of('a', 'b');
    if (!a || !b) throw new Error('two nodes were asked for');
    const seen: unknown[] = [];
    const channel = b.node.channel('work');
    channel.addEventListener('message', () => seen.push('message'));
    channel.addEventListener('stale', ({ from, epoch }) => seen.push([from.id, epoch]));
    const { epoch } = a.node.leadership;
    let sendLate = (): void => undefined;
    void a.node.leadership.lead((term) => {
      sendLate = () => term.channel('work').broadcast(Uint8Array.of(1));
    });
    await a.node.leadership.resign();
    await cluster.pass(1000);
    sendLate();
    await cluster.pass(10);
    expect(seen).toEqual([['a', epoch]]);
  });
});
