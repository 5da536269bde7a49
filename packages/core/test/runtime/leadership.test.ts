import { describe, expect, it } from 'vitest';
import type { Term } from '../../src/index.ts';
import { DoyenError } from '../../src/runtime/error.ts';
import { stage } from './stage.ts';
import { settle } from './virtual-host.ts';

/** Work that goes on until its term ends, and tells what it does. */
function untilAborted(log: string[]): (term: Term) => Promise<void> {
  return ({ epoch, signal }) => {
    log.push(`begin ${epoch}`);
    return new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => {
        log.push(`end ${epoch} ${signal.reason.code}`);
        reject(signal.reason);
      });
    });
  };
}

function code(error: unknown): string | undefined {
  return error instanceof DoyenError ? error.code : undefined;
}

describe('lead()', () => {
  it('runs its work in every term, and hands it the epoch', async () => {
    const { input, leadership } = stage();
    const log: string[] = [];
    void leadership.lead(untilAborted(log));
    input((script) => script.startTerm(1));
    input((script) => script.endTerm('higher-epoch'));
    await settle();
    input((script) => script.startTerm(3));
    expect(log).toEqual(['begin 1', 'end 1 higher-epoch', 'begin 3']);
  });

  it('starts at once when this node leads already', () => {
    const { input, leadership } = stage();
    const log: string[] = [];
    input((script) => script.startTerm(4));
    void leadership.lead(untilAborted(log));
    expect(log).toEqual(['begin 4']);
  });

  it('keeps the leadership when work returns, and does not run it again in this term', async () => {
    const { input, leadership, script } = stage();
    const epochs: number[] = [];
    void leadership.lead(({ epoch }) => {
      epochs.push(epoch);
    });
    input((s) => s.startTerm(1));
    await settle();
    expect(leadership.isSelf).toBe(true);
    expect(script.inputs).toEqual([]);
    input((s) => s.endTerm('stalled'));
    input((s) => s.startTerm(2));
    await settle();
    expect(epochs).toEqual([1, 2]);
  });

  it.each([
    ['at once', () => Promise.reject(new Error('broken'))],
    [
      'synchronously',
      () => {
        throw new Error('broken');
      },
    ],
  ])('resigns and rejects with the error when work throws %s', async (_when, work) => {
    const { input, leadership, script } = stage();
    script.reactions['resign'] = () => script.endTerm('resigned');
    const call = leadership.lead(work);
    input((s) => s.startTerm(1));
    await expect(call).rejects.toThrow('broken');
    expect(script.inputs).toEqual([['resign']]);
    expect(leadership.isSelf).toBe(false);
  });

  it('swallows the abort reason of the term, also as the cause of a platform error', async () => {
    const { input, leadership, script } = stage();
    const epochs: number[] = [];
    void leadership.lead(async ({ epoch, signal }) => {
      epochs.push(epoch);
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      if (epoch === 1) throw signal.reason;
      throw new Error('The operation was aborted', { cause: signal.reason });
    });
    for (const epoch of [1, 2, 3]) {
      input((s) => s.startTerm(epoch));
      input((s) => s.endTerm('stalled'));
      await settle();
    }
    expect(epochs).toEqual([1, 2, 3]);
    expect(script.inputs).toEqual([]);
  });

  it('lets the work of a new term wait for that of the old one, and tells of an overrun', async () => {
    const { host, input, leadership } = stage();
    const log: string[] = [];
    leadership.addEventListener('overrun', ({ epoch }) => log.push(`overrun ${epoch}`));
    const finish: (() => void)[] = [];
    void leadership.lead(({ epoch }) => {
      log.push(`begin ${epoch}`);
      return new Promise((resolve) => finish.push(resolve));
    });
    input((script) => script.startTerm(1));
    input((script) => script.endTerm('stalled'));
    input((script) => script.startTerm(2));
    await host.pass(4999);
    expect(log).toEqual(['begin 1']);
    await host.pass(1);
    expect(log).toEqual(['begin 1', 'overrun 1']);
    finish[0]?.();
    await settle();
    expect(log).toEqual(['begin 1', 'overrun 1', 'begin 2']);
  });

  it('skips a term that ended while the old work was still running', async () => {
    const { input, leadership } = stage();
    const epochs: number[] = [];
    const finish: (() => void)[] = [];
    void leadership.lead(({ epoch }) => {
      epochs.push(epoch);
      return new Promise((resolve) => finish.push(resolve));
    });
    input((script) => script.startTerm(1));
    input((script) => script.endTerm('stalled'));
    input((script) => script.startTerm(2));
    input((script) => script.endTerm('stalled'));
    input((script) => script.startTerm(3));
    finish[0]?.();
    await settle();
    expect(epochs).toEqual([1, 3]);
  });

  it('rejects with the reason of its signal, after the running work has settled', async () => {
    const { input, leadership } = stage();
    const controller = new AbortController();
    const reasons: unknown[] = [];
    let finish = (): void => undefined;
    const call = leadership.lead(
      ({ signal }) => {
        signal.addEventListener('abort', () => reasons.push(signal.reason));
        return new Promise((resolve) => {
          finish = resolve;
        });
      },
      { signal: controller.signal },
    );
    let isOver = false;
    call.catch(() => {
      isOver = true;
    });
    input((script) => script.startTerm(1));
    controller.abort('enough');
    await settle();
    expect([reasons, isOver]).toEqual([['enough'], false]);
    finish();
    await expect(call).rejects.toBe('enough');
    expect(leadership.isSelf).toBe(true);
  });

  it('rejects with the reason at once when its signal has aborted before', async () => {
    const { input, leadership } = stage();
    const log: string[] = [];
    input((script) => script.startTerm(1));
    const signal = AbortSignal.abort('no');
    await expect(leadership.lead(untilAborted(log), { signal })).rejects.toBe('no');
    expect(log).toEqual([]);
  });

  it('runs several calls independently', async () => {
    const { input, leadership } = stage();
    const log: string[] = [];
    const controller = new AbortController();
    const first = leadership.lead(untilAborted(log), { signal: controller.signal });
    void leadership.lead(untilAborted(log));
    input((script) => script.startTerm(1));
    controller.abort(new DoyenError('left', 'the first only'));
    await expect(first).rejects.toThrow('the first only');
    expect(log).toEqual(['begin 1', 'begin 1', 'end 1 left']);
  });

  it('resolves when the node leaves, once its work has settled', async () => {
    const { input, leadership } = stage();
    const log: string[] = [];
    const call = leadership.lead(untilAborted(log));
    const idle = leadership.lead(() => undefined);
    input((script) => script.startTerm(1));
    input((script) => script.endTerm('left'));
    leadership.close(null);
    await Promise.all([call, idle]);
    expect(log).toEqual(['begin 1', 'end 1 left']);
  });

  it('rejects on a node that has left, and on one that failed', async () => {
    const left = stage();
    left.leadership.close(null);
    expect(code(await left.leadership.lead(() => undefined).catch((error) => error))).toBe('left');
    const failed = stage();
    const call = failed.leadership.lead(() => undefined);
    failed.leadership.close(new DoyenError('duplicate-id', 'twice'));
    expect(code(await call.catch((error) => error))).toBe('duplicate-id');
  });

  it.each([
    [() => stage().leadership.lead(5 as never), TypeError, 'work must be a function, got 5'],
    [
      () => stage().leadership.lead(() => undefined, { drainMs: -1 }),
      RangeError,
      'drainMs must be 0 or more milliseconds, got -1',
    ],
    [
      () => stage().leadership.lead(() => undefined, { drainMs: '5' as never }),
      TypeError,
      'drainMs must be 0 or more milliseconds, got "5"',
    ],
    [
      () => stage().leadership.lead(() => undefined, 5000 as never),
      TypeError,
      'options must be an object, got 5000',
    ],
    [
      () => stage().leadership.lead(() => undefined, { drain: 5 } as never),
      TypeError,
      'drain is no option',
    ],
    [
      () => stage().leadership.lead(() => undefined, { signal: new AbortController() as never }),
      TypeError,
      'signal must be an object with addEventListener, throwIfAborted, got an object',
    ],
    [
      () => stage().leadership.waitForLeader({ signal: 5 as never }),
      TypeError,
      'signal must be an object with addEventListener, throwIfAborted, got 5',
    ],
    [
      () => stage().leadership.waitForLeader({ withinMs: 5 } as never),
      TypeError,
      'withinMs is no option',
    ],
  ])('says what is wrong with its arguments', async (call, type, message) => {
    const error = await call().catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(type);
    expect((error as Error).message).toBe(message);
  });
});

