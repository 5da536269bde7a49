import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { connectSignaling, type SignalingClient, type SignalingOptions } from '../src/index.ts';
import { FakeSocket, WELCOME } from './fake-socket.ts';

const ROOM = 'room-of-the-client-tests';
const clients: SignalingClient[] = [];

beforeEach(() => {
  vi.useFakeTimers();
  FakeSocket.made = [];
});
afterEach(() => {
  for (const client of clients.splice(0)) client.close();
  vi.useRealTimers();
});

/** A client whose first socket has been made. */
async function connect(options: Partial<SignalingOptions> = {}): Promise<SignalingClient> {
  const client = connectSignaling({
    url: 'wss://signal.example/v1',
    room: ROOM,
    WebSocket: FakeSocket,
    random: () => 0.5,
    ...options,
  });
  clients.push(client);
  await settle();
  return client;
}

const settle = () => vi.advanceTimersByTimeAsync(0);

function record(client: SignalingClient): string[] {
  const events: string[] = [];
  for (const type of ['ready', 'joined', 'left', 'away', 'back', 'signal', 'error'] as const)
    client.addEventListener(type, (event) => events.push(event.type));
  client.addEventListener('statechange', () => events.push(client.state));
  return events;
}

const sent = (socket: FakeSocket) => socket.sent.map((text) => JSON.parse(text));

describe('entering a room', () => {
  test('S12: it waits for the welcome, says hello with a fresh token, and is ready', async () => {
    let asked = 0;
    const token = async () => `token-${++asked}`;
    const client = await connect({ token, meta: 'me' });
    const socket = FakeSocket.last;
    expect(socket.url).toBe(`wss://signal.example/v1/rooms/${ROOM}`);
    expect(socket.protocol).toBe('doyen.signal.v1');
    expect(socket.sent).toEqual([]);
    expect([client.state, client.peer]).toEqual(['connecting', undefined]);
    socket.admit({ peers: [{ peer: 'other', meta: 'm' }], iceServers: [{ urls: 'stun:s' }] });
    expect(sent(socket)).toEqual([{ type: 'hello', token: 'token-1', meta: 'me' }]);
    expect([client.state, client.peer]).toEqual(['ready', 'me']);
    expect([...client.peers.values()]).toEqual([{ peer: 'other', meta: 'm' }]);
    expect(client.iceServers).toEqual([{ urls: 'stun:s' }]);
    socket.end(1006);
    await vi.advanceTimersByTimeAsync(500);
    FakeSocket.last.tell(WELCOME);
    expect(sent(FakeSocket.last)).toEqual([
      { type: 'hello', token: 'token-2', resume: 'token-1', meta: 'me' },
    ]);
  });

  test('S21: the view follows the room, and each change is told once', async () => {
    const client = await connect();
    const events = record(client);
    const socket = FakeSocket.last;
    socket.admit();
    socket.tell({ type: 'joined', peer: 'a', meta: 'm', seq: 1 });
    socket.tell({ type: 'joined', peer: 'a', meta: 'm', seq: 1 });
    socket.tell({ type: 'away', peer: 'a', seq: 2 });
    expect(client.peers.get('a')).toEqual({ peer: 'a', meta: 'm', away: true });
    socket.tell({ type: 'away', peer: 'a', seq: 3 });
    socket.tell({ type: 'back', peer: 'a', seq: 4 });
    expect(client.peers.get('a')).toEqual({ peer: 'a', meta: 'm' });
    socket.tell({ type: 'left', peer: 'a', reason: 'bye', seq: 5 });
    socket.tell({ type: 'left', peer: 'a', reason: 'bye', seq: 6 });
    expect(client.peers.size).toBe(0);
    expect(events).toEqual(['ready', 'ready', 'joined', 'away', 'back', 'left']);
  });

  test('S4: a full list replaces the view, and what differs is told', async () => {
    const client = await connect();
    FakeSocket.last.admit({ peers: [{ peer: 'a' }, { peer: 'b' }, { peer: 'c', away: true }] });
    const events: string[] = [];
    for (const type of ['joined', 'left', 'away', 'back'] as const)
      client.addEventListener(type, (event) => events.push(`${type} ${event.peer}`));
    const peers = [{ peer: 'b', away: true }, { peer: 'c' }, { peer: 'd', away: true }];
    FakeSocket.last.tell({ type: 'peers', peers, seq: 9 });
    expect(events).toEqual(['left a', 'joined d', 'away b', 'back c', 'away d']);
    expect([...client.peers.values()].sort((x, y) => (x.peer < y.peer ? -1 : 1))).toEqual(peers);
  });

  test('S10: a server cannot grow the view without bound', async () => {
    const client = await connect();
    FakeSocket.last.admit();
    for (let i = 0; i < 3_000; i += 1)
      FakeSocket.last.tell({ type: 'joined', peer: `p${i}`, seq: i });
    expect(client.peers.size).toBe(1_024);
  });

  test('S8: nothing that a server sends makes the client throw', async () => {
    const client = await connect();
    FakeSocket.last.admit();
    const types = ['welcome', 'ready', 'peers', 'joined', 'left', 'signal', 'error', '__proto__'];
    const almost = fc.record(
      {
        type: fc.constantFrom(...types),
        peer: fc.anything(),
        peers: fc.anything(),
        from: fc.anything(),
        data: fc.anything(),
        code: fc.anything(),
        seq: fc.anything(),
        heartbeatMs: fc.anything(),
      },
      { requiredKeys: [] },
    );
    const text = fc.oneof(fc.string(), fc.json(), almost.map(jsonOrNothing));
    fc.assert(fc.property(text, (given) => FakeSocket.last.tell(given)));
    expect(client.state).toBe('ready');
    FakeSocket.last.tell({ type: 'joined', peer: 'still-here', seq: 1 });
    expect(client.peers.has('still-here')).toBe(true);
  });
});

