import type * as Y from 'yjs';
import type { Lab, Tab } from './lab.ts';
import { runAs } from './virtual-platform.ts';

/** Random edits and random faults, by a seed. */
export class Storm {
  /** Changes that `unsynced` called confirmed, and the server did not have. */
  readonly lies: string[] = [];
  readonly #lab: Lab;
  readonly #random: () => number;
  /** Every piece of text that was inserted, by the tab whose document it was. */
  readonly #pieces: { readonly text: string; readonly tab: Tab }[] = [];
  #isServerUp = true;
  #editCount = 0;

  constructor(lab: Lab, seed: number) {
    this.#lab = lab;
    this.#random = generator(seed);
  }

  async rage(ms: number): Promise<void> {
    const { sim } = this.#lab;
    const end = sim.now + ms;
    await sim.run(100);
    while (sim.now < end) {
      await sim.run(this.#random() * 400);
      if (this.#random() < 0.12) this.#fault();
      else this.#editSomewhere();
      this.#checkHonesty();
    }
  }

  /** Everything works from here on, and all tabs that were killed stay dead. */
  async calm(): Promise<void> {
    const { sim } = this.#lab;
    for (const id of sim.running) {
      this.#lab.resume(id);
      // One that was about to leave has left.
      if (sim.running.includes(id)) sim.throttle(id, 0);
    }
    sim.net.heal();
    sim.net.loss(0);
    this.#lab.startServer();
    if (sim.running.length === 0) sim.add('last');
    await sim.run(1);
  }

  /** Pieces that are not exactly once in the document of a tab that lived on. */
  misplaced(): string[] {
    const text = this.#lab.running[0]?.doc.getText('text').toString() ?? '';
    const living = new Set(this.#lab.running);
    return this.#pieces
      .filter(({ text: piece, tab }) => {
        const count = text.split(piece).length - 1;
        return living.has(tab) ? count !== 1 : count > 1;
      })
      .map(({ text: piece }) => piece);
  }

  #editSomewhere(): void {
    const tab = this.#pick(this.#awake());
    if (tab) runAs(tab.id, () => this.#edit(tab));
  }

  #edit(tab: Tab): void {
    const { doc, id } = tab;
    this.#editCount += 1;
    const text = `<${id}.${this.#editCount}>`;
    const into = doc.getText('text');
    this.#pieces.push({ text, tab });
    into.insert(boundary(into, this.#random()), text);
    if (this.#random() < 0.3) doc.getMap('map').set(`k${this.#editCount % 7}`, this.#editCount);
    const scratch = doc.getText('scratch');
    if (this.#random() < 0.4) scratch.insert(Math.floor(this.#random() * scratch.length), 'abc');
    if (this.#random() < 0.4 && scratch.length > 0) {
      scratch.delete(Math.floor(this.#random() * scratch.length), 1);
    }
  }

  #fault(): void {
    const { sim } = this.#lab;
    const kind = Math.floor(this.#random() * 12);
    const tab = this.#pick(this.#lab.running);
    if (kind === 0 && sim.running.length > 2 && tab) this.#lab.crash(tab.id);
    if (kind === 1 && sim.ids.length < 12) sim.add(`m${sim.ids.length}`);
    if (kind === 2 && tab) this.#lab.pause(tab.id);
    if (kind === 3) for (const { id } of this.#lab.running) this.#lab.resume(id);
    if (kind === 4) this.#partition();
    if (kind === 5) sim.net.heal();
    if (kind === 6) sim.net.loss(this.#random() * 0.2);
    if (kind === 7) sim.net.loss(0);
    if (kind === 8) this.#toggleServer();
    if (kind === 10 && tab) this.#lab.freeze(tab.id);
    if (kind === 11 && tab) sim.throttle(tab.id, this.#random() < 0.5 ? 0 : 1_000);
    if (kind === 9 && sim.running.length > 2 && tab) sim.leave(tab.id);
  }

  #partition(): void {
    const { sim } = this.#lab;
    const [one, two] = [[] as string[], [] as string[]];
    for (const id of sim.running) (this.#random() < 0.5 ? one : two).push(id);
    sim.net.partition([one, two]);
  }

  #toggleServer(): void {
    this.#isServerUp = !this.#isServerUp;
    if (this.#isServerUp) this.#lab.startServer();
    else this.#lab.stopServer();
  }

  /** Where nothing is unsynced, the server has all that was inserted there. */
  #checkHonesty(): void {
    let text: string;
    try {
      text = this.#lab.serverDoc.getText('text').toString();
    } catch (_nobodyYet) {
      return;
    }
    for (const { text: piece, tab } of this.#pieces) {
      if (tab.provider.unsynced === 0 && tab.doc.getText('text').toString().includes(piece)) {
        if (!text.includes(piece)) this.lies.push(piece);
      }
    }
  }

  #awake(): Tab[] {
    return this.#lab.sim.awake
      .map((id) => this.#lab.tabs.get(id))
      .filter((tab) => tab !== undefined);
  }

  #pick<T>(from: readonly T[]): T | undefined {
    return from[Math.floor(this.#random() * from.length)];
  }
}

/** A place between two pieces, so that none is split. */
function boundary(text: Y.Text, random: number): number {
  const ends = [...text.toString().matchAll(/>/g)].map(({ index }) => index + 1);
  return [0, ...ends][Math.floor(random * (ends.length + 1))] ?? 0;
}

function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