describe('resign() and transfer()', () => {
  it('E13, Q10: resign() drains the work before the machine resigns', async () => {
    const { input, leadership, script } = stage();
    let finish = (): void => undefined;
    const reasons: unknown[] = [];
    void leadership.lead(({ signal }) => {
      signal.addEventListener('abort', () => reasons.push(signal.reason.code));
      return new Promise((resolve) => {
        finish = resolve;
      });
    });
    input((s) => s.startTerm(1));
    script.reactions['resign'] = () => script.endTerm('resigned');
    const resigned = leadership.resign();
    expect(reasons).toEqual(['resigned']);
    expect(leadership.isSelf).toBe(false);
    await settle();
    expect(script.inputs).toEqual([]);
    finish();
    await resigned;
    expect(script.inputs).toEqual([['resign']]);
  });

  it('E13: resign() waits no longer than drainMs', async () => {
    const { host, input, leadership, script } = stage();
    void leadership.lead(() => new Promise(() => undefined), { drainMs: 100 });
    input((s) => s.startTerm(1));
    script.reactions['resign'] = () => script.endTerm('resigned');
    void leadership.resign();
    await host.pass(99);
    expect(script.inputs).toEqual([]);
    await host.pass(1);
    expect(script.inputs).toEqual([['resign']]);
  });

  it('E13: resign() without work acts at once, and without a term does nothing', async () => {
    const { input, leadership, script } = stage();
    await leadership.resign();
    input((s) => s.startTerm(1));
    script.reactions['resign'] = () => script.endTerm('resigned');
    void leadership.resign();
    expect(script.inputs).toEqual([['resign']]);
  });

  it('E13: transfer() drains the work, and resolves when the target leads', async () => {
    const { input, leadership, script } = stage();
    const log: string[] = [];
    void leadership.lead(untilAborted(log));
    input((s) => s.startTerm(1));
    const transferred = leadership.transfer('other');
    await settle();
    expect(script.inputs).toEqual([['transfer', 'other']]);
    input((s) => {
      s.endTerm('transferred');
      s.emit({ type: 'transferdone', ok: true });
    });
    await transferred;
    expect(log).toEqual(['begin 1', 'end 1 transferred']);
  });

  it('E13: after a failed transfer this node leads on, and interrupted work is run anew', async () => {
    const { input, leadership } = stage();
    const log: string[] = [];
    const done: number[] = [];
    void leadership.lead(untilAborted(log));
    void leadership.lead(({ epoch }) => {
      done.push(epoch);
    });
    input((s) => s.startTerm(1));
    await settle();
    const transferred = leadership.transfer('other').catch((error: unknown) => error);
    await settle();
    expect(leadership.isSelf).toBe(false);
    input((s) => s.emit({ type: 'transferdone', ok: false }));
    expect(code(await transferred)).toBe('transfer-failed');
    expect(leadership.isSelf).toBe(true);
    expect(log).toEqual(['begin 1', 'end 1 transferred', 'begin 1']);
    expect(done).toEqual([1]);
  });

  it('E13: transfer() refuses who does not lead, and whom it does not know', async () => {
    const { input, leadership, script } = stage();
    expect(code(await leadership.transfer('other').catch((error) => error))).toBe('not-leading');
    input((s) => s.startTerm(1));
    await expect(leadership.transfer('me')).rejects.toThrow(RangeError);
    await expect(leadership.transfer('stranger')).rejects.toThrow('got "stranger"');
    expect(leadership.isSelf).toBe(true);
    expect(script.inputs).toEqual([]);
  });

  it('E13: a transfer whose term ends while work is drained has not taken place', async () => {
    const { input, leadership, script } = stage();
    let finish = (): void => undefined;
    void leadership.lead(
      () =>
        new Promise((resolve) => {
          finish = resolve;
        }),
    );
    input((s) => s.startTerm(1));
    const transferred = leadership.transfer('other').catch((error: unknown) => error);
    input((s) => s.endTerm('higher-epoch'));
    finish();
    expect(code(await transferred)).toBe('leadership-lost');
    expect(script.inputs).toEqual([]);
  });

  it('E13: resign() during a transfer waits for its end', async () => {
    const { input, leadership, script } = stage();
    input((s) => s.startTerm(1));
    script.reactions['resign'] = () => script.endTerm('resigned');
    void leadership.transfer('other').catch(() => undefined);
    const resigned = leadership.resign();
    input((s) => s.emit({ type: 'transferdone', ok: false }));
    await resigned;
    expect(script.inputs).toEqual([['transfer', 'other'], ['resign']]);
  });
});