describe('sending', () => {
  test('S2: a signal names its receiver only, and what comes is handed over with its sender', async () => {
    const client = await connect();
    expect(client.send('a', 'early')).toBe(false);
    FakeSocket.last.admit();
    expect(client.send('a', 'data', 'r1')).toBe(true);
    expect(sent(FakeSocket.last).at(-1)).toEqual({
      type: 'signal',
      to: 'a',
      data: 'data',
      ref: 'r1',
    });
    const signals: unknown[] = [];
    client.addEventListener('signal', ({ from, data }) => signals.push([from, data]));
    client.addEventListener('error', ({ code, ref }) => signals.push([code, ref]));
    FakeSocket.last.tell({ type: 'signal', from: 'a', data: 'answer' });
    FakeSocket.last.tell({ type: 'error', code: 'no_such_peer', ref: 'r1' });
    expect(signals).toEqual([
      ['a', 'answer'],
      ['no_such_peer', 'r1'],
    ]);
  });

  test('S10: what is too large is refused here, since it would cost the socket there', async () => {
    const client = await connect();
    FakeSocket.last.admit();
    const errors: unknown[] = [];
    client.addEventListener('error', ({ code, ref }) => errors.push([code, ref]));
    const count = FakeSocket.last.sent.length;
    expect(client.send('a', 'x'.repeat(12 * 1024 + 1), 'big')).toBe(false);
    expect(client.send('a', '"'.repeat(9 * 1024), 'quoted')).toBe(false);
    expect(errors).toEqual([
      ['too_large', 'big'],
      ['too_large', 'quoted'],
    ]);
    expect(client.send('a', 'x'.repeat(12 * 1024))).toBe(true);
    FakeSocket.last.bufferedAmount = 2 * 1024 * 1024;
    expect(client.send('a', 'x')).toBe(false);
    expect(FakeSocket.last.sent.length).toBe(count + 1);
  });
});

