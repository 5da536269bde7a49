import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FileMedium } from '../../src/store/file-store.ts';
import { isSameRecord } from '../../src/store/record.ts';
import { type Gate, ModelDisk } from './model-disk.ts';

describe('fileStore(), when several processes write', () => {
  it('Q1: two of them, in every order of their acts, replace only what they have compared', async () => {
    let orders = 0;
    for (const start of [null, Uint8Array.of(9)]) {
      orders += await everyOrder(async (choose) => {
        const race = new Race({ start, writers: 2, attempts: 1 });
        expect(await race.run(choose)).toEqual([]);
      });
    }
    expect(orders).toBeGreaterThan(1000);
  });

  it('Q1: likewise when one of them stops for ever at any of its acts', async () => {
    await everyOrder(async (choose) => {
      const race = new Race({ start: null, writers: 2, attempts: 1, mortals: 1 });
      expect(await race.run(choose)).toEqual([]);
    });
  });

  it('Q1: four of them that try again when they are disturbed, in random orders', async () => {
    const seeds = fc.array(fc.nat(), { minLength: 50, maxLength: 300 });
    await fc.assert(
      fc.asyncProperty(seeds, async (seed) => {
        let turn = 0;
        const race = new Race({ start: null, writers: 4, attempts: 3, mortals: 1 });
        const found = await race.run((count) => (seed[turn++ % seed.length] as number) % count);
        expect(found).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  it('Q1: without the removal of what others have made, an overwritten record is found', async () => {
    const found = new Set<string>();
    await everyOrder(async (choose) => {
      const race = new Race({ start: null, writers: 2, attempts: 1, isRemoving: false });
      for (const problem of await race.run(choose)) found.add(problem);
    });
    expect([...found]).toContain('writer 1 replaced what it did not expect');
  });
});

/** Picks one of `count` things to do next. */
type Choose = (count: number) => number;

/** Runs `body` with every series of choices that it can be given; gives how many there are. */
async function everyOrder(body: (choose: Choose) => Promise<void>): Promise<number> {
  const path: { choice: number; count: number }[] = [];
  for (let orders = 1; ; orders += 1) {
    let depth = 0;
    await body((count) => {
      path[depth] ??= { choice: 0, count };
      return (path[depth++] as { choice: number }).choice;
    });
    while (path.length > 0 && isLast(path.at(-1))) path.pop();
    const step = path.at(-1);
    if (!step) return orders;
    step.choice += 1;
  }
}

function isLast(step: { choice: number; count: number } | undefined): boolean {
  return step !== undefined && step.choice + 1 === step.count;
}

interface RaceOptions {
  readonly start: Uint8Array | null;
  readonly writers: number;
  readonly attempts: number;
  /** How many of the writers, the first ones, may stop for ever. */
  readonly mortals?: number;
  /** Whether writers see what others have made, which is how they come to remove it. */
  readonly isRemoving?: boolean;
}

/** Writers that all expect the same record, and of which one acts at a time. */
class Race {
  readonly #options: RaceOptions;
  readonly #disk: ModelDisk;
  readonly #waiting = new Map<number, () => void>();
  readonly #dead = new Set<number>();
  readonly #outcomes = new Map<number, boolean | 'gave up'>();
  readonly #renamers: number[] = [];
  readonly #problems: string[] = [];

  constructor(options: RaceOptions) {
    this.#options = options;
    this.#disk = new ModelDisk(options.start ? [['record', options.start]] : []);
  }

  /** Lets the writers act in the order that `choose` says; gives what was wrong. */
  async run(choose: Choose): Promise<string[]> {
    const { writers, mortals = 0 } = this.#options;
    for (let writer = 0; writer < writers; writer += 1) void this.#write(writer);
    for (;;) {
      await settled();
      const ready = [...this.#waiting.keys()].sort();
      if (ready.length === 0) break;
      const dying = ready.filter((writer) => writer < mortals && this.#dead.size < mortals);
      const chosen = choose(ready.length + dying.length);
      const writer = ready[chosen] ?? (dying[chosen - ready.length] as number);
      if (chosen < ready.length) this.#waiting.get(writer)?.();
      else this.#dead.add(writer);
      this.#waiting.delete(writer);
    }
    this.#judge();
    return this.#problems;
  }

  async #write(writer: number): Promise<void> {
    let attempts = 0;
    const pause = async (): Promise<void> => {
      attempts += 1;
      if (attempts === this.#options.attempts) throw new Error('gave up');
    };
    const place = this.#disk.place('record', this.#gate(writer));
    if (this.#options.isRemoving === false) place.files.readdir = async () => [];
    const medium = new FileMedium(place, pause);
    const bid = Uint8Array.of(writer);
    const outcome = await medium
      .replace('k', bid, this.#options.start)
      .catch((error: Error) => (error.message === 'gave up' ? ('gave up' as const) : error));
    if (outcome instanceof Error) this.#problems.push(String(outcome));
    else this.#outcomes.set(writer, outcome);
  }

  /** Acts on what others do not see need not wait for their turn: their order changes nothing. */
  #gate(writer: number): Gate {
    return async (act) => {
      if (/^(write|sync)/.test(act)) return;
      await new Promise<void>((resolve) => this.#waiting.set(writer, resolve));
      if (!act.startsWith('rename')) return;
      const [, from = '', to = ''] = act.split(' ');
      if (this.#disk.bytes(baseOf(from)) === null) return;
      if (!isSameRecord(this.#disk.bytes(baseOf(to)), this.#options.start)) {
        this.#problems.push(`writer ${writer} replaced what it did not expect`);
      }
      this.#renamers.push(writer);
    };
  }

  #judge(): void {
    const winners = [...this.#outcomes].filter(([, outcome]) => outcome === true);
    for (const [writer] of winners) {
      if (!this.#renamers.includes(writer)) this.#problems.push(`writer ${writer} only says so`);
    }
    for (const writer of this.#renamers) {
      const isHonest = this.#outcomes.get(writer) === true || this.#dead.has(writer);
      if (!isHonest) this.#problems.push(`writer ${writer} does not say so`);
    }
    const heard = this.#outcomes.size + this.#dead.size;
    if (heard !== this.#options.writers) this.#problems.push(`${heard} writers have ended`);
    const last = this.#renamers.at(-1);
    const expected = last === undefined ? this.#options.start : Uint8Array.of(last);
    if (!isSameRecord(this.#disk.bytes('record'), expected)) this.#problems.push('wrong record');
    const isRefused = [...this.#outcomes.values()].includes(false);
    if (isRefused && last === undefined) this.#problems.push('refused without a reason');
  }
}

/** Until nothing more happens by itself. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function baseOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
