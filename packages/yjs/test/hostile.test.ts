import * as decoding from 'lib0/decoding';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { encodeAwarenessUpdate } from 'y-protocols/awareness';
import * as Y from 'yjs';
import { decodeMessage, encodeMessage, type RoomMessage } from '../src/message.ts';
import { Lab, type Tab } from './lab.ts';

const VALID: readonly RoomMessage[] = [
  {
    type: 'summary',
    wantsAnswer: true,
    isWaiting: false,
    server: { status: 'connected', isSynced: true },
    participants: 3,
    changes: 300,
    digest: 0xfedcba98,
  },
  { type: 'ask', isMutual: true, stateVector: Y.encodeStateVector(new Y.Doc()) },
  {
    type: 'state',
    changes: 5,
    stateVector: Y.encodeStateVector(new Y.Doc()),
    update: Y.encodeStateAsUpdate(filled()),
  },
  { type: 'update', changes: 7, count: 2, update: Y.encodeStateAsUpdate(filled()) },
  { type: 'presence', update: Uint8Array.of(1, 5, 3, 2, 123, 125) },
  { type: 'presences', update: Uint8Array.of(1, 5, 3, 4, 110, 117, 108, 108) },
  { type: 'renew' },
  { type: 'confirmed', of: 77, changes: 9 },
  { type: 'bye' },
];

function filled(): Y.Doc {
  const doc = new Y.Doc();
  doc.getText('text').insert(0, 'of a stranger');
  doc.getText('text').delete(2, 3);
  return doc;
}

describe('messages of a room', () => {
  test.each(VALID)('Y5: $type comes back as it was', (message) => {
    expect(decodeMessage(encodeMessage(message, 0xffffffff))).toEqual({
      session: 0xffffffff,
      message,
    });
  });

  test.each(VALID.filter(({ type }) => ['summary', 'renew', 'confirmed', 'bye'].includes(type)))(
    'Y5: $type that is cut short, or has bytes after its end, is refused',
    (message) => {
      const bytes = encodeMessage(message, 1);
      for (let end = 0; end < bytes.length; end += 1) {
        expect(() => decodeMessage(bytes.subarray(0, end))).toThrow();
      }
      expect(() => decodeMessage(Uint8Array.of(...bytes, 0))).toThrow();
    },
  );

  test('Y5: unknown types, flags and counts are refused', () => {
    expect(() => decodeMessage(Uint8Array.of(9, 0, 0, 0, 0))).toThrow('no such type');
    expect(() => decodeMessage(Uint8Array.of(0, 0, 0, 0, 0, 0b11000, 1, 0, 0, 0, 0, 0))).toThrow();
    expect(() => decodeMessage(Uint8Array.of(1, 0, 0, 0, 0, 2))).toThrow();
    expect(() => decodeMessage(Uint8Array.of(3, 0, 0, 0, 0, 1, 2))).toThrow();
  });
});

