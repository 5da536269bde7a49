import { describe, expect, test } from 'vitest';
import { HubDriver } from './hub-driver.ts';

describe('a room', () => {
  test('S2, S12: a socket is welcomed, says hello once, and is told who is there', () => {
    const driver = new HubDriver();
    const a = driver.enter('a', { meta: 'first' });
    driver.enter('b', { meta: 'second' });
    expect(driver.of('a')[0]).toEqual({
      type: 'welcome',
      features: ['away', 'resume'],
      heartbeatMs: 25_000,
      limits: {
        messageBytesMax: 16_384,
        roomPeersMax: 64,
        messagesPerSec: 50,
        bytesPerSec: 65_536,
      },
    });
    expect(driver.last('b')).toMatchObject({
      type: 'ready',
      peers: [{ peer: a.peer, meta: 'first' }],
    });
    driver.say('a', { type: 'hello' });
    expect(driver.last('a')).toEqual({ type: 'error', code: 'bad_message' });
  });

  test('S2: the sender is stamped by the server, whatever the message claims', () => {
    const driver = new HubDriver();
    const a = driver.enter('a');
    const b = driver.enter('b');
    const victim = driver.enter('victim');
    driver.say('a', {
      type: 'signal',
      to: b.peer,
      data: 'x',
      from: victim.peer,
      peer: victim.peer,
    });
    expect(driver.last('b')).toEqual({ type: 'signal', from: a.peer, data: 'x' });
  });

  test('S12: before it is let in a socket can say hello and nothing else, and learns nothing', () => {
    const driver = new HubDriver();
    const member = driver.enter('member');
    driver.clear();
    driver.open('stranger');
    driver.say('stranger', { type: 'ping' });
    driver.say('stranger', { type: 'signal', to: member.peer, data: 'x', ref: 'r1' });
    expect(driver.of('stranger').slice(1)).toEqual([
      { type: 'error', code: 'unauthorized' },
      { type: 'error', code: 'unauthorized', ref: 'r1' },
    ]);
    expect(JSON.stringify(driver.of('stranger'))).not.toContain(member.peer);
    expect(driver.of('member')).toEqual([]);
    driver.verdict = undefined;
    driver.say('stranger', { type: 'hello' });
    driver.say('stranger', { type: 'signal', to: member.peer, data: 'x' });
    expect(driver.closed.get('stranger')).toBe(4400);
    expect(driver.of('member')).toEqual([]);
  });

  test('S12: a refused hello is answered after a delay that doubles, and closes 4401', () => {
    const driver = new HubDriver({ authDelayMs: 2_000 });
    driver.verdict = { isAllowed: false };
    driver.open('a');
    driver.say('a', { type: 'hello', token: 'wrong' });
    driver.pass(1_000);
    expect(driver.closed.has('a')).toBe(false);
    driver.pass(1_000);
    expect(driver.last('a')).toEqual({ type: 'error', code: 'unauthorized' });
    expect(driver.closed.get('a')).toBe(4401);
    driver.open('b');
    driver.say('b', { type: 'hello', token: 'wrong' });
    driver.pass(3_000);
    expect(driver.closed.has('b')).toBe(false);
    driver.pass(1_000);
    expect(driver.closed.get('b')).toBe(4401);
    expect(driver.hub.metrics()).toMatchObject({ sockets: 0, pending: 0, rooms: 0 });
  });

  test('S12: a verdict that comes after the socket has gone changes nothing', () => {
    const driver = new HubDriver();
    driver.verdict = undefined;
    driver.open('a');
    driver.say('a', { type: 'hello' });
    driver.drop('a');
    expect(driver.hub.authorized('a', { isAllowed: true }, driver.now)).toEqual([]);
    expect(driver.hub.metrics()).toMatchObject({ sockets: 0, rooms: 0, members: 0 });
  });

  test('S1: a known id of another room cannot be addressed', () => {
    const driver = new HubDriver();
    driver.enter('a', { room: 'one' });
    const foreign = driver.enter('b', { room: 'two' });
    driver.clear();
    driver.say('a', { type: 'signal', to: foreign.peer, data: 'x', ref: '7' });
    expect(driver.last('a')).toEqual({ type: 'error', code: 'no_such_peer', ref: '7' });
    expect(driver.of('b')).toEqual([]);
  });

  test('S1: a resume token of another room opens nothing', () => {
    const driver = new HubDriver();
    const a = driver.enter('a', { room: 'one' });
    const b = driver.enter('b', { room: 'two', resume: a.resume });
    expect(b.peer).not.toBe(a.peer);
    expect(driver.closed.has('a')).toBe(false);
  });
});

