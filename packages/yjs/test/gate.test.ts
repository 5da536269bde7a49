import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Gate, type GateOptions, gate } from '../src/server.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** A server's end of a WebSocket, as `ws` gives it. */
class Socket extends EventEmitter {
  closed: { readonly code: number; readonly reason: unknown } | null = null;
  isTerminated = false;
  readyState = 1;

  close(code: number, text: string): void {
    this.closed ??= { code, reason: text.startsWith('{') ? JSON.parse(text) : text };
  }

  terminate(): void {
    this.isTerminated = true;
    this.emit('close', 1006);
  }

  /** The other end closes, or answers a close. */
  end(code = 1001): void {
    this.emit('close', code);
  }
}

interface Arrival {
  readonly epoch: number | string;
  readonly holder?: string;
  readonly cluster?: string;
  readonly room?: string;
  readonly guest?: boolean;
}

function open(options?: GateOptions) {
  const guard = gate(options);
  return { guard, connect: (arrival: Arrival) => connect(guard, arrival) };
}

function connect(guard: Gate, { epoch, holder = 'a', cluster = 'c', room = 'r', guest }: Arrival) {
  const socket = new Socket();
  const query = new URLSearchParams({
    'doyen-cluster': cluster,
    'doyen-epoch': String(epoch),
    'doyen-holder': holder,
    ...(guest && { 'doyen-guest': '1' }),
  });
  const isAdmitted = guard.admit(socket, { url: `/${room}?${query}` });
  return Object.assign(socket, { isAdmitted });
}

describe('the gate', () => {
  test('Y6: lets in one leader, and closes it when one of a higher epoch comes', () => {
    const { guard, connect } = open();
    const older = connect({ epoch: 1, holder: 'a' });
    const newer = connect({ epoch: 2, holder: 'b' });
    expect([older.isAdmitted, newer.isAdmitted]).toEqual([true, true]);
    const reason = { verdict: 'stale', high: 2, isHeld: true };
    expect(older.closed).toEqual({ code: 4409, reason });
    expect(newer.closed).toBeNull();
    expect(guard.counts).toEqual({ leaders: 1, guests: 0, remembered: 0, fenced: 1 });
  });

  test('Y6: late writes of the older one are not read, and it is cut off if it does not close', () => {
    const { connect } = open();
    const older = connect({ epoch: 1, holder: 'a' });
    const heard: string[] = [];
    older.on('message', (text) => heard.push(text));
    connect({ epoch: 2, holder: 'b' });
    older.emit('message', 'late');
    expect(heard).toEqual([]);
    vi.advanceTimersByTime(999);
    expect(older.isTerminated).toBe(false);
    vi.advanceTimersByTime(1);
    expect(older.isTerminated).toBe(true);
  });

  test('Y6: refuses a lower epoch as stale, and tells the highest', () => {
    const { guard, connect } = open();
    connect({ epoch: 7, holder: 'b' });
    const late = connect({ epoch: 6, holder: 'a' });
    expect(late.isAdmitted).toBe(false);
    const reason = { verdict: 'stale', high: 7, isHeld: true };
    expect(late.closed).toEqual({ code: 4409, reason });
    expect(guard.counts).toMatchObject({ leaders: 1, fenced: 1 });
  });

  test('Y6: refuses another holder of the same epoch as a conflict', () => {
    const { connect } = open();
    const first = connect({ epoch: 3, holder: 'a' });
    const second = connect({ epoch: 3, holder: 'b' });
    expect([second.isAdmitted, second.closed?.reason]).toEqual([
      false,
      { verdict: 'conflict', high: 3, isHeld: true },
    ]);
    expect(first.closed).toBeNull();
  });

  test('Y6: the same leader that connects again takes the place of its old connection', () => {
    const { guard, connect } = open();
    const old = connect({ epoch: 3 });
    const fresh = connect({ epoch: 3 });
    expect([fresh.isAdmitted, old.closed?.code]).toEqual([true, 4410]);
    old.end();
    expect(guard.counts).toMatchObject({ leaders: 1, fenced: 0 });
    expect(connect({ epoch: 2, holder: 'b' }).isAdmitted).toBe(false);
  });

  test('Y6: clusters, rooms and scopes have places of their own', () => {
    const { guard, connect } = open({ scope: ({ url = '' }) => (/^\/s/.test(url) ? 's' : '') });
    connect({ epoch: 5 });
    for (const other of [{ cluster: 'd' }, { room: 'q' }, { room: 's' }]) {
      expect(connect({ epoch: 1, holder: 'b', ...other }).isAdmitted).toBe(true);
    }
    expect(guard.counts.leaders).toBe(4);
  });

  test('Y6: connections of others are let in and not counted', () => {
    const { guard } = open();
    expect(guard.admit(new Socket(), { url: '/r' })).toBe(true);
    expect(guard.admit(new Socket(), { url: '/r?token=1' })).toBe(true);
    expect(guard.counts.leaders).toBe(0);
  });

  test.each([
    { epoch: 0 },
    { epoch: -1 },
    { epoch: 1.5 },
    { epoch: '1e3' },
    { epoch: '' },
    { epoch: 2 ** 53 - 1 },
    { epoch: '99999999999999999999' },
    { epoch: 1, holder: '' },
    { epoch: 1, cluster: 'x'.repeat(129) },
    { epoch: 1, room: 'x'.repeat(1_025) },
  ])('Y6: malformed parameters are closed with 4400 (%#)', (arrival) => {
    const { guard, connect } = open();
    const socket = connect(arrival);
    expect([socket.isAdmitted, socket.closed?.code]).toEqual([false, 4400]);
    expect(guard.counts).toEqual({ leaders: 0, guests: 0, remembered: 0, fenced: 0 });
  });
});

