import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Transport } from '../../src/index.ts';
import { type TabsOptions, tabs } from '../../src/tabs/index.ts';
import { Recorder } from '../../src/testing/recorder.ts';
import { VirtualLocks } from './virtual-locks.ts';

interface Actor {
  readonly transport: Transport;
  readonly recorder: Recorder;
  readonly locks: ReturnType<VirtualLocks['tab']>;
}

const WITHIN_MS = 5_000;

describe('links between tabs', () => {
  const actors: Actor[] = [];
  let browser: VirtualLocks;
  let cluster = 0;

  beforeEach(() => {
    browser = new VirtualLocks();
    cluster += 1;
  });

  afterEach(async () => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
    vi.restoreAllMocks();
    await Promise.all(actors.splice(0).map(({ transport }) => transport.close()));
  });

  function start(id: string, options: TabsOptions = {}, hasLocks = true): Actor {
    const locks = browser.tab();
    const transport = tabs({ ...(hasLocks && { locks }), ...options });
    const actor = { transport, recorder: new Recorder(), locks };
    actors.push(actor);
    const { signal } = new AbortController();
    transport.start(actor.recorder, { cluster: `c${cluster}`, id, instance: `i-${id}`, signal });
    return actor;
  }

  async function linked(...group: Actor[]): Promise<void> {
    for (const { recorder } of group) {
      const met = () => recorder.links.length === group.length - 1;
      await recorder.until('all links', met, WITHIN_MS);
    }
  }

  const kinds = ({ recorder }: Actor) => recorder.of('hint').map(({ kind }) => kind);
  const pending = ({ recorder }: Actor) => recorder.of('discovery').map((report) => report.pending);
  const faults = ({ recorder }: Actor) => recorder.of('fault').map(({ code }) => code);

  async function turns(): Promise<void> {
    for (let turn = 0; turn < 40; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  }

  it('B1: a released lock is proof of death: the hint, then the link down, and nothing else', async () => {
    const [one, two, three] = [start('a'), start('b'), start('c')] as const;
    await linked(one, two, three);
    two.locks.die();
    await one.recorder.until(
      'two links less one',
      () => one.recorder.links.length === 1,
      WITHIN_MS,
    );
    await three.recorder.until('the same', () => three.recorder.links.length === 1, WITHIN_MS);
    for (const { recorder } of [one, three]) {
      const [hint, down] = recorder.reports.slice(-2);
      expect([hint?.type, down?.type]).toEqual(['hint', 'linkDown']);
    }
    expect([kinds(one), kinds(three)]).toEqual([['gone'], ['gone']]);
  });

  it('B1: the goodbye of a tab counts, also where its lock is known to be free before that comes', async () => {
    const [one, two] = [start('a'), start('b')];
    await linked(one, two);
    one.transport.send(one.recorder.links[0] ?? '', Uint8Array.of(1), 'control');
    await one.transport.close();
    await two.recorder.until('the link down', () => two.recorder.links.length === 0, WITHIN_MS);
    const reports = two.recorder.reports.slice(-3).map(({ type }) => type);
    expect(reports).toEqual(['message', 'hint', 'linkDown']);
    expect(kinds(two)).toEqual(['closed-cleanly']);
  });

  it('B1, E9: the locks tell a lone tab at once that it is alone, without any timer', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    const one = start('a');
    await turns();
    expect(pending(one)).toEqual([0]);
    expect(faults(one)).toEqual([]);
  });

  it('B1, E9: who holds a lock and does not answer is waited for, but not for long', async () => {
    const frozen = browser.tab();
    const name = `doyen/c${cluster}/alive/i-frozen/1`;
    void frozen.request(name, () => new Promise(() => undefined));
    await turns();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const one = start('a');
    await turns();
    expect(pending(one)).toEqual([1]);
    vi.advanceTimersByTime(1_500);
    expect(pending(one)).toEqual([1, 0]);
    expect(one.recorder.links).toEqual([]);
  });

  it('B1: without locks answers are waited for, and a fault says what is missing', async () => {
    vi.stubGlobal('navigator', undefined);
    const one = start('a', {}, false);
    await one.recorder.until('discovery', () => pending(one).length > 0, WITHIN_MS);
    expect(faults(one)).toEqual(['no-web-locks']);
    const two = start('b', {}, false);
    await linked(one, two);
    await two.recorder.until('discovery', () => pending(two).at(-1) === 0, WITHIN_MS);
  });

  it('B1: locks that are refused, or never granted, do not stop a node; a fault says why', async () => {
    const refusing = {
      ...browser.tab(),
      request: () => Promise.reject(new DOMException('opaque', 'SecurityError')),
    };
    const one = start('a', { locks: refusing });
    await one.recorder.until('the fault', () => faults(one).length > 0, WITHIN_MS);
    expect(one.recorder.of('fault')[0]?.message).toContain('SecurityError: opaque');
    // Somebody sits on the lock of this node.
    void browser.tab().request(`doyen/c${cluster}/alive/i-b/1`, () => new Promise(() => undefined));
    const two = start('b');
    await linked(one, two);
    await two.recorder.until('the fault', () => faults(two).length > 0, WITHIN_MS);
    await two.transport.close();
    await one.recorder.until('the link down', () => one.recorder.links.length === 0, WITHIN_MS);
    expect(kinds(one)).toEqual(['closed-cleanly']);
  });

  it('B1: a tab that is robbed of its lock comes back under another one, with new links', async () => {
    const [one, two] = [start('a'), start('b')];
    await linked(one, two);
    const [oldKey] = one.recorder.links;
    const robber = browser.tab();
    const name = `doyen/c${cluster}/alive/i-a/1`;
    await robber.request(name, { steal: true }, async () => undefined);
    await one.recorder.until(
      'the old link down',
      () => !one.recorder.links.includes(oldKey ?? ''),
      WITHIN_MS,
    );
    await linked(one, two);
    expect(one.recorder.of('linkDown').map(({ why }) => why)).toEqual(['failed']);
    expect(one.recorder.links).not.toEqual([oldKey]);
    expect(two.recorder.of('linkUp')).toHaveLength(2);
    const { held } = await robber.query();
    expect(held?.map((lock) => lock.name).sort()).toEqual([
      `doyen/c${cluster}/alive/i-a/2`,
      `doyen/c${cluster}/alive/i-b/1`,
    ]);
  });

  it('B1: after closing, no lock is held and none waited for', async () => {
    const group = [start('a'), start('b'), start('c')];
    await linked(...group);
    await turns();
    expect([browser.heldCount, browser.pendingCount]).toEqual([3, 6]);
    await Promise.all(group.map(({ transport }) => transport.close()));
    await turns();
    expect([browser.heldCount, browser.pendingCount]).toEqual([0, 0]);
  });

  it('B1: closed before its lock is granted, it holds none', async () => {
    const one = start('a');
    await one.transport.close();
    await turns();
    expect([browser.heldCount, browser.pendingCount]).toEqual([0, 0]);
    expect(one.recorder.reports).toEqual([]);
  });

  it('B2: over pagehide no lock is held; back from the cache, the links are new', async () => {
    const two = start('b');
    const view = new EventTarget();
    vi.stubGlobal('addEventListener', view.addEventListener.bind(view));
    const lastWord = Uint8Array.of(1);
    // As the node does, which says goodbye, and watches the page before it starts its transport.
    view.addEventListener('pagehide', () => one.transport.send(oldKey ?? '', lastWord, 'control'));
    const one = start('a');
    await linked(one, two);
    const [oldKey] = one.recorder.links;
    view.dispatchEvent(Object.assign(new Event('pagehide'), { persisted: true }));
    expect(one.transport.send(oldKey ?? '', lastWord, 'control')).toBe('dropped');
    await two.recorder.until('the link down', () => two.recorder.links.length === 0, WITHIN_MS);
    expect(two.recorder.of('message')).toHaveLength(1);
    expect(kinds(two)).toEqual(['closed-cleanly']);
    await turns();
    expect(browser.heldCount).toBe(1);
    expect(one.recorder.of('linkDown')).toEqual([]);
    view.dispatchEvent(Object.assign(new Event('pageshow'), { persisted: true }));
    expect(one.recorder.of('linkDown')).toEqual([
      { type: 'linkDown', peer: oldKey, why: 'failed' },
    ]);
    await linked(one, two);
    expect(browser.heldCount).toBe(2);
  });

  it('what is sent while a link comes up arrives', async () => {
    const one = start('a');
    const { linkUp } = one.recorder;
    one.recorder.linkUp = (peer, info) => {
      linkUp.call(one.recorder, peer, info);
      one.transport.send(peer, Uint8Array.of(42), 'control');
    };
    const two = start('b');
    await two.recorder.until('the message', () => two.recorder.of('message').length > 0, WITHIN_MS);
    expect(two.recorder.reports.filter((report) => 'peer' in report)[0]?.type).toBe('linkUp');
  });

  it('M11: what goes to one tab is copied to no other', async () => {
    let copies = 0;
    class Counted extends BroadcastChannel {
      override set onmessage(react: (event: MessageEvent) => void) {
        super.onmessage = (event: MessageEvent) => {
          if (event.data instanceof Uint8Array) copies += 1;
          react(event);
        };
      }
    }
    const options = { BroadcastChannel: Counted as typeof BroadcastChannel };
    const group = [start('a', options), start('b', options), start('c', options)] as const;
    await linked(...group);
    const [one] = group;
    for (const key of one.recorder.links) one.transport.send(key, Uint8Array.of(1), 'data');
    await turns();
    expect(copies).toBe(2);
  });

  it('M11: a part of a larger array travels without the rest', async () => {
    const [one, two] = [start('a'), start('b')];
    await linked(one, two);
    const part = new Uint8Array(1_000).subarray(10, 12);
    one.transport.send(one.recorder.links[0] ?? '', part, 'data');
    await two.recorder.until('the message', () => two.recorder.of('message').length > 0, WITHIN_MS);
    const [message] = two.recorder.of('message');
    expect(message?.bytes.buffer.byteLength).toBe(2);
  });

  it('M11: a link that is not emptied says queued, then drops data, and heartbeats later', async () => {
    const [one, two] = [start('a'), start('b')];
    await linked(one, two);
    const key = one.recorder.links[0] ?? '';
    const mebibyte = new Uint8Array(1024 * 1024);
    // In one turn: the other end takes nothing meanwhile.
    const results = Array.from({ length: 34 }, () => one.transport.send(key, mebibyte, 'data'));
    expect([results[0], results[1], results[31], results[33]]).toEqual([
      'queued',
      'queued',
      'queued',
      'dropped',
    ]);
    expect(one.transport.send(key, Uint8Array.of(1), 'control')).toBe('queued');
    expect(one.transport.send(key, mebibyte, 'control')).toBe('queued');
    expect(one.transport.send(key, mebibyte, 'control')).toBe('dropped');
    const sent = results.filter((result) => result !== 'dropped').length + 2;
    await two.recorder.until('all', () => two.recorder.of('message').length === sent, WITHIN_MS);
    await turns();
    expect(one.transport.send(key, Uint8Array.of(1), 'data')).toBe('sent');
  });

  it('M11: at linksMax no more links are made, which is said once; who leaves makes room', async () => {
    const one = start('a', { linksMax: 1 });
    const two = start('b');
    await linked(one, two);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const three = start('c');
    const four = start('d');
    await turns();
    // Long after the two have ceased to call.
    await vi.advanceTimersByTimeAsync(60_000);
    expect(faults(one)).toEqual(['links-exhausted']);
    expect(one.recorder.links).toHaveLength(1);
    expect([three, four].map(({ recorder }) => recorder.links.length)).toEqual([2, 2]);
    await two.transport.close();
    await turns();
    expect(one.recorder.of('linkUp')).toHaveLength(2);
    expect(one.recorder.links).toHaveLength(1);
  });

  it('without locks, a link that is silent for a minute ends, and is made anew if the other lives', async () => {
    const [one, two] = [start('a', { locks: null }), start('b', { locks: null })];
    await linked(one, two);
    const [key] = one.recorder.links;
    const now = performance.now();
    vi.spyOn(performance, 'now').mockImplementation(() => now + 61_000);
    one.transport.send(key ?? '', Uint8Array.of(1), 'control');
    await one.recorder.until('a new link', () => one.recorder.of('linkUp').length === 2, WITHIN_MS);
    await two.recorder.until('a new link', () => two.recorder.of('linkUp').length === 2, WITHIN_MS);
    expect(one.recorder.of('linkDown')).toEqual([{ type: 'linkDown', peer: key, why: 'failed' }]);
    expect(two.recorder.of('linkDown').map(({ why }) => why)).toEqual(['replaced']);
    await linked(one, two);
  });

  it('with locks, silence ends no link', async () => {
    const [one, two] = [start('a'), start('b')];
    await linked(one, two);
    const now = performance.now();
    vi.spyOn(performance, 'now').mockImplementation(() => now + 3_600_000);
    one.transport.send(one.recorder.links[0] ?? '', Uint8Array.of(1), 'control');
    await turns();
    expect(one.recorder.of('linkDown')).toEqual([]);
  });

  it('M11: whatever else is on its channels does no harm', async () => {
    const [one, two] = [start('a'), start('b')];
    await linked(one, two);
    const root = `doyen/c${cluster}`;
    const lobby = new BroadcastChannel(`${root}/lobby`);
    const pair = new BroadcastChannel(`${root}/link/i-a%2F1/i-b%2F1`);
    const junk = [
      null,
      7,
      'here',
      {},
      [],
      { type: 'here' },
      { type: 'here', seat: '', isHeld: true },
      { type: 'here', seat: 'x'.repeat(200), isHeld: true },
      { type: 'here', seat: 'i-x/1', isHeld: 1 },
      { type: 'open' },
      { type: 'open', attempt: 7, id: 'b' },
      { type: 'ack', bytes: Number.NaN },
      { type: 'ack', bytes: 1e300 },
      { type: 'ack', bytes: -1 },
      { type: 'drained' },
      { type: 'drained', attempt: 'another' },
      { type: '__proto__' },
    ];
    for (const data of junk) {
      lobby.postMessage(data);
      pair.postMessage(data);
    }
    one.transport.send(one.recorder.links[0] ?? '', Uint8Array.of(7), 'data');
    await two.recorder.until('the message', () => two.recorder.of('message').length > 0, WITHIN_MS);
    lobby.close();
    pair.close();
    await turns();
    for (const { recorder } of [one, two]) {
      expect(recorder.links).toHaveLength(1);
      expect(recorder.of('linkUp')).toHaveLength(1);
    }
  });

  it('clusters and names of different spelling never meet', async () => {
    const one = start('a', { name: 'x' });
    const two = start('b', { name: 'x.y' });
    await one.recorder.until('discovery', () => pending(one).length > 0, WITHIN_MS);
    await two.recorder.until('discovery', () => pending(two).length > 0, WITHIN_MS);
    await turns();
    expect([one.recorder.links, two.recorder.links]).toEqual([[], []]);
  });
});