describe('losing the socket', () => {
  test('S22: waits double from 1 s to 30 s with the jitter over the whole wait', async () => {
    const client = await connect({ random: () => 0.999 });
    const waits: number[] = [];
    for (let i = 0; i < 8; i += 1) {
      FakeSocket.last.end(1006);
      expect(client.state).toBe('waiting');
      const count = FakeSocket.made.length;
      const start = Date.now();
      while (FakeSocket.made.length === count) await vi.advanceTimersByTimeAsync(100);
      waits.push(Math.round((Date.now() - start) / 1_000));
    }
    expect(waits).toEqual([1, 2, 4, 8, 16, 30, 30, 30]);
  });

  test('S22: with the least jitter even the longest wait is next to nothing', async () => {
    await connect({ random: () => 0 });
    for (let i = 0; i < 10; i += 1) {
      FakeSocket.last.end(1006);
      await vi.advanceTimersByTimeAsync(1);
    }
    expect(FakeSocket.made.length).toBe(11);
  });

  test('S22: only ten seconds in the room make the next wait short again', async () => {
    await connect();
    for (let i = 0; i < 4; i += 1) {
      FakeSocket.last.end(1006);
      await vi.advanceTimersByTimeAsync(8_000);
    }
    FakeSocket.last.admit();
    await vi.advanceTimersByTimeAsync(9_000);
    FakeSocket.last.end(1006);
    const count = FakeSocket.made.length;
    await vi.advanceTimersByTimeAsync(7_900);
    expect(FakeSocket.made.length).toBe(count);
    await vi.advanceTimersByTimeAsync(200);
    expect(FakeSocket.made.length).toBe(count + 1);
    FakeSocket.last.admit();
    await vi.advanceTimersByTimeAsync(10_000);
    FakeSocket.last.end(1006);
    await vi.advanceTimersByTimeAsync(500);
    expect(FakeSocket.made.length).toBe(count + 2);
  });

  test('S22: 1003, 1008, 4400, 4401 and 4409 fail for good, all others are retried', async () => {
    const failing: number[] = [];
    for (const code of [
      1000, 1001, 1003, 1006, 1008, 1009, 1012, 1013, 4400, 4401, 4408, 4409, 4429, 4503,
    ]) {
      const client = await connect();
      FakeSocket.last.end(code);
      if (client.state === 'failed') failing.push(client.code ?? 0);
      else expect(client.state).toBe('waiting');
      client.close();
    }
    expect(failing).toEqual([1003, 1008, 4400, 4401, 4409]);
    const count = FakeSocket.made.length;
    await vi.advanceTimersByTimeAsync(120_000);
    expect(FakeSocket.made.length).toBe(count);
  });

  test('S16: after draining, waits are spread evenly over the time that the server named', async () => {
    let state = 1;
    // A small generator of evenly spread numbers, the same in every run.
    const random = () => {
      state = (state * 48_271) % 2_147_483_647;
      return state / 2_147_483_647;
    };
    const bins = new Array<number>(10).fill(0);
    for (let i = 0; i < 500; i += 1) {
      await connect({ random });
      const socket = FakeSocket.last;
      socket.admit();
      socket.tell({ type: 'draining', spreadMs: 10_000 });
      socket.end(1012);
    }
    let before = 500;
    for (let bin = 0; bin < 10; bin += 1) {
      await vi.advanceTimersByTimeAsync(1_000);
      bins[bin] = FakeSocket.made.length - before;
      before = FakeSocket.made.length;
    }
    expect(before).toBe(1_000);
    const chiSquare = bins.reduce((sum, count) => sum + (count - 50) ** 2 / 50, 0);
    // 27.9 is the 0.999 quantile for nine degrees of freedom.
    expect(chiSquare).toBeLessThan(27.9);
  });

  test('S22: an attempt that hangs is given up, before and after the welcome', async () => {
    const client = await connect();
    await vi.advanceTimersByTimeAsync(10_000);
    expect([client.state, FakeSocket.last.closedWith]).toEqual(['waiting', 1005]);
    await vi.advanceTimersByTimeAsync(500);
    FakeSocket.last.tell(WELCOME);
    await vi.advanceTimersByTimeAsync(29_000);
    expect(client.state).toBe('connecting');
    await vi.advanceTimersByTimeAsync(1_000);
    expect(client.state).toBe('waiting');
  });

  test('S24: it pings as often as it was told, and gives a socket up that does not answer', async () => {
    const client = await connect();
    const socket = FakeSocket.last;
    socket.admit();
    await vi.advanceTimersByTimeAsync(25_000);
    expect(socket.sent.at(-1)).toBe('{"type":"ping"}');
    socket.tell('{"type":"pong"}');
    await vi.advanceTimersByTimeAsync(25_000 + 9_000);
    expect(client.state).toBe('ready');
    await vi.advanceTimersByTimeAsync(1_000);
    expect([client.state, socket.closedWith]).toEqual(['waiting', 1005]);
    socket.tell({ type: 'joined', peer: 'ghost', seq: 1 });
    socket.end(4401);
    expect([client.state, client.peers.size]).toEqual(['waiting', 0]);
  });

  test('S24: it answers a ping of the server', async () => {
    await connect();
    FakeSocket.last.admit();
    FakeSocket.last.tell('{"type":"ping"}');
    expect(FakeSocket.last.sent.at(-1)).toBe('{"type":"pong"}');
  });

  test('S22: reconnectNow skips the wait, and tests a socket that seems open', async () => {
    const client = await connect();
    FakeSocket.last.end(1006);
    client.reconnectNow();
    client.reconnectNow();
    await settle();
    expect(FakeSocket.made.length).toBe(2);
    FakeSocket.last.admit();
    client.reconnectNow();
    expect(FakeSocket.last.sent.at(-1)).toBe('{"type":"ping"}');
    await vi.advanceTimersByTimeAsync(10_000);
    expect(client.state).toBe('waiting');
  });

  test('S22: a token that fails is told, and asked for again', async () => {
    const tokens: (() => string)[] = [
      () => {
        throw new Error('offline');
      },
      () => 'x'.repeat(9_000),
      () => 'good',
    ];
    const errors: string[] = [];
    const client = connectSignaling({
      url: 'wss://signal.example',
      room: ROOM,
      WebSocket: FakeSocket,
      random: () => 0.5,
      token: () => (tokens.shift() ?? (() => 'good'))(),
    });
    clients.push(client);
    client.addEventListener('error', ({ code }) => errors.push(code));
    await vi.advanceTimersByTimeAsync(2_000);
    expect(errors).toEqual(['token_failed', 'token_failed']);
    expect(FakeSocket.made.length).toBe(1);
  });

  test('S22: a socket that the page may not open fails for good', async () => {
    class Blocked extends FakeSocket {
      constructor(url: string) {
        super(url);
        throw new Error('mixed content');
      }
    }
    const errors: string[] = [];
    const client = connectSignaling({ url: 'ws://signal.example', room: ROOM, WebSocket: Blocked });
    client.addEventListener('error', ({ code }) => errors.push(code));
    await settle();
    expect([client.state, client.code, errors]).toEqual(['failed', undefined, ['socket_blocked']]);
  });
});

