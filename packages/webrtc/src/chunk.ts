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

// The first byte of a frame: bit 0 is the lane, the rest the kind. A `first` frame goes on with the
// length of the whole message (4 bytes, big endian); `more` frames follow on the same lane, in
// order, until that length is reached. Frames of the other lane may come in between.
const WHOLE = 0;
const FIRST = 1;
const MORE = 2;
const LANES: readonly Lane[] = ['control', 'data'];
const FIRST_HEADER_BYTES = 5;

/** Cuts a message into frames, each made when it is asked for. */
export function* cut(message: Uint8Array, lane: Lane): Generator<Uint8Array, void> {
  if (message.length < FRAME_BYTES_MAX) {
    yield frame(lane, WHOLE, 1, message);
    return;
  }
  let end = FRAME_BYTES_MAX - FIRST_HEADER_BYTES;
  const first = frame(lane, FIRST, FIRST_HEADER_BYTES, message.subarray(0, end));
  new DataView(first.buffer).setUint32(1, message.length);
  yield first;
  while (end < message.length) {
    const start = end;
    end = Math.min(message.length, start + FRAME_BYTES_MAX - 1);
    yield frame(lane, MORE, 1, message.subarray(start, end));
  }
}

function frame(lane: Lane, kind: number, headerBytes: number, payload: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(headerBytes + payload.length);
  bytes[0] = (kind << 1) | LANES.indexOf(lane);
  bytes.set(payload, headerBytes);
  return bytes;
}

/** Rejoins the frames of one link, whatever the other end sends, within `MESSAGE_BYTES_MAX` a lane. */
export class Joiner {
  readonly #partial: (Partial | null)[] = [null, null];

  /** The message that `bytes` completes; `malformed` when no honest end can have sent them. */
  push(bytes: Uint8Array): Uint8Array | 'partial' | 'malformed' {
    const head = bytes[0] ?? 0xff;
    const lane = head & 1;
    const partial = this.#partial[lane];
    switch (head >> 1) {
      case WHOLE:
        return partial ? 'malformed' : after(bytes, 1);
      case FIRST:
        return partial ? 'malformed' : this.#begin(lane, bytes);
      case MORE:
        return partial ? this.#extend(lane, partial, after(bytes, 1)) : 'malformed';
      default:
        return 'malformed';
    }
  }

  #begin(lane: number, bytes: Uint8Array): Uint8Array | 'partial' | 'malformed' {
    if (bytes.length <= FIRST_HEADER_BYTES) return 'malformed';
    const length = new DataView(bytes.buffer, bytes.byteOffset, bytes.length).getUint32(1);
    if (length > MESSAGE_BYTES_MAX) return 'malformed';
    const partial = { length, received: 0, parts: [] };
    this.#partial[lane] = partial;
    return this.#extend(lane, partial, after(bytes, FIRST_HEADER_BYTES));
  }

  #extend(lane: number, partial: Partial, part: Uint8Array): Uint8Array | 'partial' | 'malformed' {
    partial.received += part.length;
    // An empty part would let the list grow without bringing the end nearer.
    if (part.length === 0 || partial.received > partial.length) return 'malformed';
    partial.parts.push(part);
    if (partial.received < partial.length) return 'partial';
    this.#partial[lane] = null;
    return joined(partial);
  }
}

/** A message on its way in. Memory grows with what has arrived, not with what was announced. */
interface Partial {
  readonly length: number;
  received: number;
  readonly parts: Uint8Array[];
}

function joined(partial: Partial): Uint8Array {
  const message = new Uint8Array(partial.length);
  let offset = 0;
  for (const part of partial.parts) {
    message.set(part, offset);
    offset += part.length;
  }
  return message;
}

/** The rest of `bytes` as a plain array over the same memory, whatever subclass came in. */
function after(bytes: Uint8Array, headerBytes: number): Uint8Array {
  return new Uint8Array(bytes.buffer, bytes.byteOffset + headerBytes, bytes.length - headerBytes);
}