describe('leaving', () => {
  test('S4, S21: a bye is told as left at once, and drops the right to resume', () => {
    const driver = new HubDriver();
    driver.enter('a');
    const b = driver.enter('b');
    driver.say('b', { type: 'bye' });
    expect(driver.last('a')).toMatchObject({ type: 'left', peer: b.peer, reason: 'bye' });
    expect(driver.closed.get('b')).toBe(1000);
    expect(driver.enter('c', { resume: b.resume }).peer).not.toBe(b.peer);
  });

  test('S4, S21: a close with 1000 counts as a bye', () => {
    const driver = new HubDriver();
    driver.enter('a');
    driver.enter('b');
    driver.drop('b', 1000);
    expect(driver.last('a')).toMatchObject({ type: 'left', reason: 'bye' });
  });

  test('S21: a lost socket is told as away at once, as left after the resume window', () => {
    const driver = new HubDriver();
    driver.enter('a');
    const b = driver.enter('b');
    driver.drop('b', 1001);
    expect(driver.last('a')).toEqual({ type: 'away', peer: b.peer, seq: 2 });
    driver.pass(29_000);
    expect(driver.last('a')).toMatchObject({ type: 'away' });
    driver.pass(1_000);
    expect(driver.last('a')).toEqual({ type: 'left', peer: b.peer, reason: 'timeout', seq: 3 });
  });

  test('S21: whoever comes while another is away is told so', () => {
    const driver = new HubDriver();
    const a = driver.enter('a');
    driver.enter('c');
    driver.drop('a');
    driver.enter('b');
    const peers = driver.last('b')?.['peers'];
    expect(peers).toContainEqual({ peer: a.peer, away: true });
  });

  test('S21: nothing is kept for a peer that is away', () => {
    const driver = new HubDriver();
    driver.enter('a');
    const b = driver.enter('b');
    driver.drop('b');
    driver.say('a', { type: 'signal', to: b.peer, data: 'x' });
    expect(driver.last('a')).toEqual({ type: 'error', code: 'no_such_peer' });
    driver.enter('b2', { resume: b.resume });
    expect(driver.types('b2')).toEqual(['welcome', 'ready', 'peers']);
  });
});

