import { transportContract } from '@doyen/core/testing';
import { afterEach, describe, expect, it } from 'vitest';
import {
  combine,
  type DoyenNode,
  join,
  MemoryNetwork,
  memory,
  type Transport,
  type TransportHandler,
} from '../../src/index.ts';
import { tabs } from '../../src/tabs/index.ts';
import { Recorder } from '../../src/testing/recorder.ts';

describe('combine, met over the first', () => {
  transportContract({
    suite: { describe, it },
    setup: () => {
      const network = new MemoryNetwork();
      return {
        transport: () => combine(memory({ network }), memory({ network: new MemoryNetwork() })),
      };
    },
    capabilities: { maxBytes: 16 * 1024 * 1024 },
  });
});

describe('combine, met over the second', () => {
  transportContract({
    suite: { describe, it },
    setup: () => {
      const network = new MemoryNetwork();
      return {
        transport: () => combine(memory({ network: new MemoryNetwork() }), memory({ network })),
      };
    },
    capabilities: { maxBytes: 16 * 1024 * 1024 },
  });
});

/** Guards against hanging; a busy machine is slow at times. */
const WITHIN = { timeout: 20_000 };

/** A transport that does nothing by itself, with the handler that it was given. */
class Puppet implements Transport {
  handler!: TransportHandler;
  readonly sent: string[] = [];
  signal!: AbortSignal;
  closeCount = 0;

  start(handler: TransportHandler, options: { readonly signal: AbortSignal }): void {
    this.handler = handler;
    this.signal = options.signal;
  }

  send(peer: string): 'sent' {
    this.sent.push(peer);
    return 'sent';
  }

  async close(): Promise<void> {
    this.closeCount += 1;
  }
}

function start(transport: Transport): Recorder {
  const recorder = new Recorder();
  const { signal } = new AbortController();
  transport.start(recorder, { cluster: 'c', id: 'a', instance: 'i', signal });
  return recorder;
}

describe('combine', () => {
  it('keeps apart links of different transports that have the same key', () => {
    const [one, two] = [new Puppet(), new Puppet()];
    const transport = combine(one, two);
    const recorder = start(transport);
    one.handler.linkUp('1/x', { id: 'b' });
    two.handler.linkUp('1/x', { id: 'b' });
    const [first, second] = recorder.links;
    expect(first).not.toBe(second);
    transport.send(first ?? '', Uint8Array.of(1), 'data');
    expect([one.sent, two.sent]).toEqual([['1/x'], []]);
    one.handler.hint('1/x', 'gone');
    one.handler.linkDown('1/x', 'failed');
    expect(recorder.links).toEqual([second]);
    expect(recorder.of('hint').map(({ peer }) => peer)).toEqual([first]);
  });

  it('discovery has answered once all have, and counts what is pending in all', () => {
    const [one, two] = [new Puppet(), new Puppet()];
    const recorder = start(combine(one, two));
    one.handler.discovery(2);
    one.handler.discovery(0);
    expect(recorder.of('discovery')).toEqual([]);
    two.handler.discovery(3);
    one.handler.discovery(1);
    two.handler.discovery(3);
    two.handler.discovery(0);
    one.handler.discovery(0);
    expect(recorder.of('discovery').map(({ pending }) => pending)).toEqual([3, 4, 1, 0]);
  });

  it('faults and the lifecycle of a host pass through', () => {
    const [one, two] = [new Puppet(), new Puppet()];
    const recorder = start(combine(one, two));
    one.handler.fault('code', 'message');
    two.handler.lifecycle('freeze');
    expect(recorder.of('fault').map(({ code }) => code)).toEqual(['code']);
    expect(recorder.of('lifecycle').map(({ kind }) => kind)).toEqual(['freeze']);
  });

  it('B3: the timers of one of them are those of all; without any there are none', async () => {
    const [one, two] = [new Puppet(), tabs({ name: 'timed', locks: null })];
    const { timer } = combine(one, two);
    await new Promise<void>((resolve) => timer?.(resolve, 1));
    expect(timer).toBeDefined();
    expect(combine(one, new Puppet()).timer).toBeUndefined();
  });

  it('when one cannot start, the others are closed and its error is thrown', () => {
    const [one, two, three] = [new Puppet(), new Puppet(), new Puppet()];
    const failure = new Error('no');
    two.start = () => {
      throw failure;
    };
    expect(() => start(combine(one, two, three))).toThrow(failure);
    expect([one.closeCount, three.closeCount]).toEqual([1, 1]);
    expect(one.signal.aborted).toBe(true);
  });

  it('closing waits for all, also when one fails to', async () => {
    const [one, two] = [new Puppet(), new Puppet()];
    one.close = () => {
      throw new Error('stuck');
    };
    const transport = combine(one, two);
    start(transport);
    await expect(transport.close()).rejects.toThrow('stuck');
    expect(two.closeCount).toBe(1);
  });

  it('refuses what is no transport, nothing at all, and one twice', () => {
    const one = new Puppet();
    expect(() => combine()).toThrow(new TypeError('combine: expected one transport or more'));
    expect(() => combine(one, {} as Transport)).toThrow(TypeError);
    expect(() => combine(null as unknown as Transport)).toThrow(TypeError);
    expect(() => combine(one, one)).toThrow('given twice');
  });
});

