import { createServer, type Server } from 'node:http';
import { describe, expect, test } from 'vitest';
import { connectSignaling, roomIdOf, type SignalingOptions } from '../src/index.ts';
import { createSignalingServer, type ListenOptions } from '../src/node.ts';
import { FakeSocket } from './fake-socket.ts';

/** What is thrown, by its class and its words. */
function refusalOf(act: () => unknown): [unknown, string] {
  try {
    act();
  } catch (error) {
    return [(error as Error).constructor, (error as Error).message];
  }
  throw new Error('expected a refusal');
}

describe('options of the server', () => {
  test.each<[string, object | null, typeof TypeError, string]>([
    ['nothing', null, TypeError, 'options must be an object, got null'],
    ['authorise', { authorise: () => false }, TypeError, 'authorise is no option'],
    ['origin', { origin: 'https://app.example' }, TypeError, 'origin is no option'],
    ['authorize', { authorize: 'x' }, TypeError, 'authorize must be a function, got "x"'],
    ['address', { address: 'x' }, TypeError, 'address must be a function, got "x"'],
    ['onError', { onError: null }, TypeError, 'onError must be a function, got null'],
    [
      'iceServers',
      { iceServers: [{ url: 'stun:x' }] },
      TypeError,
      'iceServers must be an array of { urls } or a function, got an array',
    ],
    ['limits', { limits: 5 }, TypeError, 'limits must be an object, got 5'],
    [
      'origins',
      { origins: ['https://app.example/'] },
      TypeError,
      "origins must be '*' or an array of 'https://host[:port]', got an array",
    ],
  ])('S10: a wrong %s is refused by name', (_name, options, type, message) => {
    expect(refusalOf(() => createSignalingServer(options as object))).toEqual([type, message]);
  });

  test.each<[unknown, typeof TypeError, string]>([
    [8787, TypeError, 'options must be an object, got 8787'],
    [{ port: 'x' }, TypeError, 'port must be 0 to 65535, got "x"'],
    [{ port: 65_536 }, RangeError, 'port must be 0 to 65535, got 65536'],
    [{ port: 1.5 }, RangeError, 'port must be 0 to 65535, got 1.5'],
    [{ host: '' }, RangeError, 'host must be a host name or an address, got ""'],
    [{ hostname: 'x' }, TypeError, 'hostname is no option'],
  ])('S10: listen(%j) is refused by name, and opens nothing', async (options, type, message) => {
    const server = createSignalingServer();
    const error = await server.listen(options as ListenOptions).catch((reason) => reason);
    expect([error.constructor, error.message]).toEqual([type, message]);
    // The refusal was not a first call.
    await server.listen();
    await server.close();
  });

  test('S10: only an http server can be attached to', async () => {
    const server = createSignalingServer();
    const router = Object.assign(() => undefined, { on: () => undefined, listen: () => undefined });
    for (const [wrong, shown] of [
      [{}, 'an object'],
      [undefined, 'undefined'],
      [router, 'a function'],
    ] as const) {
      const message = `server must be an http server, got ${shown}`;
      const attach = () => server.attach(wrong as unknown as Server);
      expect(refusalOf(attach)).toEqual([TypeError, message]);
    }
    server.attach(createServer());
    await server.close();
  });

  test('S10: a wrong way to close is refused by name, and closes nothing', async () => {
    const server = createSignalingServer();
    const close = (options: object) => refusalOf(() => server.close(options));
    expect(close({ spread: 5 })).toEqual([TypeError, 'spread is no option']);
    expect(close({ spreadMs: -1 })).toEqual([
      RangeError,
      'spreadMs must be 0 or more milliseconds, got -1',
    ]);
    await server.listen();
    await server.close({ spreadMs: 0 });
  });
});

describe('options of the client', () => {
  const right = { url: 'wss://signal.example/v1', room: roomIdOf('x'), WebSocket: FakeSocket };

  test.each<[string, unknown, typeof TypeError, string]>([
    ['nothing', undefined, TypeError, 'options must be an object, got undefined'],
    ['tokn', { ...right, tokn: () => 'x' }, TypeError, 'tokn is no option'],
    ['token', { ...right, token: 'x' }, TypeError, 'token must be a function, got "x"'],
    ['meta', { ...right, meta: {} }, TypeError, 'meta must be a string, got an object'],
    ['random', { ...right, random: 0.5 }, TypeError, 'random must be a function, got 0.5'],
    ['signal', { ...right, signal: {} }, TypeError, 'signal must be an AbortSignal, got an object'],
    ['url', { room: right.room }, TypeError, 'url must be a ws: or wss: address, got undefined'],
    [
      'room',
      { ...right, room: 'orders' },
      RangeError,
      'room must be 22 to 64 characters of base64url, got "orders"',
    ],
  ])(
    'S10: a wrong %s is refused by name, and connects nothing',
    (_name, options, type, message) => {
      FakeSocket.made = [];
      const connect = () => connectSignaling(options as SignalingOptions);
      expect(refusalOf(connect)).toEqual([type, message]);
      expect(FakeSocket.made).toEqual([]);
    },
  );
});