describe('what the gate remembers', () => {
  test('Y6: an epoch outlives its connection for 10 s, and whoever is refused is told for how long', () => {
    const { guard, connect } = open();
    connect({ epoch: 4 }).end();
    vi.advanceTimersByTime(4_000);
    const reason = { verdict: 'stale', high: 4, isHeld: false, forgetMs: 6_000 };
    expect(connect({ epoch: 3, holder: 'b' }).closed?.reason).toEqual(reason);
    expect(guard.high({ cluster: 'c', room: 'r' })).toBe(4);
    vi.advanceTimersByTime(6_000);
    expect(guard.counts.remembered).toBe(0);
    expect(guard.high({ cluster: 'c', room: 'r' })).toBe(0);
    expect(connect({ epoch: 1, holder: 'b' }).isAdmitted).toBe(true);
  });

  test('Y6: rememberMs Infinity never forgets', () => {
    const { connect } = open({ rememberMs: Number.POSITIVE_INFINITY });
    connect({ epoch: 4 }).end();
    vi.advanceTimersByTime(1e9);
    const reason = { verdict: 'stale', high: 4, isHeld: false };
    expect(connect({ epoch: 3, holder: 'b' }).closed?.reason).toEqual(reason);
  });

  test('Y6: the last of a cluster takes its epoch with it', () => {
    const { connect } = open();
    connect({ epoch: 4 }).end(4000);
    expect(connect({ epoch: 1, holder: 'b' }).isAdmitted).toBe(true);
  });

  test('Y6: while a leader says goodbye, the next is asked to come again at once', () => {
    const { connect } = open();
    const leaving = connect({ epoch: 4 });
    leaving.readyState = 2;
    const early = connect({ epoch: 1, holder: 'b' });
    expect(early.closed?.reason).toMatchObject({ isHeld: false, forgetMs: 200 });
    leaving.end(4000);
    expect(connect({ epoch: 1, holder: 'b' }).isAdmitted).toBe(true);
  });

  test('Y6: a superseded connection that ends as the last changes nothing', () => {
    const { connect } = open();
    const old = connect({ epoch: 4, holder: 'a' });
    connect({ epoch: 5, holder: 'b' });
    old.end(4000);
    expect(connect({ epoch: 4, holder: 'a' }).isAdmitted).toBe(false);
  });

  test('Y6: over roomsMax the oldest is forgotten', () => {
    const { guard, connect } = open({ roomsMax: 2 });
    for (const room of ['one', 'two', 'three']) connect({ epoch: 4, room }).end();
    expect(guard.counts.remembered).toBe(2);
    expect(connect({ epoch: 1, holder: 'b', room: 'one' }).isAdmitted).toBe(true);
    expect(connect({ epoch: 1, holder: 'b', room: 'three' }).isAdmitted).toBe(false);
  });
});

describe('guests', () => {
  test('Y7: who was refused may have a place beside the leader, and is counted apart', () => {
    const { guard, connect } = open();
    const leader = connect({ epoch: 5, holder: 'b' });
    const guest = connect({ epoch: 4, holder: 'a', guest: true });
    expect([guest.isAdmitted, guest.closed, leader.closed]).toEqual([true, null, null]);
    expect(guard.counts).toMatchObject({ leaders: 1, guests: 1 });
    const again = connect({ epoch: 4, holder: 'a', guest: true });
    expect([again.isAdmitted, guest.closed?.code]).toEqual([true, 4410]);
    guest.end();
    again.end();
    expect(guard.counts).toMatchObject({ leaders: 1, guests: 0 });
  });

  test('Y7: a guest whom nothing stands above has the leader’s place', () => {
    const { guard, connect } = open();
    expect(connect({ epoch: 4, guest: true }).isAdmitted).toBe(true);
    expect(guard.counts).toMatchObject({ leaders: 1, guests: 0 });
  });

  test('Y7: more than guestsMax are closed with 4429', () => {
    const { connect } = open({ guestsMax: 1 });
    connect({ epoch: 5, holder: 'b' });
    connect({ epoch: 4, holder: 'a', guest: true });
    const third = connect({ epoch: 4, holder: 'c', guest: true });
    expect([third.isAdmitted, third.closed?.code]).toEqual([false, 4429]);
  });

  test('Y6, Y7: when all have gone nothing is left', () => {
    const { guard, connect } = open();
    const sockets = [
      connect({ epoch: 5, holder: 'b' }),
      connect({ epoch: 4, holder: 'a', guest: true }),
      connect({ epoch: 6, holder: 'c' }),
    ];
    for (const socket of sockets) socket.end();
    vi.advanceTimersByTime(10_000);
    expect(guard.counts).toEqual({ leaders: 0, guests: 0, remembered: 0, fenced: 1 });
    expect(vi.getTimerCount()).toBe(0);
  });
});

test.each([
  [{ guestsMax: -1 }, RangeError],
  [{ rememberMs: '10' }, TypeError],
  [{ scope: 'user' }, TypeError],
  [{ rooms: 5 }, TypeError],
])('wrong options are refused by name (%#)', (options, ErrorClass) => {
  const [name = ''] = Object.keys(options);
  expect(() => gate(options as never)).toThrow(ErrorClass);
  expect(() => gate(options as never)).toThrow(name);
});
