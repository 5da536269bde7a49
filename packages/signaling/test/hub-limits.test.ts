import { describe, expect, test } from 'vitest';
import { DEFAULT_LIMITS, resolveLimits, type SignalingLimits } from '../src/limits.ts';
import { HubDriver, ROOM } from './hub-driver.ts';

interface LimitCase {
  readonly limits: Partial<SignalingLimits>;
  /** Brings the hub to its limit. */
  readonly reach: (driver: HubDriver) => void;
  /** Goes one beyond. */
  readonly exceed: (driver: HubDriver) => void;
  readonly closed?: readonly [socket: string, code: number];
  readonly error?: readonly [socket: string, code: string];
}

const signal = (length: number) => ({ type: 'signal', to: 'x', data: 'd'.repeat(length) });
const enter = (driver: HubDriver, count: number, fields = {}): void => {
  for (let i = 0; i < count; i += 1) driver.enter(`s${i}`, fields);
};
const ping = (driver: HubDriver, count: number): void => {
  for (let i = 0; i < count; i += 1) driver.say('s0', { type: 'ping' });
};

const cases: Record<keyof Omit<SignalingLimits, 'heartbeatMs' | 'bufferedBytesMax'>, LimitCase> = {
  messageBytesMax: {
    limits: { messageBytesMax: 100 },
    reach: (driver) => {
      driver.enter('s0');
      driver.say('s0', `{"type":"ping"${' '.repeat(85)}}`);
    },
    exceed: (driver) => driver.say('s0', `{"type":"ping"${' '.repeat(86)}}`),
    closed: ['s0', 1009],
  },
  helloTimeoutMs: {
    limits: {},
    reach: (driver) => {
      driver.open('s0');
      driver.pass(4_000);
      driver.say('s0', { type: 'pong' });
    },
    exceed: (driver) => driver.pass(1_000),
    closed: ['s0', 4408],
  },
  idleTimeoutMs: {
    limits: {},
    reach: (driver) => {
      driver.enter('s0');
      driver.pass(59_000);
    },
    exceed: (driver) => driver.pass(1_000),
    closed: ['s0', 1001],
  },
  resumeWindowMs: {
    limits: { resumeWindowMs: 3_000 },
    reach: (driver) => {
      enter(driver, 2);
      driver.drop('s1');
      driver.pass(2_000);
    },
    exceed: (driver) => {
      driver.pass(1_000);
      if (driver.last('s0')?.type === 'left') driver.closed.set('s1', 0);
    },
    closed: ['s1', 0],
  },
  roomPeersMax: {
    limits: {},
    reach: (driver) => enter(driver, 64),
    exceed: (driver) => {
      driver.open('more', { address: 'there' });
      driver.say('more', { type: 'hello' });
    },
    closed: ['more', 4503],
    error: ['more', 'room_full'],
  },
  messagesPerSec: {
    limits: {},
    reach: (driver) => {
      driver.enter('s0');
      ping(driver, 511);
      driver.pass(1_000);
      ping(driver, 50);
    },
    exceed: (driver) => ping(driver, 1),
    error: ['s0', 'rate_limited'],
  },
  messagesBurst: {
    limits: {},
    reach: (driver) => {
      driver.enter('s0');
      ping(driver, 511 + 511);
    },
    exceed: (driver) => ping(driver, 1),
    closed: ['s0', 4429],
  },
  bytesPerSec: {
    limits: { bytesPerSec: 1_000, bytesBurst: 2_000 },
    reach: (driver) => {
      driver.enter('s0');
      driver.say('s0', signal(1_900));
      driver.pass(1_000);
      driver.say('s0', signal(900));
    },
    exceed: (driver) => driver.say('s0', signal(900)),
    error: ['s0', 'rate_limited'],
  },
  bytesBurst: {
    limits: { bytesPerSec: 1, bytesBurst: 10_000 },
    reach: (driver) => {
      driver.enter('s0');
      driver.say('s0', signal(9_900));
      driver.say('s0', signal(9_800));
    },
    exceed: (driver) => driver.say('s0', signal(300)),
    closed: ['s0', 4429],
  },
  badMessagesMax: {
    limits: {},
    reach: (driver) => {
      driver.enter('s0');
      driver.say('s0', '{');
      driver.say('s0', { type: 'signal', to: 1 });
    },
    exceed: (driver) => driver.say('s0', '[]'),
    closed: ['s0', 4400],
    error: ['s0', 'bad_message'],
  },
  joinsPerIpPerMin: {
    limits: {},
    reach: (driver) => {
      for (let i = 0; i < 120; i += 1) {
        driver.open(`s${i}`);
        driver.drop(`s${i}`);
      }
    },
    exceed: (driver) => driver.open('more'),
    closed: ['more', 4429],
  },
  socketsPerIpMax: {
    limits: {},
    reach: (driver) => {
      for (let i = 0; i < 64; i += 1) driver.open(`s${i}`);
    },
    exceed: (driver) => driver.open('more'),
    closed: ['more', 4429],
  },
  socketsMax: {
    limits: { socketsMax: 3 },
    reach: (driver) => enter(driver, 3),
    exceed: (driver) => driver.open('more'),
    closed: ['more', 1013],
  },
  roomsMax: {
    limits: { roomsMax: 2 },
    reach: (driver) => {
      driver.enter('s0', { room: 'one' });
      driver.enter('s1', { room: 'two' });
      driver.enter('s2', { room: 'two' });
    },
    exceed: (driver) => {
      driver.open('more', { room: 'three' });
      driver.say('more', { type: 'hello' });
    },
    closed: ['more', 1013],
  },
  pendingHelloMax: {
    limits: { pendingHelloMax: 2 },
    reach: (driver) => {
      enter(driver, 2);
      driver.open('p0');
      driver.open('p1');
    },
    exceed: (driver) => driver.open('more'),
    closed: ['more', 1013],
  },
  authDelayMs: {
    limits: { authDelayMs: 3_000 },
    reach: (driver) => {
      driver.verdict = { isAllowed: false };
      driver.open('s0');
      driver.say('s0', { type: 'hello' });
      driver.pass(2_000);
    },
    exceed: (driver) => driver.pass(1_000),
    closed: ['s0', 4401],
    error: ['s0', 'unauthorized'],
  },
  authDelayMaxMs: {
    limits: {},
    reach: (driver) => {
      driver.verdict = { isAllowed: false };
      for (let i = 0; i < 40; i += 1) {
        driver.open(`s${i}`);
        driver.say(`s${i}`, { type: 'hello' });
      }
      driver.pass(24_000);
    },
    exceed: (driver) => driver.pass(1_000),
    closed: ['s39', 4401],
  },
};

