import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { RealServer, Visit } from '../real-server.ts';
import type { Entry, TestPage } from './app/main.ts';

declare const page: TestPage;

/** Where the document is open: a tab, of whatever driver, or a worker. */
export interface Editor {
  evaluate<Given, Result>(
    run: (given: Given) => Result | Promise<Result>,
    given: Given,
  ): Promise<Result>;
}

/** Those that have one document open, by their names. */
export class Meeting<Place extends Editor> {
  /** Another for each meeting: what the server remembers of the last one is none of its business. */
  readonly room = `room-${++meetings}`;
  readonly editors = new Map<string, Place>();
  readonly #server: RealServer;

  constructor(server: RealServer) {
    this.#server = server;
  }

  async enter(name: string, place: Place, how: Omit<Entry, 'name' | 'room'> = {}): Promise<void> {
    const entry = { ...how, name, room: this.room };
    await place.evaluate((who: Entry) => page.enter(who), entry);
    this.editors.set(name, place);
  }

  /** Whoever it is that cannot be asked any more. */
  lose(name: string): Place {
    const place = this.at(name);
    this.editors.delete(name);
    return place;
  }

  at(name: string): Place {
    const place = this.editors.get(name);
    if (!place) throw new Error(`${name} is not here`);
    return place;
  }

  async write(name: string, text: string): Promise<void> {
    await this.at(name).evaluate((piece: string) => page.write(piece), text);
  }

  /** Until each of `names` has each of `pieces` once, and knows that the server has them. */
  async share(pieces: readonly string[], names = this.names): Promise<void> {
    const countHere = (expected: readonly string[]) => {
      const counts = expected.map((piece) => page.text.split(piece).length - 1);
      return { isSaved: page.isSaved, counts: counts.join() };
    };
    const whole = { isSaved: true, counts: pieces.map(() => 1).join() };
    for (const name of names) {
      await eventually(() => this.at(name).evaluate(countHere, pieces), whole, name);
    }
    for (const piece of pieces) expect(this.text.split(piece)).toHaveLength(2);
  }

  /** Until one of `names` leads and all others of them follow it; gives its name. */
  async leader(names = this.names): Promise<string> {
    const look = () => ({ isLeader: page.isLeader, led: `${page.leader} ${page.epoch}` });
    let leading: string[] = [];
    const count = async () => {
      const views = await Promise.all(names.map((name) => this.at(name).evaluate(look, null)));
      leading = names.filter((_, at) => views[at]?.isLeader);
      return [leading.length, new Set(views.map(({ led }) => led)).size];
    };
    await eventually(count, [1, 1], `one leader of ${names} for all`);
    return leading[0] ?? '';
  }

  get names(): string[] {
    return [...this.editors.keys()].sort();
  }

  /** The text at the server. */
  get text(): string {
    return this.#server.text(this.room);
  }

  get visits(): Visit[] {
    return this.#server.visits(this.room);
  }

  /** Whom the server has let in, by epoch, and how many were listened to at each time. */
  get admitted(): string[] {
    const admitted = this.visits.filter(({ isAdmitted }) => isAdmitted);
    return admitted.map(({ epoch, company }) => `epoch ${epoch}: ${company}`);
  }
}

/** Asks from outside, as a hidden page has no timers for it, until `view` gives what is expected. */
export async function eventually<Value>(
  view: () => Promise<Value>,
  expected: Value,
  what: string,
  withinMs = WITHIN_MS,
): Promise<void> {
  const endMs = performance.now() + withinMs;
  for (;;) {
    const seen = await view();
    if (JSON.stringify(seen) === JSON.stringify(expected)) return;
    if (performance.now() > endMs) return expect(seen, what).toEqual(expected);
    await sleep(POLL_MS);
  }
}

let meetings = 0;
/** Guards against hanging; a busy machine is slow at times. */
const WITHIN_MS = 40_000;
const POLL_MS = 20;
