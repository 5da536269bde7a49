/** What the cluster says of one instance of a member, as it travels. Only its subject raises it. */
export interface MemberRecord {
  readonly id: string;
  readonly instance: string;
  /** Highest birth that the instance had seen when it met its first peer, + 1; 0 = not yet met. */
  readonly birth: number;
  readonly incarnation: number;
  readonly startedAt: number;
  readonly status: RecordStatus;
  /** Whether it may lead. */
  readonly candidate: boolean;
  readonly hidden: boolean;
  /** JSON text, or '' for none. */
  readonly meta: string;
}

/** `left` and `replaced` are final: no later word of the same instance revives it (M7). */
export type RecordStatus = 'alive' | 'dead' | 'left' | 'replaced';

/** In this order, lowest first, at the same incarnation. */
export const RECORD_STATUSES: readonly RecordStatus[] = ['alive', 'dead', 'left', 'replaced'];

/**
 * Total order of the records of one instance; the greater one is kept (M2). Final statuses come
 * first, then the incarnation, then the status; the content only breaks ties that an honest
 * subject never makes, so that merging is commutative, associative and idempotent on any input.
 */
export function compareRecords(a: MemberRecord, b: MemberRecord): number {
  return (
    Number(isFinal(a)) - Number(isFinal(b)) ||
    a.incarnation - b.incarnation ||
    RECORD_STATUSES.indexOf(a.status) - RECORD_STATUSES.indexOf(b.status) ||
    compareText(content(a), content(b))
  );
}

export function isFinal(record: MemberRecord): boolean {
  return record.status === 'left' || record.status === 'replaced';
}

/** Ordinal (code unit) order, the same on every machine whatever its locale. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Of two instances of one id that both answer: negative when `a` stays (M1). */
export function compareDuplicates(a: MemberRecord, b: MemberRecord): number {
  return a.birth - b.birth || compareText(a.instance, b.instance);
}

/** 32 bits of one record; XOR over a roster gives its digest, whatever the order. */
export function hashRecord(record: MemberRecord): number {
  return hashText(`${record.instance}:${record.incarnation}`);
}

/**
 * FNV-1a over code units, 32 bits, with the final mix of MurmurHash3: without it texts that differ
 * in the last digit alone have hashes that cancel out in a digest.
 */
export function hashText(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

function content(record: MemberRecord): string {
  const { id, birth, startedAt, candidate, hidden, meta } = record;
  return JSON.stringify([id, birth, startedAt, candidate, hidden, meta]);
}
