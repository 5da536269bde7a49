/** Whether `value` is the bytes of a record: some, and not more than a store takes. */
export function isRecord(value: unknown): value is Uint8Array {
  return isBytes(value) && value.length > 0 && value.length <= RECORD_BYTES_MAX;
}

/** Also of another realm, such as a frame: those are no instances of this one's `Uint8Array`. */
export function isBytes(value: unknown): value is Uint8Array {
  return Object.prototype.toString.call(value) === '[object Uint8Array]';
}

/** Whether two records are the same, byte by byte; `null` is that there is none. */
export function isSameRecord(one: Uint8Array | null, two: Uint8Array | null): boolean {
  if (one === null || two === null) return one === two;
  return one.length === two.length && one.every((byte, index) => byte === two[index]);
}

/**
 * Largest record. A hundred voters with the longest of ids fit into half of it, and it is still
 * written in one go. The smallest has one byte: an empty file is what some file systems leave behind
 * after a power cut.
 */
export const RECORD_BYTES_MAX = 64 * 1024;
