import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { roomIdOf } from '../src/index.ts';
import { createSignalingServer, type SignalingServerOptions } from '../src/node.ts';
import { until } from './once.ts';
import { RawSocket, rawExchange } from './raw-socket.ts';

const ROOM = roomIdOf('node tests');
const undo: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

async function start(options: SignalingServerOptions = {}) {
  const server = createSignalingServer(options);
  undo.push(() => server.close());
  const { url, port } = await server.listen();
  const open = (headers: Record<string, string> = {}, room = ROOM): RawSocket => {
    const raw = new RawSocket(`${url}/rooms/${room}`, { headers });
    undo.push(() => raw.socket.terminate());
    return raw;
  };
  return { server, url, port, open };
}

/** Two members, to see that the second lives whatever befalls the first. */
async function pair(options: SignalingServerOptions = {}) {
  const running = await start(options);
  const hostile = running.open();
  await hostile.enter();
  const bystander = running.open();
  const ready = await bystander.enter();
  return { ...running, hostile, bystander, peer: String(ready['peer']) };
}

async function expectAlive(raw: RawSocket): Promise<void> {
  raw.say({ type: 'ping' });
  await raw.heard('pong');
}

describe('what a socket may send', () => {
  test('S8, S10: malformed messages get bad_message, the third closes 4400', async () => {
    const { hostile, bystander } = await pair();
    hostile.say('not json');
    expect(await hostile.heard('error')).toEqual({ type: 'error', code: 'bad_message' });
    hostile.say('{"type":"signal"}');
    hostile.say('[1,2]');
    expect(await hostile.closed).toBe(4400);
    await expectAlive(bystander);
    expect(bystander.told.map(({ type }) => type)).toContain('away');
  });

  test('S8, S10: a frame over 16 KiB closes 1009, whole or in fragments', async () => {
    const { hostile, bystander, open } = await pair();
    hostile.say('x'.repeat(16 * 1024 + 1));
    expect(await hostile.closed).toBe(1009);
    const other = open();
    await other.enter();
    for (let i = 0; i < 20; i += 1) other.socket.send('x'.repeat(1_000), { fin: false });
    expect(await other.closed).toBe(1009);
    await expectAlive(bystander);
  });

  test('S8, S10: a binary frame closes 1003', async () => {
    const { hostile, bystander } = await pair();
    hostile.socket.send(Buffer.from('{"type":"ping"}'), { binary: true });
    expect(await hostile.closed).toBe(1003);
    await expectAlive(bystander);
  });

  test('S8: broken frames and broken UTF-8 end that socket and nothing else', async () => {
    const { hostile, bystander, open } = await pair();
    const tcp = (raw: RawSocket) => Reflect.get(raw.socket, '_socket') as NodeJS.WritableStream;
    // Reserved bits set in a masked text frame of no length.
    tcp(hostile).write(Buffer.from([0xf1, 0x80, 0, 0, 0, 0]));
    expect(await hostile.closed).toBe(1002);
    const other = open();
    await other.enter();
    // A masked text frame with the byte 0xff.
    tcp(other).write(Buffer.from([0x81, 0x81, 0, 0, 0, 0, 0xff]));
    expect(await other.closed).toBe(1007);
    const tiny = open();
    await tiny.enter();
    for (let i = 0; i < 200; i += 1) tiny.socket.send('', { fin: false });
    expect(await tiny.closed).toBe(1008);
    await expectAlive(bystander);
  });

  test('S10: a flood is dropped with rate_limited, then closed with 4429', async () => {
    const { hostile, bystander, peer } = await pair({ limits: { messagesPerSec: 1 } });
    for (let i = 0; i < 2_000; i += 1) hostile.say({ type: 'signal', to: peer, data: 'x' });
    expect(await hostile.closed).toBe(4429);
    expect(await hostile.heard('error')).toMatchObject({ code: 'rate_limited' });
    await expectAlive(bystander);
    expect(bystander.told.filter(({ type }) => type === 'signal').length).toBeLessThan(520);
  });

  test('S11: a slow reader is cut off at the watermark and delays nobody', async () => {
    const { server, open } = await start({
      limits: { bytesPerSec: 10 ** 9, bytesBurst: 10 ** 9, messagesBurst: 10 ** 6 },
    });
    const slow = open();
    const { peer } = await slow.enter();
    const sender = open();
    await sender.enter();
    const other = open();
    const otherReady = await other.enter();
    slow.socket.pause();
    const data = 'x'.repeat(12 * 1024);
    const isCut = () => sender.told.some(({ type }) => type === 'away');
    for (let sent = 0; !isCut(); sent += 1) {
      if (sent > 5_000) throw new Error('the slow reader was never cut off');
      sender.say({ type: 'signal', to: peer, data });
      if (sent % 20 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    sender.say({ type: 'signal', to: otherReady['peer'], data: 'prompt' });
    expect(await other.heard('signal')).toMatchObject({ data: 'prompt' });
    slow.socket.resume();
    expect(await slow.closed).toBe(1013);
    await until(() => server.metrics().sockets === 2);
  });
});

describe('sockets that say nothing', () => {
  test('S10: without a hello a socket is closed 4408', async () => {
    const { open } = await start({ limits: { helloTimeoutMs: 500 } });
    expect(await open().closed).toBe(4408);
  });

  test('S24: a silent member is asked for a sign of life, then closed 1001', async () => {
    const { open } = await start({ limits: { heartbeatMs: 500, idleTimeoutMs: 2_500 } });
    const silent = open();
    await silent.enter();
    await silent.heard('ping');
    expect(await silent.closed).toBe(1001);
  });

  test('S8: a socket that never answers a close is cut off', { timeout: 15_000 }, async () => {
    const { server, port } = await start({ limits: { helloTimeoutMs: 100 } });
    const upgrade =
      `GET /v1/rooms/${ROOM} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
      'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n';
    const answer = await rawExchange(port, upgrade);
    expect(answer).toContain('101 Switching Protocols');
    expect(server.metrics().sockets).toBe(0);
  });
});

describe('resuming', () => {
  test('S7: a second socket with the token takes over, the first is closed 4409', async () => {
    const { open } = await start();
    const watcher = open();
    await watcher.enter();
    const first = open();
    const ready = await first.enter();
    const second = open();
    const again = await second.enter({ resume: String(ready['resume']) });
    expect(again['peer']).toBe(ready['peer']);
    expect(await first.closed).toBe(4409);
    expect(watcher.told.map(({ type }) => type)).toEqual(['welcome', 'ready', 'joined']);
  });

  test('S7: of many sockets racing with one token exactly one stays', async () => {
    const { server, open } = await start();
    const first = open();
    const ready = await first.enter();
    const racers = Array.from({ length: 8 }, () => open());
    await Promise.all(racers.map((racer) => racer.heard('welcome')));
    for (const racer of racers) racer.say({ type: 'hello', resume: ready['resume'] });
    let codes: number[] = [];
    for (const racer of racers) void racer.closed.then((code) => codes.push(code));
    await until(() => codes.length === 7);
    expect(codes).toEqual(Array(7).fill(4409));
    codes = [];
    expect(await first.closed).toBe(4409);
    expect(server.metrics()).toMatchObject({ sockets: 1, members: 1, away: 0 });
  });

  test('S21: a socket cut off without a goodbye is away at once, and back when it resumes', async () => {
    const { open } = await start();
    const watcher = open();
    await watcher.enter();
    const first = open();
    const ready = await first.enter();
    first.socket.terminate();
    expect(await watcher.heard('away')).toMatchObject({ peer: ready['peer'] });
    await open().enter({ resume: String(ready['resume']) });
    expect(await watcher.heard('back')).toMatchObject({ peer: ready['peer'] });
  });

  test('S21: bye is told as left at once', async () => {
    const { hostile: leaver, bystander } = await pair();
    leaver.say({ type: 'bye' });
    expect(await bystander.heard('left')).toMatchObject({ reason: 'bye' });
    expect(await leaver.closed).toBe(1000);
  });
});

describe('who may connect', () => {
  test('S23: an origin that is not listed is closed 1008, before a welcome', async () => {
    const { open } = await start({ origins: ['https://app.example'] });
    const stranger = open({ origin: 'https://app.example.evil.example' });
    expect(await stranger.closed).toBe(1008);
    expect(stranger.closeReason).toBe('origin not allowed');
    expect(stranger.told).toEqual([]);
    await open({ origin: 'https://app.example' }).enter();
  });

  test('S23: without a list pages of the same host may connect, and only they', async () => {
    const { open, port } = await start();
    await open({ origin: `http://127.0.0.1:${port}` }).enter();
    expect(await open({ origin: `http://127.0.0.1:${port + 1}` }).closed).toBe(1008);
    expect(await open({ origin: 'null' }).closed).toBe(1008);
  });

  test('S23: with * every page may connect', async () => {
    const { open } = await start({ origins: '*' });
    await open({ origin: 'https://anywhere.example' }).enter();
  });

  test('S12: authorize sees room, token, origin and address, and decides', async () => {
    const seen: unknown[] = [];
    const { open, port } = await start({
      authorize: (request) => {
        seen.push(request);
        return request.token === 'good';
      },
      origins: '*',
    });
    await open({ origin: 'https://app.example' }).enter({ token: 'good' });
    expect(seen).toEqual([
      { room: ROOM, token: 'good', origin: 'https://app.example', address: '127.0.0.1' },
    ]);
    const refused = open();
    await refused.heard('welcome');
    refused.say({ type: 'hello', token: 'bad' });
    expect(await refused.closed).toBe(4401);
    expect(await refused.heard('error')).toMatchObject({ code: 'unauthorized' });
    expect(port).toBeGreaterThan(0);
  });

  test('S23: without an origin a token is required where there is somebody to check it', async () => {
    const authorize = vi.fn(() => true);
    const { open } = await start({ authorize });
    const bare = open();
    await bare.heard('welcome');
    bare.say({ type: 'hello' });
    expect(await bare.closed).toBe(4401);
    expect(authorize).not.toHaveBeenCalled();
    await open().enter({ token: 'any' });
  });

  test('S8, S12: hooks that throw refuse, are reported, and end nothing', async () => {
    const onError = vi.fn();
    const { open } = await start({
      authorize: ({ token }) => {
        if (token === 'boom') throw new Error('boom');
        return true;
      },
      iceServers: () => [{ urls: 5 as unknown as string }],
      onError,
    });
    const refused = open();
    await refused.heard('welcome');
    refused.say({ type: 'hello', token: 'boom' });
    expect(await refused.closed).toBe(4401);
    expect(onError).toHaveBeenCalledWith(new Error('boom'), 'authorize');
    expect(await open().enter({ token: 'fine' })).not.toHaveProperty('iceServers');
    expect(onError).toHaveBeenLastCalledWith(expect.any(Error), 'iceServers');
  });

  test('S12: ICE servers are handed to whoever was let in', async () => {
    const iceServers = [{ urls: ['stun:stun.example'] }];
    const asked = await start({ iceServers: async () => iceServers });
    expect(await asked.open().enter()).toMatchObject({ iceServers });
    const listed = await start({ iceServers });
    expect(await listed.open().enter()).toMatchObject({ iceServers });
  });

  test('S10: addresses of one IPv6 network, and of one proxy header, count as one', async () => {
    const addresses = ['2001:db8:1:2::1', '2001:db8:1:2:ffff::', '2001:db8:1:2::abc'];
    const { open } = await start({
      address: () => addresses.shift() ?? '',
      limits: { socketsPerIpMax: 2 },
    });
    await open().enter();
    await open().enter();
    expect(await open().closed).toBe(4429);
  });

  test('S20: a session leaves nothing in the log', async () => {
    const spies = (['log', 'warn', 'error', 'info', 'debug'] as const).map((name) =>
      vi.spyOn(console, name),
    );
    const { hostile, bystander, peer } = await pair();
    hostile.say({ type: 'signal', to: peer, data: 'v=0 o=- secret' });
    await bystander.heard('signal');
    hostile.say('junk');
    await hostile.heard('error');
    for (const spy of spies) expect(spy).not.toHaveBeenCalled();
    vi.restoreAllMocks();
  });
});

describe('on an http server that is already there', () => {
  async function host(server: Server): Promise<number> {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    undo.push(() => {
      server.closeAllConnections();
      server.close();
    });
    return (server.address() as AddressInfo).port;
  }

  test('S25: rooms are served below the path, other requests and upgrades are left alone', async () => {
    const http = createServer((_request, response) => response.end('page'));
    http.on('upgrade', (request, socket) => {
      if (request.url === '/other') socket.end('HTTP/1.1 418 Teapot\r\n\r\n');
    });
    const port = await host(http);
    const signaling = createSignalingServer({ path: '/signal/v1' });
    signaling.attach(http);
    undo.push(() => signaling.close());
    const raw = new RawSocket(`ws://127.0.0.1:${port}/signal/v1/rooms/${ROOM}`);
    await raw.enter();
    expect(raw.socket.protocol).toBe('doyen.signal.v1');
    expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toBe('page');
    expect(await rawExchange(port, upgradeOf('/other'))).toContain('418');
    await signaling.close();
    expect(await raw.closed).toBe(1012);
    expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toBe('page');
  });

  test('S25: a path that names no room is not found', async () => {
    const { port } = await start({ limits: { helloTimeoutMs: 100 } });
    for (const path of ['/v1/rooms/short', '/v1', `/v1/rooms/${ROOM}/more`, `/v2/rooms/${ROOM}`])
      expect(await rawExchange(port, upgradeOf(path))).toContain('404 Not Found');
    expect(await rawExchange(port, upgradeOf(`/v1/rooms/${'x'.repeat(65)}`))).toContain('404');
    expect(await rawExchange(port, upgradeOf(`/v1/rooms/${ROOM}?a=b`))).toContain('101');
  });

  test('S8: bytes that are no HTTP, and sockets that vanish, end nothing', async () => {
    const { port, open } = await start();
    expect(await rawExchange(port, 'rubbish\r\n\r\n')).toContain('400 Bad Request');
    expect(await rawExchange(port, `GET /${'x'.repeat(100_000)} HTTP/1.1\r\n`)).toContain('400');
    for (let i = 0; i < 20; i += 1) {
      const socket = connect(port, '127.0.0.1', () => {
        socket.write(upgradeOf(`/v1/rooms/${ROOM}`));
        socket.resetAndDestroy();
      });
      await new Promise((resolve) => socket.on('close', resolve));
    }
    await open().enter();
  });

  test('S25: healthz answers with counts, and says when it is draining', async () => {
    const { server, port, open } = await start();
    await open().enter();
    const health = await fetch(`http://127.0.0.1:${port}/healthz`);
    expect([health.status, await health.json()]).toEqual([
      200,
      { status: 'ok', sockets: 1, pending: 0, rooms: 1, members: 1, away: 0, addresses: 1 },
    ]);
    expect((await fetch(`http://127.0.0.1:${port}/else`)).status).toBe(404);
    await server.close();
    await expect(fetch(`http://127.0.0.1:${port}/healthz`)).rejects.toThrow();
  });

  test('S16: closing twice is closing once, and listening twice is refused', async () => {
    const { server } = await start();
    await expect(server.listen()).rejects.toThrow('A signaling server listens once only.');
    expect(server.close()).toBe(server.close());
    await server.close();
  });

  test('S10: a wrong path or limit is refused by name', () => {
    const create = (options: object) => () => createSignalingServer(options);
    expect(create({ path: '/v1/' })).toThrow(/^path must be/);
    expect(create({ limits: { roomsMax: -1 } })).toThrow(/^limits\.roomsMax must be/);
  });
});

function upgradeOf(path: string): string {
  return (
    `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
    'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n'
  );
}
