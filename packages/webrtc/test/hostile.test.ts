import { connectSignaling, roomIdOf, type SignalingClient } from '@doyen/signaling';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { encodeSignal, type Signal } from '../src/signal.ts';
import { CANDIDATE, SDP } from './fixtures.ts';
import { type End, exchange, openRoom, type Room, watchedSockets } from './room.ts';

// simple-peer ends a live connection on one junk object, one answer too many or one bad candidate.
// Whoever can enter the room could so cut every link in it.
describe('a hostile peer of the room', () => {
  let room: Room;
  let raw: SignalingClient | undefined;

  beforeEach(async () => {
    room = await openRoom();
  });

  afterEach(async () => {
    raw?.close();
    await room.close();
  });

  async function enter(meta?: string): Promise<SignalingClient> {
    const client = connectSignaling({
      url: room.url,
      room: roomIdOf(room.cluster),
      WebSocket,
      ...(meta !== undefined && { meta }),
    });
    raw = client;
    await new Promise((resolve) => client.addEventListener('ready', resolve));
    return client;
  }

  /** Sends to everybody, and waits until the server has passed it all on. */
  async function attack(client: SignalingClient, texts: readonly string[]): Promise<void> {
    const self = client.peer as string;
    for (const peer of client.peers.keys()) for (const text of texts) client.send(peer, text);
    const passed = new Promise((resolve) => client.addEventListener('signal', resolve));
    client.send(self, 'last');
    await Promise.race([passed, new Promise((resolve) => setTimeout(resolve, 300))]);
  }

  function expectUnharmed(...ends: readonly End[]): void {
    for (const { recorder } of ends) {
      expect(recorder.of('linkDown')).toEqual([]);
      expect(recorder.of('linkUp').length).toBe(1);
    }
  }

  const FORGED: readonly Signal[] = ['a', 'b'].flatMap((to) => {
    const header = { attempt: 'forged', from: to === 'a' ? 'b' : 'a', to };
    return [
      { ...header, seq: 0, kind: 'offer', sdp: SDP } as const,
      { ...header, seq: 1, kind: 'answer', sdp: SDP } as const,
      { ...header, seq: 2, kind: 'ice', candidates: [CANDIDATE] } as const,
      { ...header, seq: 3, kind: 'call' } as const,
    ];
  });

  it('W1: junk does not hurt a live link', async () => {
    const [a, b] = await room.pair();
    const client = await enter();
    const junk = ['', 'x', 'null', '[]', '{}', '{"sdp":1}', '{"type":"offer","sdp":"v=0"}'];
    const nested = `${'['.repeat(5_000)}${']'.repeat(5_000)}`;
    await attack(client, [
      ...junk,
      nested,
      '{"candidate":{"candidate":"x"}}',
      '{"renegotiate":true}',
    ]);
    await exchange(a, b);
    expectUnharmed(a, b);
  });

  it('W1: signals of a stranger do not hurt a live link', async () => {
    const [a, b] = await room.pair();
    await attack(await enter(), FORGED.map(encodeSignal));
    await exchange(a, b);
    expectUnharmed(a, b);
  });

  it.each(['a', 'b'])(
    'W1: signals of one who claims to be %s do not hurt its link',
    async (victim) => {
      const [a, b] = await room.pair();
      const client = await enter(JSON.stringify({ id: victim, instance: victim }));
      await attack(client, FORGED.map(encodeSignal));
      await exchange(a, b);
      expectUnharmed(a, b);
    },
  );

  it('W1: every signal of both ends, sent again over a live link, does not hurt it', async () => {
    const [ofA, ofB] = [watchedSockets(), watchedSockets()];
    const [a, b] = await room.pair({ WebSocket: ofA.WebSocket }, { WebSocket: ofB.WebSocket });
    expect(ofA.signals.length).toBeGreaterThan(0);
    expect(ofB.signals.length).toBeGreaterThan(0);
    for (const { resend } of [ofA, ofB, ofA, ofB]) resend();
    // Signals are passed on in order: what comes after them says that they have come.
    await enter();
    await exchange(a, b);
    expectUnharmed(a, b);
  });

  it('W1: an end that sends every signal twice, at once, gets its link', async () => {
    class Doubling extends WebSocket {
      override send(data: string): void {
        super.send(data);
        if (data.includes('"type":"signal"')) super.send(data);
      }
    }
    const [a, b] = await room.pair({ WebSocket: Doubling }, { WebSocket: Doubling });
    await exchange(a, b);
    expectUnharmed(a, b);
  });

  it('W1: a peer that never answers holds up discovery only while it is there', async () => {
    const client = await enter(JSON.stringify({ id: 'mute', instance: 'mute' }));
    const a = room.start('a');
    await a.until('one pending', () => a.recorder.of('discovery').at(-1)?.pending === 1);
    client.close();
    await a.until('none pending', () => a.recorder.of('discovery').at(-1)?.pending === 0);
  });
});