describe('a term', () => {
  async function openTerm(scene: ReturnType<typeof stage>): Promise<Term> {
    return new Promise((resolve) => {
      void scene.leadership.lead(resolve);
      scene.input((script) => script.startTerm(7));
    });
  }

  it('X1: its token names the cluster, the epoch and the instance', async () => {
    const term = await openTerm(stage());
    expect(term.token).toEqual({ cluster: 'c', epoch: 7, holder: 'me-1' });
  });

  it('E8: isValid() asks the machine at every call', async () => {
    const scene = stage();
    const term = await openTerm(scene);
    expect([term.isValid(1000), term.isValid(1001), term.validUntil]).toEqual([true, false, 1000]);
    scene.script.isLeading = false;
    expect([term.isValid(), term.validUntil, scene.leadership.isSelf]).toEqual([false, 0, false]);
    scene.script.isLeading = true;
    expect(term.isValid()).toBe(true);
    scene.script.epoch = 8;
    expect(term.isValid()).toBe(false);
  });

  it('Q7: confirm() resolves with the round that it asked for', async () => {
    const scene = stage();
    const term = await openTerm(scene);
    const confirmed = term.confirm();
    expect(scene.script.inputs).toEqual([['confirm', 1]]);
    scene.input((script) => script.emit({ type: 'confirmed', ticket: 1, ok: true }));
    await confirmed;
  });

  it('Q7: confirm() rejects when the round fails or the term ends, with the reason as cause', async () => {
    const scene = stage();
    const term = await openTerm(scene);
    const failed = term.confirm().catch((error: unknown) => error);
    scene.input((script) => script.emit({ type: 'confirmed', ticket: 1, ok: false }));
    expect(code(await failed)).toBe('leadership-lost');
    const ended = term.confirm().catch((error: unknown) => error);
    scene.input((script) => script.endTerm('stalled'));
    const error = (await ended) as DoyenError;
    expect([error.code, code(error.cause)]).toEqual(['leadership-lost', 'stalled']);
    expect(code(await term.confirm().catch((reason: unknown) => reason))).toBe('leadership-lost');
  });

  it('Q7: ensure() asks for a round only when the term is not valid for long enough', async () => {
    const scene = stage();
    const term = await openTerm(scene);
    await term.ensure(500);
    expect(scene.script.inputs).toEqual([]);
    const ensured = term.ensure(2000);
    scene.script.validForMs = 3000;
    scene.input((script) => script.emit({ type: 'confirmed', ticket: 1, ok: true }));
    await ensured;
    const refused = term.ensure(60_000).catch((error: unknown) => error);
    scene.input((script) => script.emit({ type: 'confirmed', ticket: 2, ok: true }));
    expect(code(await refused)).toBe('leadership-lost');
  });

  it('Q7: work that waits to start leaves the page its turns while rounds are refused at once', async () => {
    const { host, input, leadership, script } = stage();
    let rounds = 0;
    script.reactions['confirm'] = (ticket) => {
      rounds += 1;
      // Asked without end, it would keep this test from ever failing.
      if (rounds < 1000) script.emit({ type: 'confirmed', ticket: ticket as number, ok: false });
    };
    const log: string[] = [];
    void leadership.lead(untilAborted(log));
    input((s) => {
      s.startTerm(1);
      s.isLeading = false;
    });
    await settle();
    expect(rounds).toBe(1);
    await host.pass(1000);
    expect(rounds).toBeLessThan(50);
    script.isLeading = true;
    await host.pass(100);
    expect(log).toEqual(['begin 1']);
  });

  it('work that lets confirm() reject because its term is over ends no lead() call', async () => {
    const scene = stage();
    const epochs: number[] = [];
    void scene.leadership.lead(async (term) => {
      epochs.push(term.epoch);
      await term.confirm();
    });
    scene.input((script) => script.startTerm(1));
    scene.input((script) => script.endTerm('stalled'));
    await settle();
    scene.input((script) => script.startTerm(2));
    expect(epochs).toEqual([1, 2]);
  });
});

