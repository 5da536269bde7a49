import * as decoding from 'lib0/decoding';
import * as encoding from 'lib0/encoding';

/** Thrown for bytes that are no message of this version. Never leaves the machine. */
export class CodecError extends Error {}

/** Ids, instances, channel names and fingerprints. */
export const NAME_BYTES_MAX = 128;

/** Throws `CodecError` for anything but exactly what `reader` reads; nothing outside of `bytes`. */
export function readWhole<T>(bytes: Uint8Array, reader: (input: decoding.Decoder) => T): T {
  try {
    const input = decoding.createDecoder(bytes);
    const value = reader(input);
    if (decoding.hasContent(input)) throw new CodecError('bytes after the end');
    return value;
  } catch (error) {
    if (error instanceof CodecError) throw error;
    throw new CodecError(error instanceof Error ? error.message : 'malformed');
  }
}

export function writeOptional<T>(
  out: encoding.Encoder,
  value: T | null,
  writer: (out: encoding.Encoder, value: T) => void,
): void {
  encoding.writeUint8(out, Number(value !== null));
  if (value !== null) writer(out, value);
}

export function readOptional<T>(
  input: decoding.Decoder,
  reader: (input: decoding.Decoder) => T,
): T | null {
  return flag(input) ? reader(input) : null;
}

export function bits(a: boolean, b: boolean, c = false): number {
  return Number(a) | (Number(b) << 1) | (Number(c) << 2);
}

export function flags(input: decoding.Decoder, count: number): number {
  const value = byte(input);
  if (value >> count) throw new CodecError('unknown flags');
  return value;
}

export function has(set: number, bit: number): boolean {
  return ((set >> bit) & 1) === 1;
}

export function flag(input: decoding.Decoder): boolean {
  return has(flags(input, 1), 0);
}

export function byte(input: decoding.Decoder): number {
  if (!decoding.hasContent(input)) throw new CodecError('truncated');
  return decoding.readUint8(input);
}

export function uint(input: decoding.Decoder, max = Number.MAX_SAFE_INTEGER): number {
  const value = decoding.readVarUint(input);
  if (!(value <= max)) throw new CodecError(`number above ${max}`);
  return value;
}

/** Four bytes, least first. */
export function uint32(input: decoding.Decoder): number {
  if (input.pos + 4 > input.arr.length) throw new CodecError('truncated');
  return decoding.readUint32(input);
}

export function float(input: decoding.Decoder): number {
  if (input.pos + 8 > input.arr.length) throw new CodecError('truncated');
  const value = decoding.readFloat64(input);
  if (!Number.isFinite(value)) throw new CodecError('number is not finite');
  return value;
}

export function name(input: decoding.Decoder): string {
  const value = text(input, NAME_BYTES_MAX);
  if (value === '') throw new CodecError('empty name');
  return value;
}

/** Lengths are checked before anything is allocated. */
export function text(input: decoding.Decoder, bytesMax: number): string {
  const start = input.pos;
  const length = uint(input, bytesMax);
  if (input.pos + length > input.arr.length) throw new CodecError('truncated');
  input.pos = start;
  return decoding.readVarString(input);
}

/** JSON that is kept as text; '' is none. */
export function json(input: decoding.Decoder, bytesMax: number): string {
  const value = text(input, bytesMax);
  if (value !== '') JSON.parse(value);
  return value;
}

export function data(input: decoding.Decoder, bytesMax: number): Uint8Array {
  const length = uint(input, bytesMax);
  if (input.pos + length > input.arr.length) throw new CodecError('truncated');
  return decoding.readUint8Array(input, length);
}

export function member<T>(values: readonly T[], index: number): T {
  const value = values[index];
  if (value === undefined) throw new CodecError('unknown value');
  return value;
}