describe('every limit of a hub', () => {
  for (const [name, { limits, reach, exceed, closed, error }] of Object.entries(cases)) {
    test(`S10: ${name} is answered as documented, and not before`, () => {
      const driver = new HubDriver(limits);
      reach(driver);
      if (closed) expect(driver.closed.has(closed[0])).toBe(false);
      else
        expect(driver.of('s0')).not.toContainEqual(expect.objectContaining({ code: error?.[1] }));
      driver.clear();
      exceed(driver);
      if (closed) expect(driver.closed.get(closed[0])).toBe(closed[1]);
      if (error) expect(driver.last(error[0])).toMatchObject({ type: 'error', code: error[1] });
      if (!closed) expect(driver.closed.size).toBe(0);
    });
  }

  test('S10: an authorization that never comes ends with 1013', () => {
    const driver = new HubDriver();
    driver.verdict = undefined;
    driver.open('a');
    driver.say('a', { type: 'hello' });
    driver.pass(4_000);
    expect(driver.closed.size).toBe(0);
    driver.pass(1_000);
    expect(driver.closed.get('a')).toBe(1013);
  });

  test('S10: data over 12 KiB and meta over 1 KiB are refused as too_large, with the ref', () => {
    const driver = new HubDriver();
    driver.open('a');
    driver.say('a', { type: 'hello', meta: 'é'.repeat(513) });
    expect(driver.last('a')).toEqual({ type: 'error', code: 'too_large' });
    driver.say('a', { type: 'hello', meta: 'é'.repeat(512) });
    expect(driver.last('a')).toMatchObject({ type: 'ready' });
    driver.say('a', { ...signal(12 * 1024 + 1), ref: 'big' });
    expect(driver.last('a')).toEqual({ type: 'error', code: 'too_large', ref: 'big' });
    driver.say('a', signal(12 * 1024));
    expect(driver.last('a')).toMatchObject({ code: 'no_such_peer' });
    expect(driver.closed.size).toBe(0);
  });

  test('S10: an unknown type is answered unsupported and never costs the socket', () => {
    const driver = new HubDriver();
    driver.enter('a');
    for (let i = 0; i < 10; i += 1) driver.say('a', { type: 'subscribe', ref: 'r' });
    expect(driver.last('a')).toEqual({ type: 'error', code: 'unsupported', ref: 'r' });
    expect(driver.closed.size).toBe(0);
  });

  test('S10: rate_limited says when to try again, and then it works', () => {
    const driver = new HubDriver({ messagesPerSec: 1, messagesBurst: 2 });
    driver.enter('a');
    driver.say('a', { type: 'ping' });
    driver.say('a', { type: 'signal', to: 'x', data: '', ref: 'r' });
    expect(driver.last('a')).toEqual({
      type: 'error',
      code: 'rate_limited',
      ref: 'r',
      retryMs: 2_000,
    });
    driver.pass(2_000);
    driver.say('a', { type: 'ping' });
    expect(driver.last('a')).toEqual({ type: 'pong' });
  });

  test('S10: one address over its limits does not shut another out', () => {
    const driver = new HubDriver();
    for (let i = 0; i < 200; i += 1) driver.open(`s${i}`, { address: 'crowd' });
    expect(driver.enter('other', { address: 'alone' }).peer).toBeDefined();
    driver.pass(5_000);
    driver.pass(60_000);
    expect(driver.enter('later', { address: 'crowd' }).peer).toBeDefined();
  });

  test('S10: those who are away make room for those who come, the longest away first', () => {
    const driver = new HubDriver({ roomPeersMax: 3 });
    driver.enter('a');
    const b = driver.enter('b');
    const c = driver.enter('c');
    driver.drop('b');
    driver.pass(1_000);
    driver.drop('c');
    driver.enter('d');
    expect(driver.of('a').find(({ type }) => type === 'left')).toMatchObject({
      peer: b.peer,
      reason: 'replaced',
    });
    expect(driver.enter('c2', { resume: c.resume }).peer).toBe(c.peer);
  });

  test('S10: no more members are awaited than sockets may be open', () => {
    const driver = new HubDriver({ socketsMax: 5, socketsPerIpMax: 5 });
    for (let i = 0; i < 20; i += 1) {
      driver.enter(`s${i}`);
      driver.drop(`s${i}`);
    }
    expect(driver.hub.metrics()).toMatchObject({ sockets: 0, away: 5, members: 5, rooms: 1 });
  });

  test('S10: addresses that come once are not remembered without bound', () => {
    const driver = new HubDriver();
    for (let i = 0; i < 70_000; i += 1) {
      driver.hub.open(`s${i}`, { room: ROOM, address: `address-${i}`, now: driver.now });
      driver.hub.close(`s${i}`, 1006, driver.now);
    }
    expect(driver.hub.metrics().addresses).toBe(65_536);
    driver.pass(1_000);
    expect(driver.hub.metrics().addresses).toBe(0);
  });
});

describe('limits as options', () => {
  test('S10: the burst follows the size of a room unless it is given', () => {
    expect(resolveLimits().messagesBurst).toBe(512);
    expect(resolveLimits({ roomPeersMax: 10 }).messagesBurst).toBe(80);
    expect(resolveLimits({ roomPeersMax: 10, messagesBurst: 7 }).messagesBurst).toBe(7);
  });

  test('S10: wrong limits are refused by name', () => {
    expect(() => resolveLimits({ socketsMax: 0 })).toThrow(
      new RangeError('limits.socketsMax must be a positive integer, got 0'),
    );
    expect(() => resolveLimits({ roomsMax: Number.NaN })).toThrow(RangeError);
    expect(() => resolveLimits({ roomsMax: '5' } as object)).toThrow(
      new TypeError('limits.roomsMax must be a number, got "5"'),
    );
    expect(() => resolveLimits({ idleTimeoutMs: 25_000 })).toThrow(/limits\.idleTimeoutMs/);
    expect(() => resolveLimits({ socketMax: 5 } as object)).toThrow(
      new TypeError('limits.socketMax is no option'),
    );
    expect(Object.isFrozen(DEFAULT_LIMITS)).toBe(true);
  });
});