describe('the tiebreaker', () => {
  it.each([
    [{ nodeCount: Number.NaN, createdAt: 1 }, null],
    [{ nodeCount: 1, createdAt: -1 }, null],
    [{ nodeCount: Number.POSITIVE_INFINITY, createdAt: 1 }, null],
    [undefined, null],
    [
      { nodeCount: 3, createdAt: 12.5 },
      { nodeCount: 3, createdAt: 12.5 },
    ],
  ])('E6: of %j the machine reads %j', (given, read) => {
    const { driver, leadership, log, script } = stage();
    leadership.setTiebreaker(() => given as never);
    let seen: unknown = 'unread';
    driver.input(() => {
      seen = script.readTiebreak?.();
      expect(log).toEqual([]);
    });
    expect(seen).toEqual(read);
    expect(log).toEqual(read ? [] : ['event violation']);
  });

  it('E6: one that has nothing to say breaks no rule', () => {
    const { driver, leadership, log, script } = stage();
    leadership.setTiebreaker(() => null);
    driver.input(() => expect(script.readTiebreak?.()).toBe(null));
    expect(log).toEqual([]);
  });

  it('E6: one that throws, or calls back into its node, counts as unset', () => {
    const { driver, leadership, log, script } = stage();
    for (const broken of [() => driver.input(() => undefined), () => JSON.parse('{')]) {
      leadership.setTiebreaker(broken as never);
      driver.input(() => expect(script.readTiebreak?.()).toBe(null));
    }
    expect(log).toEqual(['event violation', 'event violation']);
    leadership.setTiebreaker(null);
    expect(script.readTiebreak).toBe(null);
  });
});

describe('waitForLeader()', () => {
  it('resolves with the leader, at once or when there is one', async () => {
    const { input, leadership } = stage();
    const waiting = leadership.waitForLeader();
    input((script) => script.startTerm(1));
    expect((await waiting).id).toBe('me');
    expect((await leadership.waitForLeader()).id).toBe('me');
  });

  it('rejects with the reason of its signal, and when the node leaves', async () => {
    const { leadership } = stage();
    const controller = new AbortController();
    const aborted = leadership.waitForLeader({ signal: controller.signal });
    const left = leadership.waitForLeader();
    controller.abort('enough');
    await expect(aborted).rejects.toBe('enough');
    leadership.close(null);
    expect(code(await left.catch((error) => error))).toBe('left');
  });
});
