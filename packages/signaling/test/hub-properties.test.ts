import fc from 'fast-check';
import { expect, test } from 'vitest';
import { HubDriver, type Told } from './hub-driver.ts';

const awkward = ['__proto__', 'constructor', 'prototype', 'toString', 'room', 'room1', 'rооm', ''];
const roomName = fc.oneof(
  fc.constantFrom(...awkward),
  fc.string({ unit: 'binary', maxLength: 70 }),
);

type Act =
  | { readonly do: 'enter' | 'bye' | 'drop' | 'resume' | 'takeover'; readonly at: number }
  | { readonly do: 'signal'; readonly at: number; readonly to: number }
  | { readonly do: 'pass'; readonly ms: number };

const at = fc.nat(7);
const act: fc.Arbitrary<Act> = fc.oneof(
  fc.record({ do: fc.constantFrom('enter', 'bye', 'drop', 'resume', 'takeover'), at }),
  fc.record({ do: fc.constant('signal' as const), at, to: at }),
  fc.record({ do: fc.constant('pass' as const), ms: fc.nat(40_000) }),
);

/** Somebody who comes and goes on one socket after another. */
interface Person {
  readonly room: string;
  socket: string | undefined;
  peer: string;
  resume: string;
}

/** Plays random comings and goings of eight people in the given rooms. */
class Crowd {
  readonly driver = new HubDriver({ joinsPerIpPerMin: 1_000_000, idleTimeoutMs: 10 ** 9 });
  readonly people: Person[];
  readonly roomOfSocket = new Map<string, string>();
  readonly roomOfPeer = new Map<string, string>();
  /** What each signal was, and between whom. */
  readonly signals: { readonly from: string; readonly to: string; readonly data: string }[] = [];
  #sockets = 0;

  constructor(rooms: readonly string[]) {
    this.people = Array.from({ length: 8 }, (_, i) => ({
      room: rooms[i % rooms.length] ?? '',
      socket: undefined,
      peer: '',
      resume: '',
    }));
  }

  play(acts: readonly Act[]): void {
    for (const step of acts) this.#step(step);
  }

  #step(step: Act): void {
    if (step.do === 'pass') {
      this.driver.pass(step.ms);
      return;
    }
    const person = this.people[step.at];
    if (person === undefined) return;
    if (step.do === 'signal') this.#signal(person, this.people[step.to]);
    else if (step.do === 'takeover') this.#enter(person, true);
    else if (person.socket === undefined) {
      if (step.do === 'enter' || step.do === 'resume') this.#enter(person, step.do === 'resume');
    } else if (step.do === 'bye' || step.do === 'drop') this.#go(person, person.socket, step.do);
  }

  #enter(person: Person, isResume: boolean): void {
    const socket = `socket-${++this.#sockets}`;
    const { room, resume } = person;
    this.roomOfSocket.set(socket, room);
    const fields = isResume && resume !== '' ? { room, resume } : { room };
    const entered = this.driver.enter(socket, fields);
    const isTwin = person.socket !== undefined && !this.driver.closed.has(person.socket);
    if (isTwin && person.socket !== undefined) this.driver.drop(person.socket);
    Object.assign(person, entered, { socket });
    this.roomOfPeer.set(entered.peer, room);
  }

  #go(person: Person, socket: string, how: 'bye' | 'drop'): void {
    if (how === 'bye') this.driver.say(socket, { type: 'bye' });
    else this.driver.drop(socket);
    person.socket = undefined;
  }

  #signal(from: Person, to: Person | undefined): void {
    if (from.socket === undefined || to === undefined || to.peer === '') return;
    const data = `${this.signals.length}`;
    this.signals.push({ from: from.peer, to: to.peer, data });
    this.driver.say(from.socket, { type: 'signal', to: to.peer, data, from: to.peer });
  }
}

const rooms = fc.uniqueArray(roomName, { minLength: 1, maxLength: 4 });
const acts = fc.array(act, { maxLength: 60 });

test('S1: nothing that names a peer or carries a signal leaves its room, whatever rooms are called', () => {
  fc.assert(
    fc.property(rooms, acts, (names, steps) => {
      const crowd = new Crowd(names);
      crowd.play(steps);
      for (const [socket, told] of crowd.driver.told) {
        for (const peer of told.flatMap(peersNamed))
          expect(crowd.roomOfPeer.get(peer)).toBe(crowd.roomOfSocket.get(socket));
      }
    }),
    { numRuns: 200 },
  );
});

test('S2, S3: signals arrive in order, once, and from whom they came', () => {
  fc.assert(
    fc.property(rooms, acts, (names, steps) => {
      const crowd = new Crowd(names);
      crowd.play(steps);
      for (const told of crowd.driver.told.values()) {
        const signals = told.filter(({ type }) => type === 'signal');
        const numbers = signals.map(({ data }) => Number(data));
        expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
        for (const { from, data } of signals)
          expect(crowd.signals[Number(data)]).toMatchObject({ from, data });
      }
    }),
    { numRuns: 200 },
  );
});

test('S4, S21: a view has no gap, each peer joins once and leaves once, and it ends true', () => {
  fc.assert(
    fc.property(rooms, acts, (names, steps) => {
      const crowd = new Crowd(names);
      crowd.play(steps);
      for (const [socket, told] of crowd.driver.told) {
        const view = replay(told);
        if (crowd.driver.closed.has(socket)) continue;
        const person = crowd.people.find((someone) => someone.socket === socket);
        if (person === undefined) continue;
        const here = crowd.people.filter(
          (other) => other !== person && other.room === person.room && other.socket !== undefined,
        );
        const present = [...view].filter(([, isAway]) => !isAway).map(([peer]) => peer);
        expect(present.sort()).toEqual(here.map(({ peer }) => peer).sort());
      }
    }),
    { numRuns: 300 },
  );
});

