import type { Lane, SendResult } from '@doyen/core';
import { cut, FRAME_BYTES_MAX, MESSAGE_BYTES_MAX } from './chunk.ts';

/** What the lanes need of the channel under them. Neither method throws. */
export interface FrameChannel {
  /** What waits in the channel itself and can no longer be overtaken. */
  readonly bufferedBytes: number;
  /** False when the channel did not take the frame. */
  send(frame: Uint8Array): boolean;
  /** Sends, and calls back once the channel has drained below `CHANNEL_BYTES_MAX`. */
  sendThen(frame: Uint8Array, drained: () => void): void;
}

/**
 * Two priorities over one ordered channel. Control frames are handed over at once; data waits here,
 * where it can be overtaken, while more than `CHANNEL_BYTES_MAX` are in the channel.
 */
export class Lanes {
  readonly #channel: FrameChannel;
  readonly #waiting: Waiting[] = [];
  #waitingBytes = 0;
  #draining = false;
  /**
   * Bytes that the channel took and does not count. WebRTC for Node (@roamhq/wrtc) counts only what
   * is beyond its inner buffer; a burst into that loses packets, and the link stalls for seconds.
   */
  #unseenBytes = 0;

  constructor(channel: FrameChannel) {
    this.#channel = channel;
  }

  send(message: Uint8Array, lane: Lane): SendResult {
    if (message.length > MESSAGE_BYTES_MAX) return 'dropped';
    return lane === 'control' ? this.#sendControl(message) : this.#sendData(message);
  }

  #sendControl(message: Uint8Array): SendResult {
    const channel = this.#channel;
    if (channel.bufferedBytes + message.length > CONTROL_BYTES_MAX) return 'dropped';
    for (const frame of cut(message, 'control')) if (!channel.send(frame)) return 'dropped';
    return channel.bufferedBytes > CHANNEL_BYTES_MAX ? 'queued' : 'sent';
  }

  #sendData(message: Uint8Array): SendResult {
    if (this.#waitingBytes + message.length > MESSAGE_BYTES_MAX) return 'dropped';
    if (this.#waiting.length >= WAITING_MAX) return 'dropped';
    const frames = cut(message, 'data');
    const frame = frames.next().value;
    if (!frame) return 'dropped';
    this.#waiting.push({ frame, frames, bytes: message.length });
    this.#waitingBytes += message.length;
    this.#pump();
    return this.#draining ? 'queued' : 'sent';
  }

  #pump(): void {
    for (let frame = this.#next(); frame; frame = this.#next()) {
      const ahead = Math.max(this.#channel.bufferedBytes, this.#unseenBytes);
      if (ahead + frame.length <= CHANNEL_BYTES_MAX) this.#hand(frame);
      else this.#handAndWait(frame);
    }
  }

  #hand(frame: Uint8Array): void {
    this.#channel.send(frame);
    // An honest count includes what was handed over in this very task.
    if (this.#channel.bufferedBytes === 0) this.#unseenBytes += frame.length;
  }

  #handAndWait(frame: Uint8Array): void {
    this.#draining = true;
    this.#channel.sendThen(frame, () => {
      this.#draining = false;
      this.#unseenBytes = 0;
      this.#pump();
    });
  }

  /** The next frame to go, while frames may go. */
  #next(): Uint8Array | undefined {
    const head = this.#draining ? undefined : this.#waiting[0];
    if (!head) return undefined;
    const { frame } = head;
    const following = head.frames.next();
    if (following.done) {
      this.#waiting.shift();
      this.#waitingBytes -= head.bytes;
    } else {
      head.frame = following.value;
    }
    return frame;
  }
}

interface Waiting {
  frame: Uint8Array;
  readonly frames: Generator<Uint8Array, void>;
  readonly bytes: number;
}

/** What a heartbeat may have to wait behind: 64 KiB take half a second at 1 Mbit/s. */
const CHANNEL_BYTES_MAX = FRAME_BYTES_MAX;

/** Chromium's channel refuses at 16 MiB; control traffic that far behind is of no use to anybody. */
const CONTROL_BYTES_MAX = 4 * 1024 * 1024;

/** Bounds the queue when messages are tiny. */
const WAITING_MAX = 65_536;