describe('closing', () => {
  test('S21: close says bye once and ends everything', async () => {
    const client = await connect();
    const events = record(client);
    const socket = FakeSocket.last;
    socket.admit();
    client.close();
    client.close();
    socket.end(1000);
    socket.tell({ type: 'joined', peer: 'late', seq: 1 });
    expect(socket.sent.filter((text) => text === '{"type":"bye"}').length).toBe(1);
    expect(socket.closedWith).toBe(1000);
    expect(events).toEqual(['ready', 'ready', 'closed']);
    expect([client.peer, client.send('a', 'x')]).toEqual([undefined, false]);
    client.reconnectNow();
    await settle();
    expect([FakeSocket.made.length, vi.getTimerCount()]).toEqual([1, 0]);
  });

  test('S22: closed while it waits for a token, it opens no socket', async () => {
    const client = await connect({ token: () => new Promise<string>(() => undefined) });
    client.close();
    await vi.advanceTimersByTimeAsync(60_000);
    expect([FakeSocket.made.length, client.state]).toEqual([0, 'closed']);
  });

  test('S22: an abort closes, also one that came before', async () => {
    const controller = new AbortController();
    const client = await connect({ signal: controller.signal });
    FakeSocket.last.admit();
    controller.abort();
    expect(client.state).toBe('closed');
    const stillborn = await connect({ signal: controller.signal });
    expect([stillborn.state, FakeSocket.made.length]).toEqual(['closed', 1]);
  });

  test('S21: a listener of statechange may close the client', async () => {
    const client = await connect();
    const events = record(client);
    client.addEventListener('statechange', () => client.close());
    FakeSocket.last.admit();
    expect(events).toEqual(['ready', 'closed']);
  });
});

test('S25: wrong options are refused by name', () => {
  const options = { url: 'wss://signal.example/v1', room: ROOM, WebSocket: FakeSocket };
  const make = (change: object) => () => connectSignaling({ ...options, ...change });
  expect(make({ url: 'signal.example' })).toThrow(/^url must be a ws: or wss: address/);
  expect(make({ url: 'https://signal.example' })).toThrow(RangeError);
  expect(make({ room: 'short' })).toThrow(/^room must be 22 to 64 characters/);
  expect(make({ meta: 'x'.repeat(1_025) })).toThrow(RangeError);
  expect(() => connectSignaling({ url: options.url, room: ROOM })).toThrow(
    /^WebSocket must be given/,
  );
});

test('S25: the address may end with a slash or carry a query', async () => {
  await connect({ url: 'wss://signal.example/a/v1/?x=1' });
  expect(FakeSocket.last.url).toBe(`wss://signal.example/a/v1/rooms/${ROOM}?x=1`);
});

function jsonOrNothing(value: unknown): string {
  try {
    return JSON.stringify(value) ?? '';
  } catch {
    // Cycles and big integers cannot be sent as JSON at all.
    return '';
  }
}
