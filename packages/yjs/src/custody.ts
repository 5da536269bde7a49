import * as Y from 'yjs';
import { includes, type Ranges, readUpdate } from './update.ts';

/** What custody needs of the connection around it. */
export interface CustodySurroundings<Marks> {
  readonly doc: Y.Doc;
  /** Asks the server for everything that it holds beyond this state vector. */
  ask(stateVector: Uint8Array): void;
  /** What is confirmed once the document as it is now is. */
  marks(): Marks;
  confirmed(marks: Marks): void;
}

/**
 * Knows what the server holds, from its own words on one connection. The protocol has no
 * acknowledgement: the server is asked for what it has beyond the last that it is known to hold, and
 * its answer, as it shows what arrived, confirms. One that drops updates confirms nothing.
 */
export class Custody<Marks> {
  readonly #around: CustodySurroundings<Marks>;
  /** By client: up to where the server is known to hold its pieces. */
  readonly #held = new Map<number, number>();
  #asked: { readonly content: Y.Snapshot; readonly marks: Marks } | null = null;
  /** Something is to be confirmed that was not there at the last question. */
  #isDirty = true;
  #isCovered = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** When the last answer came, and how long to wait from then on. */
  #answeredAt = 0;
  #pauseMs = 0;

  constructor(surroundings: CustodySurroundings<Marks>) {
    this.#around = surroundings;
    this.#schedule(IDLE_MS);
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  /** The document has changed other than by the server. */
  changed(): void {
    this.#isCovered = false;
    if (this.#isDirty) return;
    this.#isDirty = true;
    if (this.#asked === null) this.#scheduleNext();
  }

  /** The document means more than before, though it may not have changed. */
  recount(): void {
    if (this.#isCovered) this.#around.confirmed(this.#around.marks());
    else this.changed();
  }

  /** The server's own state vector, with which it asks for what it lacks. */
  heardStateVector(stateVector: Uint8Array): void {
    for (const [client, clock] of Y.decodeStateVector(stateVector)) this.#raise(client, clock);
  }

  /** What the server holds beyond the state vector of a question, and all that it has deleted. */
  heardState(update: Uint8Array): void {
    const asked = this.#asked;
    this.#asked = null;
    // y-websocket asks once itself, at the beginning. From here on the order of things is sure.
    if (!asked) return this.#scheduleNext();
    const { runs, deleted } = readUpdate(update);
    for (const [client, { from, to }] of runs) {
      // What comes after a hole waits at the server for its predecessors.
      if (from <= (this.#held.get(client) ?? 0)) this.#raise(client, to);
    }
    const isCovered = this.#covers(asked.content, deleted);
    this.#pace(isCovered, update.length);
    this.#isCovered = isCovered && !this.#isDirty;
    this.#isDirty ||= !isCovered;
    this.#scheduleNext();
    if (isCovered) this.#around.confirmed(asked.marks);
  }

  #raise(client: number, clock: number): void {
    this.#held.set(client, Math.max(clock, this.#held.get(client) ?? 0));
  }

  #covers({ sv, ds }: Y.Snapshot, deleted: Ranges): boolean {
    for (const [client, clock] of sv) if ((this.#held.get(client) ?? 0) < clock) return false;
    return includes(deleted, ds.clients);
  }

  /** After an answer; a server that does not take what it is sent is asked less and less. */
  #pace(isCovered: boolean, sizeBytes: number): void {
    this.#answeredAt = performance.now();
    const pauseMs = Math.max(PAUSE_MS, sizeBytes / BYTES_PER_MS_MAX);
    this.#pauseMs = isCovered ? pauseMs : Math.min(Math.max(pauseMs, 2 * this.#pauseMs), IDLE_MS);
  }

  #scheduleNext(): void {
    if (!this.#isDirty) return this.#schedule(IDLE_MS);
    this.#schedule(Math.max(0, this.#answeredAt + this.#pauseMs - performance.now()));
  }

  #schedule(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#ask(), ms);
  }

  #ask(): void {
    const { doc, ask, marks } = this.#around;
    this.#isDirty = false;
    this.#asked = { content: Y.snapshot(doc), marks: marks() };
    // Should no answer come, it is asked again; meanwhile whatever comes keeps the socket alive.
    this.#schedule(IDLE_MS);
    ask(Y.encodeStateVector(this.#held));
  }
}

/** A person sees no difference, and a burst of changes becomes a few questions. */
const PAUSE_MS = 100;
/** An answer lists all that was ever deleted: 100 kB a second at most go into confirmations. */
const BYTES_PER_MS_MAX = 100;
/** y-websocket gives up a connection on which it has heard nothing for 30 s. */
const IDLE_MS = 20_000;