test('S9: after everybody has left nothing remains', () => {
  fc.assert(
    fc.property(rooms, acts, (names, steps) => {
      const crowd = new Crowd(names);
      crowd.play(steps);
      for (const { socket } of crowd.people) if (socket !== undefined) crowd.driver.drop(socket);
      crowd.driver.pass(60_000);
      expectNothing(crowd.driver);
    }),
    { numRuns: 50 },
  );
});

test('S9: a hundred thousand joins leave nothing behind', { timeout: 60_000 }, () => {
  const driver = new HubDriver({ joinsPerIpPerMin: 1_000_000 });
  for (let i = 0; i < 100_000; i += 1) {
    const room = `room-${i % 100}`;
    driver.enter('s', { room });
    if (i % 3 === 0) driver.say('s', { type: 'bye' });
    else driver.drop('s');
    driver.clear();
    driver.closed.clear();
    if (i % 1_000 === 0) driver.pass(31_000);
  }
  driver.pass(91_000);
  expectNothing(driver);
});

const json = fc.json({ maxDepth: 5 });
const almostMessage = fc.record(
  {
    type: fc.constantFrom('hello', 'signal', 'bye', 'ping', 'pong', 'welcome', '__proto__'),
    to: fc.oneof(fc.constantFrom('id-1', 'id-2', '__proto__', 'constructor'), fc.anything()),
    data: fc.oneof(fc.string(), fc.anything()),
    ref: fc.oneof(fc.string(), fc.anything()),
    token: fc.oneof(fc.string(), fc.anything()),
    resume: fc.oneof(fc.constantFrom('id-1', 'id-2'), fc.anything()),
    meta: fc.oneof(fc.string(), fc.anything()),
  },
  { requiredKeys: [] },
);
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 300 }),
  json,
  almostMessage.map((message) => safeStringify(message)),
  fc.constantFrom('', 'null', '[]', '0', '{"type":null}', '{"__proto__":{"type":"bye"}}'),
);

test('S8: no text makes the hub throw or reaches anybody but the one it is addressed to', () => {
  fc.assert(
    fc.property(fc.array(text, { maxLength: 30 }), fc.boolean(), (texts, isInside) => {
      const driver = new HubDriver();
      const bystander = driver.enter('bystander', { room: 'elsewhere' });
      driver.clear();
      if (isInside) driver.enter('hostile');
      else driver.open('hostile');
      for (const given of texts) driver.say('hostile', given);
      driver.pass(1_000);
      expect(driver.of('bystander')).toEqual([]);
      driver.say('bystander', { type: 'ping' });
      expect(driver.types('bystander')).toEqual(['pong']);
      const again = driver.enter('again', { room: 'elsewhere', resume: bystander.resume });
      expect(again.peer).toBe(bystander.peer);
    }),
    { numRuns: 1_000 },
  );
});

test('S8: deep nesting is only one more bad message', () => {
  const driver = new HubDriver();
  driver.enter('a');
  driver.say('a', '['.repeat(16_000));
  driver.say('a', `${'{"a":'.repeat(2_000)}1${'}'.repeat(2_000)}`);
  expect(driver.types('a').slice(2)).toEqual(['error', 'error']);
});

test('S8: a million messages of one socket leave the others alone', { timeout: 60_000 }, () => {
  const driver = new HubDriver();
  driver.enter('a');
  const b = driver.enter('b');
  driver.clear();
  for (let i = 0; i < 1_000_000; i += 1)
    driver.say('a', `{"type":"signal","to":"${b.peer}","data":"x"}`);
  expect(driver.closed.get('a')).toBe(4429);
  expect(driver.of('b').length).toBeLessThanOrEqual(512);
  driver.say('b', { type: 'ping' });
  expect(driver.last('b')).toEqual({ type: 'pong' });
});

function expectNothing(driver: HubDriver): void {
  expect(driver.hub.metrics()).toEqual({
    sockets: 0,
    pending: 0,
    rooms: 0,
    members: 0,
    away: 0,
    addresses: 0,
  });
  expect(driver.hub.isEmpty).toBe(true);
}

function peersNamed({ peer, from, peers = [] }: Told): string[] {
  const listed = (peers as { peer: string }[]).map((info) => info.peer);
  return [peer, from, ...listed].filter((name) => typeof name === 'string');
}

/** Applies what one socket was told, checking each step; gives peer → is away. */
function replay(told: readonly Told[]): Map<string, boolean> {
  const view = new Map<string, boolean>();
  let seq = 0;
  for (const { type, peer, peers, seq: given } of told) {
    if (type === 'ready' || type === 'peers') {
      view.clear();
      for (const info of peers as { peer: string; away?: true }[])
        view.set(info.peer, info.away === true);
      seq = given as number;
      continue;
    }
    if (!['joined', 'left', 'away', 'back'].includes(type)) continue;
    seq += 1;
    expect(given).toBe(seq);
    const name = String(peer);
    expect(view.has(name)).toBe(type !== 'joined');
    if (type === 'away' || type === 'back') expect(view.get(name)).toBe(type === 'back');
    if (type === 'left') view.delete(name);
    else view.set(name, type === 'away');
  }
  return view;
}

function safeStringify(value: unknown): string {
  try {
    return JSON.stringify(value) ?? '';
  } catch {
    // Cycles and big integers have no JSON; the text of them is junk as good as any.
    return String(value);
  }
}
