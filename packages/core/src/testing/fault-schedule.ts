import { type Random, seededRandom } from './sim-random.ts';

/** Options of {@link faultSchedule}. */
export interface FaultScheduleOptions {
  readonly seed: number;
  readonly ids: readonly string[];
  /** How long faults go on, in virtual milliseconds. */
  readonly forMs: number;
  /** Average time between two faults. @defaultValue 2500: several fall into one suspicion window */
  readonly everyMs?: number;
  /** Kinds of faults to leave out. @defaultValue none */
  readonly without?: readonly Fault[];
}

/** A kind of fault, or the end of one; `reload` is a restart of a node that runs. */
export type Fault = (typeof FAULTS)[number];

/**
 * A random script of faults for the nodes `ids`, all running at its beginning; in the end all faults
 * are over, and at least one node runs. Equal options give equal scripts.
 */
export function faultSchedule(options: FaultScheduleOptions): string[] {
  const { seed, ids, forMs, everyMs = 2_500, without = [] } = options;
  const faults = FAULTS.filter((fault) => !without.includes(fault));
  const author = new Author(seededRandom(seed, 1_000_003), ids);
  for (let passed = 0; passed < forMs; ) passed += author.next(everyMs, faults);
  author.calm();
  return author.lines;
}

/** Writes a script, and knows what state it has brought each node into. */
class Author {
  readonly lines: string[] = [];
  readonly #random: Random;
  readonly #ids: readonly string[];
  readonly #states = new Map<string, 'up' | 'ended' | 'paused' | 'frozen'>();

  constructor(random: Random, ids: readonly string[]) {
    this.#random = random;
    this.#ids = ids;
    for (const id of ids) this.#states.set(id, 'up');
  }

  /** Lets some time pass, then does something; gives how much time. */
  next(everyMs: number, faults: readonly Fault[]): number {
    const ms = 1 + Math.floor(this.#random() * 2 * everyMs);
    this.lines.push(`run ${ms}`);
    this[this.#pick(faults)]();
    return ms;
  }

  /** Ends all faults. */
  calm(): void {
    const survivors = this.#ids.filter((id) => this.#states.get(id) !== 'ended');
    if (survivors.length === 0) this.restart();
    this.lines.push('calm');
  }

  crash(): void {
    this.#change('crash', 'up', 'ended');
  }

  leave(): void {
    this.#change('leave', 'up', 'ended');
  }

  restart(): void {
    this.#change('restart', 'ended', 'up');
  }

  reload(): void {
    this.#change('restart', 'up', 'up');
  }

  pause(): void {
    this.#change('pause', 'up', 'paused');
  }

  resume(): void {
    this.#change('resume', 'paused', 'up');
  }

  freeze(): void {
    this.#change('freeze', 'up', 'frozen');
  }

  thaw(): void {
    this.#change('thaw', 'frozen', 'up');
  }

  throttle(): void {
    const id = this.#pick(this.#ids);
    if (this.#states.get(id) === 'ended') return;
    this.lines.push(`throttle ${id} 1000`);
  }

  cut(): void {
    const [one, two] = [this.#pick(this.#ids), this.#pick(this.#ids)];
    if (one === two) return;
    this.lines.push(`cut ${one} ${two}${this.#random() < 0.5 ? ' one-way' : ''}`);
  }

  partition(): void {
    const groups: [string[], string[]] = [[], []];
    for (const id of this.#ids) groups[this.#random() < 0.5 ? 0 : 1].push(id);
    this.lines.push(`partition ${groups.map((group) => group.join(' ')).join(' | ')}`);
  }

  heal(): void {
    this.lines.push('heal');
  }

  loss(): void {
    this.lines.push(`loss ${this.#pick([0, 0.01, 0.05, 0.2])}`);
  }

  latency(): void {
    this.lines.push(`latency ${this.#pick(['1 5', '5 30', '50 400'])}`);
  }

  disorder(): void {
    this.lines.push(`${this.#pick(['duplicate', 'reorder'])} ${this.#pick([0, 0.1])}`);
  }

  #change(verb: string, from: NodeCondition, to: NodeCondition): void {
    const fitting = this.#ids.filter((id) => this.#states.get(id) === from);
    if (fitting.length === 0) return;
    const id = this.#pick(fitting);
    this.lines.push(`${verb} ${id}`);
    this.#states.set(id, to);
  }

  #pick<T>(list: readonly T[]): T {
    return list[Math.floor(this.#random() * list.length)] as T;
  }
}

type NodeCondition = 'up' | 'ended' | 'paused' | 'frozen';

/** Ends of faults are as likely as their beginnings, so that the cluster is not mostly dead. */
const FAULTS = [
  'crash',
  'leave',
  'restart',
  'restart',
  'reload',
  'pause',
  'resume',
  'freeze',
  'thaw',
  'throttle',
  'cut',
  'partition',
  'heal',
  'heal',
  'loss',
  'latency',
  'disorder',
] as const satisfies readonly (keyof Author)[];
