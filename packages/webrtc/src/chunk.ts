import type { Lane } from '@doyen/core';

/**
 * Largest message of either lane. The core promises its applications 16 MiB and puts its own header
 * around that.
 */
export const MESSAGE_BYTES_MAX = 16 * 1024 * 1024 + 64 * 1024;

/**
 * Largest frame on the channel. Every browser takes 64 KiB; above that the limits differ, and a
 * frame in flight is the longest that a heartbeat can have to wait.
 */
export const FRAME_BYTES_MAX = 64 * 1024;

// The first byte of a frame: bit 0 is the lane, bit 1 says that the message goes on in the next
// frame of the same lane. Frames of the other lane may come in between.
const LANES: readonly Lane[] = ['control', 'data'];
const MORE = 2;

/** Cuts a message into frames, each made when it is asked for. */
export function* cut(message: Uint8Array, lane: Lane): Generator<Uint8Array, void> {
  let start = 0;
  do {
    const part = message.subarray(start, start + FRAME_BYTES_MAX - 1);
    start += part.length;
    const frame = new Uint8Array(1 + part.length);
    frame[0] = LANES.indexOf(lane) + (start < message.length ? MORE : 0);
    frame.set(part, 1);
    yield frame;
  } while (start < message.length);
}

/** Rejoins the frames of one link, whatever the other end sends, within `MESSAGE_BYTES_MAX` a lane. */
export class Joiner {
  readonly #parts: readonly Uint8Array[][] = [[], []];
  readonly #lengths = [0, 0];

  /** The message that `bytes` completes; `malformed` when no honest end can have sent them. */
  push(bytes: Uint8Array): Uint8Array | 'partial' | 'malformed' {
    const head = bytes[0] ?? NaN;
    const lane = head & 1;
    const parts = this.#parts[lane];
    const length = (this.#lengths[lane] ?? 0) + bytes.length - 1;
    // Every frame but the last is full: empty ones would let the list grow for nothing.
    const isShort = head & MORE && bytes.length < FRAME_BYTES_MAX;
    if (!parts || !(head < 4) || isShort || length > MESSAGE_BYTES_MAX) return 'malformed';
    // A plain array over the same memory, whatever subclass came in.
    parts.push(new Uint8Array(bytes.buffer, bytes.byteOffset + 1, bytes.length - 1));
    this.#lengths[lane] = head & MORE ? length : 0;
    return head & MORE ? 'partial' : joined(parts.splice(0), length);
  }
}

function joined(parts: readonly Uint8Array[], length: number): Uint8Array {
  const [first] = parts;
  if (first?.length === length) return first;
  const message = new Uint8Array(length);
  let offset = 0;
  for (const part of parts) {
    message.set(part, offset);
    offset += part.length;
  }
  return message;
}