describe('resuming', () => {
  test('S7: within the window the place is kept under its id, and told as back', () => {
    const driver = new HubDriver();
    driver.enter('a');
    const b = driver.enter('b');
    driver.drop('b');
    driver.pass(20_000);
    const again = driver.enter('b2', { resume: b.resume });
    expect(again.peer).toBe(b.peer);
    expect(again.resume).not.toBe(b.resume);
    expect(driver.types('a')).toEqual(['welcome', 'ready', 'joined', 'away', 'back']);
    driver.pass(20_000);
    expect(driver.types('a')).not.toContain('left');
  });

  test('S7: after the window it is left, and a new member', () => {
    const driver = new HubDriver();
    driver.enter('a');
    const b = driver.enter('b');
    driver.drop('b');
    driver.pass(30_000);
    expect(driver.enter('b2', { resume: b.resume }).peer).not.toBe(b.peer);
    expect(driver.types('a').slice(2)).toEqual(['joined', 'away', 'left', 'joined']);
  });

  test('S7: a socket that still seems open is replaced with 4409, and others see nothing', () => {
    const driver = new HubDriver();
    driver.enter('a');
    const b = driver.enter('b');
    driver.clear();
    expect(driver.enter('b2', { resume: b.resume }).peer).toBe(b.peer);
    expect(driver.closed.get('b')).toBe(4409);
    driver.drop('b', 4409);
    expect(driver.of('a')).toEqual([]);
    expect(driver.hub.metrics()).toMatchObject({ sockets: 2, members: 2, away: 0 });
  });

  test('S7: of two resumes with one token exactly one wins, the other gets 4409', () => {
    const driver = new HubDriver();
    driver.enter('a');
    const b = driver.enter('b');
    driver.drop('b');
    driver.enter('first', { resume: b.resume });
    const second = driver.enter('second', { resume: b.resume });
    expect(second.peer).toBe(b.peer);
    expect(driver.closed.get('first')).toBe(4409);
    expect(driver.closed.has('second')).toBe(false);
    driver.clear();
    driver.say('a', { type: 'signal', to: b.peer, data: 'x' });
    expect(driver.types('second')).toEqual(['signal']);
    expect(driver.of('first')).toEqual([]);
  });

  test('S7: the old token dies as soon as its owner was heard on the new socket', () => {
    const driver = new HubDriver();
    const b = driver.enter('b');
    const again = driver.enter('b2', { resume: b.resume });
    driver.say('b2', { type: 'ping' });
    expect(driver.enter('thief', { resume: b.resume }).peer).not.toBe(b.peer);
    expect(driver.closed.has('b2')).toBe(false);
    expect(driver.enter('b3', { resume: again.resume }).peer).toBe(b.peer);
  });

  test('S4, S7: whoever resumes is given the whole room as it is now', () => {
    const driver = new HubDriver();
    const a = driver.enter('a');
    const b = driver.enter('b');
    driver.drop('b');
    const c = driver.enter('c');
    driver.say('a', { type: 'bye' });
    driver.enter('b2', { resume: b.resume });
    const [, ready, peers] = driver.of('b2');
    expect(ready).toMatchObject({ type: 'ready', peers: [{ peer: c.peer }] });
    expect(peers).toMatchObject({ type: 'peers', peers: [{ peer: c.peer }] });
    expect(JSON.stringify(driver.of('b2'))).not.toContain(a.peer);
  });
});

describe('liveness', () => {
  test('S24: a ping is answered with the literal pong', () => {
    const driver = new HubDriver();
    driver.enter('a');
    driver.say('a', '{"type":"ping"}');
    expect(driver.last('a')).toEqual({ type: 'pong' });
  });

  test('S24: a quiet socket is asked once, and closed 1001 when it stays quiet', () => {
    const driver = new HubDriver();
    driver.enter('a');
    driver.enter('b');
    driver.clear();
    driver.pass(40_000);
    expect(driver.types('a')).toEqual(['ping']);
    driver.say('a', { type: 'pong' });
    driver.pass(20_000);
    expect(driver.closed.get('b')).toBe(1001);
    expect(driver.closed.has('a')).toBe(false);
    expect(driver.last('a')).toMatchObject({ type: 'away' });
  });

  test('S16: shutdown tells everybody how to come back, closes 1012 and lets nobody in', () => {
    const driver = new HubDriver();
    driver.enter('a');
    driver.open('b');
    driver.shutdown(5_000);
    expect(driver.last('a')).toEqual({ type: 'draining', spreadMs: 5_000 });
    expect([driver.closed.get('a'), driver.closed.get('b')]).toEqual([1012, 1012]);
    driver.open('c');
    expect(driver.closed.get('c')).toBe(1012);
    expect(driver.hub.metrics()).toMatchObject({ sockets: 0, pending: 0, rooms: 0, members: 0 });
  });
});
