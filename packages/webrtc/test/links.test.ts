import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { exchange, openRoom, type Room, scriptedRtc, watchedRtc, watchedSockets } from './room.ts';

describe('links', () => {
  let room: Room;

  beforeEach(async () => {
    room = await openRoom();
  });

  afterEach(() => room.close());

  it('W2: two simultaneous joins give exactly one link, and make one connection each, ten times', async () => {
    for (let round = 0; round < 10; round += 1) {
      const [rtcA, rtcB] = [watchedRtc(), watchedRtc()];
      const [one, two] = [`a${round}`, `b${round}`];
      const a = room.start(one, { rtc: rtcA.rtc });
      const b = room.start(two, { rtc: rtcB.rtc });
      await Promise.all([a.untilLinks(1), b.untilLinks(1)]);
      await exchange(a, b);
      expect([rtcA.connections.length, rtcB.connections.length]).toEqual([1, 1]);
      await Promise.all([a.transport.close(), b.transport.close()]);
    }
  });

  it('W2: five that join at once form a full mesh of ten links', async () => {
    const ends = ['a', 'b', 'c', 'd', 'e'].map((id) => room.start(id));
    await Promise.all(ends.map((end) => end.untilLinks(4)));
    expect(ends.map(({ recorder }) => recorder.of('linkUp').length)).toEqual([4, 4, 4, 4, 4]);
    for (const [index, end] of ends.entries()) {
      const ids = end.recorder.of('linkUp').map(({ id }) => id);
      expect(ids.sort()).toEqual(['a', 'b', 'c', 'd', 'e'].toSpliced(index, 1));
    }
  });

  it('W2: the greater instance offers, whichever came first', async () => {
    for (const order of [
      ['a', 'b'],
      ['b', 'a'],
    ] as const) {
      const sockets = { a: watchedSockets(), b: watchedSockets() };
      const [first, second] = order;
      const one = room.start(first, { WebSocket: sockets[first].WebSocket });
      await one.until('discovery', () => one.recorder.of('discovery').length > 0);
      const two = room.start(second, { WebSocket: sockets[second].WebSocket });
      await Promise.all([one.untilLinks(1), two.untilLinks(1)]);
      const kinds = (signals: readonly string[]) =>
        signals.join().includes('\\"kind\\":\\"offer\\"');
      expect([kinds(sockets.a.signals), kinds(sockets.b.signals)]).toEqual([false, true]);
      await Promise.all([one.transport.close(), two.transport.close()]);
    }
  });

  it('W1: a link costs each end few signals, since candidates go together', async () => {
    const [ofA, ofB] = [watchedSockets(), watchedSockets()];
    await room.pair({ WebSocket: ofA.WebSocket }, { WebSocket: ofB.WebSocket });
    expect(ofA.signals.length).toBeLessThanOrEqual(3);
    expect(ofB.signals.length).toBeLessThanOrEqual(3);
  });

  it('W3: a message of 5 MB arrives, and heartbeats overtake it', async () => {
    const [a, b] = await room.pair();
    const big = new Uint8Array(5_000_000).map((_, index) => index % 253);
    expect(a.send(big, 'data')).toBe('queued');
    const beat = Uint8Array.of(1, 2, 3);
    expect(a.send(beat, 'control')).not.toBe('dropped');
    await b.untilMessage(big);
    const lengths = b.recorder.of('message').map(({ bytes }) => bytes.length);
    expect(lengths).toEqual([3, 5_000_000]);
  });

  it('W3: more than a link can carry is refused, and what was accepted arrives in order', async () => {
    const [a, b] = await room.pair();
    let accepted = 0;
    for (let index = 0; index < 40; index += 1) {
      const part = new Uint8Array(1_000_000);
      part[0] = accepted;
      if (a.send(part, 'data') !== 'dropped') accepted += 1;
    }
    expect(accepted).toBeGreaterThanOrEqual(16);
    expect(accepted).toBeLessThan(40);
    await b.until('all accepted', () => b.recorder.of('message').length === accepted);
    const order = b.recorder.of('message').map(({ bytes }) => bytes[0]);
    expect(order).toEqual(Array.from({ length: accepted }, (_, index) => index));
  });

  it('W3: a peer that sends garbage over its link loses the link, and nothing is thrown', async () => {
    const { rtc, connections } = watchedRtc();
    const channels: RTCDataChannel[] = [];
    const make = rtc.RTCPeerConnection.prototype.createDataChannel;
    rtc.RTCPeerConnection.prototype.createDataChannel = function (...parameters) {
      const channel = make.apply(this, parameters);
      channels.push(channel);
      return channel;
    };
    const [a] = await room.pair({}, { rtc });
    expect(connections.length).toBe(1);
    channels[0]?.send(Uint8Array.of(0xff, 1, 2, 3));
    await a.until('the link down', () => a.recorder.of('linkDown').length === 1);
    expect(a.recorder.of('linkDown')[0]?.why).toBe('failed');
  });

  it('W4: the last control message before a close arrives, even behind data', async () => {
    const [a, b] = await room.pair();
    a.send(new Uint8Array(500_000), 'data');
    const goodbye = Uint8Array.of(9);
    a.send(goodbye);
    void a.transport.close();
    await b.untilMessage(goodbye);
    await b.until('the link down', () => b.recorder.of('linkDown').length === 1);
    expect(b.recorder.of('linkDown')[0]?.why).toBe('closed');
  });

  it('W4: ICE that hears nothing is a hint, once, and the link goes on', async () => {
    const { rtc, connections, setIceState } = scriptedRtc();
    const [a, b] = await room.pair({ rtc });
    for (const state of ['disconnected', 'disconnected', 'connected']) {
      setIceState(state);
      connections[0]?.oniceconnectionstatechange?.(new Event('iceconnectionstatechange'));
    }
    expect(a.recorder.of('hint')).toEqual([{ type: 'hint', peer: a.key, kind: 'unreachable' }]);
    await exchange(a, b);
  });

  it('W5: a link that one end lost without the other noticing is replaced, under a new key', async () => {
    const { rtc, connections } = watchedRtc();
    const [a, b] = await room.pair({ rtc });
    const [oldA, oldB] = [a.key, b.key];
    connections[0]?.close();
    await b.until('another link', () => b.links.length === 1 && b.key !== oldB);
    await a.until('another link', () => a.links.length === 1 && a.key !== oldA);
    await exchange(a, b);
  });

  it('W5: with the server gone, links carry on; with a new one, they stay and others can join', async () => {
    const [a, b] = await room.pair();
    await room.stopServer();
    await a.until('the fault', () => a.faults.includes('signaling-unreachable'));
    await exchange(a, b);
    await room.startServer();
    const c = room.start('c');
    await Promise.all([a, b, c].map((end) => end.untilLinks(2)));
    expect([a, b].flatMap(({ recorder }) => recorder.of('linkDown'))).toEqual([]);
    expect(a.faults).toEqual(['signaling-unreachable']);
  });

  it('W5: without a server the transport says so once, tries on, and finds its peers later', async () => {
    await room.stopServer();
    const a = room.start('a');
    const b = room.start('b');
    await a.until('the fault', () => a.faults.length > 0);
    expect(a.recorder.of('discovery')).toEqual([]);
    await room.startServer();
    await Promise.all([a.untilLinks(1), b.untilLinks(1)]);
    expect(a.faults).toEqual(['signaling-unreachable']);
  });

  it('W5: a token that cannot be had is told, and asked for again', async () => {
    let asked = 0;
    const token = () => {
      asked += 1;
      if (asked === 1) throw new Error('signed out');
      return 'token';
    };
    const [a, b] = await room.pair({ token });
    expect(a.faults.toSorted()).toEqual(['signaling-refused', 'signaling-unreachable']);
    const { message } =
      a.recorder.of('fault').find(({ code }) => code === 'signaling-refused') ?? {};
    expect(message).toContain('signed out');
    await exchange(a, b);
  });

  it('W5: a page whose origin is not allowed is told so', async () => {
    class Foreign extends WebSocket {
      constructor(url: string, protocol?: string) {
        super(url, protocol, { origin: 'https://elsewhere.example' });
      }
    }
    const a = room.start('a', { WebSocket: Foreign });
    await a.until('the fault', () => a.faults.includes('signaling-refused'));
    const [fault] = a.recorder.of('fault');
    expect(fault?.message).toContain('code 1008 (origin not allowed); not trying again');
  });

  it('W5: an address without the path of the server is told with a hint', async () => {
    const a = room.start('a', { signaling: room.url.replace('/v1', '') });
    await a.until('the fault', () => a.faults.includes('signaling-unreachable'));
    expect(a.recorder.of('fault')[0]?.message).toContain('Does its path lack /v1?');
  });

  it('W5: when a peer loses the server its links stay, and the other end hears that it is away', async () => {
    const sockets = watchedSockets();
    const [a, b] = await room.pair({ WebSocket: sockets.WebSocket });
    sockets.sockets[0]?.terminate();
    await b.until('away', () => b.recorder.of('hint').some(({ kind }) => kind === 'away'));
    await b.until('present', () => b.recorder.of('hint').some(({ kind }) => kind === 'present'));
    await exchange(a, b);
    expect(b.recorder.of('linkUp').length).toBe(1);
  });

  it('W5: at the limit of links no more are made, and it is said once', async () => {
    const a = room.start('a', { linksMax: 1 });
    const b = room.start('b');
    await a.untilLinks(1);
    const c = room.start('c');
    await a.until('the fault', () => a.faults.includes('links-exhausted'));
    await Promise.all([b.untilLinks(2), c.untilLinks(1)]);
    expect(a.links.length).toBe(1);
    expect(a.faults).toEqual(['links-exhausted']);
  });

  it('W5: a connection that the platform refuses is tried again', async () => {
    const { rtc } = watchedRtc();
    let refused = 0;
    class Scarce extends rtc.RTCPeerConnection {
      constructor(configuration?: RTCConfiguration) {
        if (refused < 2) {
          refused += 1;
          throw new Error('no more connections');
        }
        super(configuration);
      }
    }
    const [a, b] = await room.pair({}, { rtc: { ...rtc, RTCPeerConnection: Scarce } });
    expect(refused).toBe(2);
    await exchange(a, b);
  });

  it('W5: ICE servers that cannot be had do not prevent links of one network', async () => {
    const iceServers = () => Promise.reject(new Error('no credentials'));
    const [a, b] = await room.pair({ iceServers });
    expect(a.faults).toEqual(['ice-servers-failed']);
    await exchange(a, b);
  });

  it('W5: a peer of the room to which no link comes up is told of, once, until one does', async () => {
    const { rtc } = watchedRtc();
    let isBlocked = true;
    class Blocked extends rtc.RTCPeerConnection {
      constructor(configuration?: RTCConfiguration) {
        if (isBlocked) throw new Error('no way out');
        super(configuration);
      }
    }
    const blocked = { rtc: { ...rtc, RTCPeerConnection: Blocked } };
    const [a, b] = [room.start('a', blocked), room.start('b', blocked)];
    const isTold = ({ faults }: typeof a) => faults.includes('peer-unreachable');
    // The one that offers sees its tries fail at once, the other when its time is up.
    await Promise.race([a, b].map((end) => end.until('the fault', () => isTold(end))));
    isBlocked = false;
    await Promise.all([a.untilLinks(1), b.untilLinks(1)]);
    expect([...a.faults, ...b.faults]).toEqual(['peer-unreachable']);
  });
});
