import { describe, expect, it } from 'vitest';
import { Joiner, MESSAGE_BYTES_MAX } from '../src/chunk.ts';
import { Lanes } from '../src/lanes.ts';

/** A channel whose network moves only when told to. */
class SlowChannel {
  readonly frames: Uint8Array[] = [];
  bufferedBytes = 0;
  #drained: (() => void) | null = null;

  send(frame: Uint8Array): boolean {
    this.frames.push(frame);
    this.bufferedBytes += frame.length;
    return true;
  }

  sendThen(frame: Uint8Array, drained: () => void): void {
    this.send(frame);
    this.#drained = drained;
  }

  drain(): void {
    this.bufferedBytes = 0;
    const drained = this.#drained;
    this.#drained = null;
    drained?.();
  }
}

function messagesIn(frames: readonly Uint8Array[]): number[] {
  const joiner = new Joiner();
  return frames
    .map((frame) => joiner.push(frame))
    .filter((result) => result instanceof Uint8Array)
    .map((message) => message[0] ?? -1);
}

describe('lanes', () => {
  it('W3: control overtakes data that waits, and both arrive in the order of their lane', () => {
    const channel = new SlowChannel();
    const lanes = new Lanes(channel);
    expect(lanes.send(new Uint8Array(1_000_000).fill(1), 'data')).toBe('queued');
    expect(lanes.send(Uint8Array.of(2), 'data')).toBe('queued');
    expect(channel.frames.length).toBeLessThanOrEqual(2);
    lanes.send(Uint8Array.of(3), 'control');
    lanes.send(Uint8Array.of(4), 'control');
    for (let round = 0; round < 20; round += 1) channel.drain();
    expect(messagesIn(channel.frames)).toEqual([3, 4, 1, 2]);
  });

  it('W3: data in the channel stays near 64 KiB, so that control waits for little', () => {
    const channel = new SlowChannel();
    const lanes = new Lanes(channel);
    for (let index = 0; index < 1_000; index += 1) lanes.send(new Uint8Array(1_000), 'data');
    expect(channel.bufferedBytes).toBeLessThanOrEqual(2 * 64 * 1024);
  });

  it('W3: a channel that counts nothing is not flooded either', () => {
    const channel = new SlowChannel();
    Object.defineProperty(channel, 'bufferedBytes', { get: () => 0, set: () => undefined });
    const lanes = new Lanes(channel);
    expect(lanes.send(new Uint8Array(500_000), 'data')).toBe('queued');
    expect(channel.frames.length).toBeLessThanOrEqual(2);
    for (let round = 0; round < 10; round += 1) channel.drain();
    expect(messagesIn(channel.frames)).toEqual([0]);
  });

  it('W3: back-pressure is an answer: sent, then queued, then dropped, then sent again', () => {
    const channel = new SlowChannel();
    const lanes = new Lanes(channel);
    expect(lanes.send(new Uint8Array(60_000), 'data')).toBe('sent');
    expect(lanes.send(new Uint8Array(60_000), 'data')).toBe('queued');
    expect(lanes.send(new Uint8Array(MESSAGE_BYTES_MAX - 1_000), 'data')).toBe('queued');
    expect(lanes.send(new Uint8Array(10_000), 'data')).toBe('dropped');
    for (let round = 0; round < 300; round += 1) channel.drain();
    expect(lanes.send(new Uint8Array(10_000), 'data')).toBe('sent');
  });

  it('W3: control that piles up in a dead channel is dropped in the end', () => {
    const lanes = new Lanes(new SlowChannel());
    const results = Array.from({ length: 100 }, () =>
      lanes.send(new Uint8Array(60_000), 'control'),
    );
    expect(results[0]).toBe('sent');
    expect(results[2]).toBe('queued');
    expect(results[99]).toBe('dropped');
  });

  it('W3: a message beyond the bound is dropped', () => {
    const lanes = new Lanes(new SlowChannel());
    expect(lanes.send(new Uint8Array(MESSAGE_BYTES_MAX + 1), 'data')).toBe('dropped');
  });
});