describe('a hostile member', () => {
  let lab: Lab;
  let victim: Tab;
  beforeEach(async () => {
    lab = new Lab({ seed: 5, nodes: 2 });
    await lab.sim.runUntil(() => lab.running.every(({ provider }) => provider.synced));
    lab.sim.add('evil');
    await lab.sim.runUntil(() => lab.running.length === 3);
    lab.tab('evil').provider.destroy();
    lab.act('n1', ({ doc }) => doc.getText('text').insert(0, 'ours'));
    await lab.sim.run(2_000);
    victim = lab.tab('n1');
  });
  afterEach(() => lab.close());

  /** Sends bytes on the channel of the room, past the provider. */
  async function say(bytes: Uint8Array): Promise<void> {
    lab.sim.node('evil').channel(`doyen.yjs.v1/${victim.provider.room}`).send('n1', bytes);
    await lab.sim.run(100);
  }

  const codes = (): string[] => victim.faults.map(({ code }) => code);
  const text = (): string => victim.doc.getText('text').toString();

  test('Y5: noise is a fault, and changes nothing', async () => {
    let state = 1;
    const noise = (): number => {
      state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
      return state % 256;
    };
    for (let round = 0; round < 300; round += 1) {
      await say(Uint8Array.from({ length: round % 60 }, noise));
    }
    expect(codes().length).toBeGreaterThan(200);
    expect(new Set(codes())).toEqual(new Set(['malformed']));
    expect(victim.faults[0]?.member).toBe('evil');
    await expectWorking();
  });

  test.each([
    ['an update', { type: 'update', changes: 1, count: 1, update: Uint8Array.of(1, 2, 3) }],
    ['a state', { ...VALID[2], update: Uint8Array.of(9, 9, 9) }],
    ['a state vector', { type: 'ask', isMutual: false, stateVector: Uint8Array.of(200) }],
    ['a presence', { type: 'presence', update: Uint8Array.of(1, 5, 3, 2, 123, 124) }],
    ['a presence of two', { type: 'presence', update: twoPresences() }],
    ['a presence that is a number', { type: 'presence', update: Uint8Array.of(1, 5, 3, 1, 55) }],
    ['endless presences', { type: 'presences', update: Uint8Array.of(255, 255, 127) }],
  ] as [string, RoomMessage][])('Y5: %s that is none is a fault', async (_what, message) => {
    await say(encodeMessage(message, 1));
    expect(codes()).toEqual(['malformed']);
    await expectWorking();
  });

  test('Y5: updates with a few wrong bytes never throw, and never keep others’ edits out', async () => {
    const foreign = filled();
    const update = Y.encodeStateAsUpdate(foreign);
    for (let at = 0; at < update.length; at += 1) {
      const broken = update.slice();
      broken[at] = (broken[at] ?? 0) ^ 0x15;
      await say(encodeMessage({ type: 'update', changes: 1, count: 1, update: broken }, 1));
    }
    expect(codes().length).toBeGreaterThan(10);
    await expectWorking();
  });

  test('Y5: a confirmation of another’s session, or of more than there was, confirms nothing false', async () => {
    lab.stopServer();
    await lab.sim.run(200);
    lab.act('n1', ({ doc }) => doc.getText('text').insert(0, 'x'));
    await say(encodeMessage({ type: 'confirmed', of: 1, changes: 1_000 }, 1));
    expect(victim.provider.unsynced).toBe(1);
  });

  test('Y5: the end of somebody else is not a member’s to tell', async () => {
    const own = victim.provider.awareness.clientID;
    const doc = new Y.Doc();
    doc.clientID = own;
    await say(encodeMessage({ type: 'presences', update: removalOf(victim) }, 1));
    expect(victim.provider.awareness.getLocalState()).not.toBeNull();
    await lab.sim.run(200);
    expect(lab.tab('n2').provider.awareness.getStates().has(own)).toBe(true);
  });

  /** What the victim answers to messages of the protocol, from now on. */
  async function listen(): Promise<RoomMessage[]> {
    const heard: RoomMessage[] = [];
    const channel = lab.sim.node('evil').channel(`doyen.yjs.v1/${victim.provider.room}`);
    channel.addEventListener('message', ({ data }) => heard.push(decodeMessage(data).message));
    await say(encodeMessage({ type: 'renew' }, 1));
    heard.length = 0;
    return heard;
  }

  test('Y2: who is asked for what is missing answers, and asks back', async () => {
    const heard = await listen();
    const stateVector = Y.encodeStateVector(new Y.Doc());
    await say(encodeMessage({ type: 'ask', isMutual: true, stateVector }, 1));
    expect(heard.map(({ type }) => type)).toEqual(['state', 'ask']);
  });

  test('Y2, Y4: changes that skip a number are asked for, and not confirmed before', async () => {
    const heard = await listen();
    const foreign = filled();
    const update = Y.encodeStateAsUpdate(foreign);
    await say(encodeMessage({ type: 'update', changes: 5, count: 1, update }, 1));
    await lab.sim.run(1_000);
    expect(heard.map(({ type }) => type)).toContain('ask');
    expect(heard.map(({ type }) => type)).not.toContain('confirmed');
    const stateVector = Y.encodeStateVector(foreign);
    await say(encodeMessage({ type: 'state', changes: 5, stateVector, update }, 1));
    await lab.sim.run(1_000);
    expect(heard).toContainEqual({ type: 'confirmed', of: 1, changes: 5 });
  });

  test('Y4: a state that lacks some of what its sender has confirms nothing', async () => {
    const heard = await listen();
    const stateVector = Y.encodeStateVector(new Map([[12_345, 6]]));
    const update = Y.encodeStateAsUpdate(new Y.Doc());
    await say(encodeMessage({ type: 'state', changes: 5, stateVector, update }, 1));
    await lab.sim.run(1_000);
    expect(heard.map(({ type }) => type)).not.toContain('confirmed');
  });

  async function expectWorking(): Promise<void> {
    expect(text()).toContain('ours');
    lab.act('n2', ({ doc }) => doc.getText('text').insert(0, 'more '));
    await lab.sim.runUntil(() => text().includes('more '));
    expect(lab.tab('n2').doc.getText('text').toString()).toContain('ours');
  }
});

describe('a hostile server', () => {
  test.each([
    ['nothing', Uint8Array.of()],
    ['an unknown type', Uint8Array.of(99, 1, 2)],
    ['a sync message without content', Uint8Array.of(0)],
    ['a state vector that is none', Uint8Array.of(0, 0, 1, 200)],
    ['an answer that is none', Uint8Array.of(0, 1, 2, 9, 9)],
    ['awareness that is none', Uint8Array.of(1, 3, 1, 5, 3)],
  ])('Y5: %s from the server throws nowhere', async (_what, bytes) => {
    const lab = new Lab({ seed: 6, nodes: 2 });
    try {
      await lab.sim.runUntil(() => lab.running.every(({ provider }) => provider.synced));
      const [wire] = [...lab.wires.all];
      wire?.server.send(bytes, {}, () => undefined);
      await lab.sim.run(100);
      lab.act('n2', ({ doc }) => doc.getText('text').insert(0, 'on'));
      await lab.sim.runUntil(() => lab.running.every(({ provider }) => provider.unsynced === 0));
      expect(lab.serverDoc.getText('text').toString()).toBe('on');
    } finally {
      lab.close();
    }
  });
});

function twoPresences(): Uint8Array {
  return Uint8Array.of(2, 5, 3, 2, 123, 125, 6, 3, 2, 123, 125);
}

function removalOf({ provider: { awareness } }: Tab): Uint8Array {
  const update = encodeAwarenessUpdate(awareness, [awareness.clientID], new Map());
  expect(decoding.readVarUint(decoding.createDecoder(update))).toBe(1);
  return update;
}