describe('combine(tabs(), another)', () => {
  const nodes: DoyenNode[] = [];
  const network = new MemoryNetwork();
  const wide = () => memory({ network });
  const near = () => tabs({ name: 'combined', locks: null });

  afterEach(async () => {
    await Promise.all(nodes.splice(0).map((node) => node.leave()));
  });

  async function add(id: string, transport: Transport): Promise<DoyenNode> {
    const startedAt = nodes.length + 1;
    const node = await join({ cluster: 'combined', id, startedAt, transport });
    nodes.push(node);
    await node.ready();
    return node;
  }

  const roster = (node: DoyenNode) => node.members.map(({ id, link }) => `${id} ${link}`).join();
  const leader = (node: DoyenNode) => node.leadership.current?.id;

  it('B1: one roster and one leader over tabs and devices', async () => {
    const tab = await add('a-tab', near());
    const both = await add('both', combine(near(), wide()));
    const device = await add('device', wide());
    await expect.poll(() => roster(tab), WITHIN).toBe('a-tab self,both direct,device relayed');
    await expect.poll(() => roster(device), WITHIN).toBe('a-tab relayed,both direct,device self');
    await expect.poll(() => nodes.map(leader).join(), WITHIN).toBe('a-tab,a-tab,a-tab');
    const { epoch } = both.leadership;
    await tab.leave();
    await expect.poll(() => [both, device].map(leader).join(), WITHIN).toBe('both,both');
    expect(device.leadership.epoch).toBeGreaterThan(epoch);
  });

  it('M4, B1: of two ways to a member the one within the browser carries, however fast the other', async () => {
    const lanes: string[] = [];
    const counted = (name: string, transport: Transport): Transport => {
      const send = transport.send.bind(transport);
      return Object.assign(transport, {
        send: (...message: Parameters<Transport['send']>) => {
          if (message[2] === 'data') lanes.push(name);
          return send(...message);
        },
      });
    };
    const one = await add('one', combine(counted('wide', wide()), counted('near', near())));
    const two = await add('two', combine(wide(), near()));
    await expect.poll(() => two.leadership.current?.id, WITHIN).toBe('one');
    let heard = 0;
    two.channel('work').addEventListener('message', () => {
      heard += 1;
    });
    // Until both links have answered the first that came up carries.
    await expect
      .poll(() => {
        one.channel('work').send('two', Uint8Array.of(7));
        return lanes.at(-1);
      }, WITHIN)
      .toBe('near');
    lanes.length = 0;
    await expect
      .poll(() => {
        one.channel('work').send('two', Uint8Array.of(7));
        return heard;
      }, WITHIN)
      .toBeGreaterThan(20);
    expect(new Set(lanes)).toEqual(new Set(['near']));
  });

  it('B1: who is reached in two ways is one member, and stays direct when one way ends', async () => {
    const [first, second] = [near(), wide()];
    const one = await add('one', combine(first, second));
    const two = await add('two', combine(near(), wide()));
    await expect.poll(() => roster(two), WITHIN).toBe('one direct,two self');
    const left: string[] = [];
    two.addEventListener('memberleave', ({ member }) => left.push(member.id));
    const heard = new Promise((resolve) => {
      two.channel('work').addEventListener('message', ({ data }) => resolve([...data]));
    });
    await first.close();
    await expect.poll(() => roster(two), WITHIN).toBe('one direct,two self');
    expect(one.channel('work').send('two', Uint8Array.of(7))).toBe('sent');
    expect(await heard).toEqual([7]);
    expect(left).toEqual([]);
  });
});
