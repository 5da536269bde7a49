import * as Y from 'yjs';

/** What an update holds. */
export interface UpdateContent {
  /** By client: the first pieces, up to the first hole. */
  readonly runs: ReadonlyMap<number, { readonly from: number; readonly to: number }>;
  /** State vector that a document has at least, once all of the update is in it. */
  readonly ends: ReadonlyMap<number, number>;
  readonly deleted: Ranges;
}

/** What is deleted: by client, ranges of clocks in order. */
export type Ranges = ReadonlyMap<number, readonly Range[]>;

interface Range {
  readonly clock: number;
  readonly len: number;
}

/** Reads an update without applying it. @throws Error when it is none. */
export function readUpdate(update: Uint8Array): UpdateContent {
  const { structs, ds } = Y.decodeUpdate(update);
  const runs = new Map<number, { from: number; to: number }>();
  const ends = new Map<number, number>();
  for (const struct of structs) {
    const { client, clock } = struct.id;
    const to = clock + struct.length;
    ends.set(client, to);
    const run = runs.get(client);
    if (struct instanceof Y.Skip) continue;
    if (!run) runs.set(client, { from: clock, to });
    else if (run.to === clock) run.to = to;
  }
  return { runs, ends, deleted: ds.clients };
}

/** Whether a document has reached a state vector: what lacks its predecessors waits unseen. */
export function hasReached(doc: Y.Doc, stateVector: ReadonlyMap<number, number>): boolean {
  for (const [client, clock] of stateVector) {
    if (Y.getState(doc.store, client) < clock) return false;
  }
  return true;
}

/** Whether all of an update is in a document, what it deletes included. */
export function hasIntegrated(doc: Y.Doc, { ends, deleted }: UpdateContent): boolean {
  for (const [client, ranges] of deleted) {
    const state = Y.getState(doc.store, client);
    if (ranges.some(({ clock, len }) => clock + len > state)) return false;
  }
  return hasReached(doc, ends);
}

/** Whether one set of ranges holds all of another. */
export function includes(all: Ranges, some: Ranges): boolean {
  for (const [client, ranges] of some) {
    const theirs = all.get(client) ?? [];
    if (!ranges.every(({ clock, len }) => isWithin(clock, clock + len, theirs))) return false;
  }
  return true;
}

function isWithin(from: number, to: number, ranges: readonly Range[]): boolean {
  let low = 0;
  let high = ranges.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const range = ranges[middle];
    if (range && range.clock + range.len <= from) low = middle + 1;
    else high = middle;
  }
  let reached = from;
  for (let at = low; reached < to; at += 1) {
    const range = ranges[at];
    if (!range || range.clock > reached) return false;
    reached = range.clock + range.len;
  }
  return true;
}
