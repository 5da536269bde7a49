import { between, type Random, seededRandom } from './sim-random.ts';

/** Options of {@link faultSchedule}. */
export interface FaultScheduleOptions {
  readonly seed: number;
  /** How many nodes there are in the beginning. */
  readonly nodes: number;
  /** How long faults go on, in virtual milliseconds. */
  readonly forMs: number;
  /** Average time between two faults. @defaultValue drawn from 0.8, 2.5 and 6 s by the seed */
  readonly everyMs?: number;
  /** Kinds of faults to leave out. @defaultValue none */
  readonly without?: readonly Fault[];
  /** Voters decide, all nodes being voters in the beginning; their stores fail too. */
  readonly voting?: boolean;
  /** Who holds the lock leads. */
  readonly locking?: boolean;
}

/** Something that happens, or the end of it; `reload` is a restart of a node that runs. */
export type Fault = (typeof FAULTS)[number] | (typeof VOTING_FAULTS)[number];

/**
 * A random story of faults; in the end all of them are over, and what is left of the cluster must
 * settle. Equal options give equal stories.
 */
export function faultSchedule(options: FaultScheduleOptions): string[] {
  const { seed, nodes, forMs, without = [], voting = false, locking = false } = options;
  const known: readonly Fault[] = voting ? [...FAULTS, ...VOTING_FAULTS] : FAULTS;
  const faults = known.filter((fault) => !without.includes(fault));
  const author = new Author(seededRandom(seed, 1_000_003), nodes, voting);
  author.start(seed, locking ? ' lock=on' : '');
  const everyMs = options.everyMs ?? author.pace();
  for (let passed = 0; passed < forMs; ) passed += author.next(everyMs, faults);
  author.calm();
  return author.lines;
}

/** Writes a story, and knows what state it has brought each node into. */
class Author {
  readonly lines: string[] = [];
  readonly #random: Random;
  readonly #ids: string[];
  readonly #idsMax: number;
  readonly #isVoting: boolean;
  readonly #founders: readonly string[];
  /** Whether one voter may lose what it has stored; else voters may be removed. */
  #mayForget: boolean;
  #hasForgotten = false;
  readonly #states = new Map<string, NodeCondition>();
  readonly #unwilling = new Set<string>();

  constructor(random: Random, nodes: number, isVoting: boolean) {
    this.#random = random;
    this.#isVoting = isVoting;
    // A majority without its memory ends every quorum for good, and so may one of two voters.
    this.#mayForget = isVoting && nodes > 2 && random() < 0.5;
    this.#ids = Array.from({ length: nodes }, (_, index) => `n${index + 1}`);
    this.#idsMax = nodes + 1 + Math.ceil(nodes / 4);
    this.#founders = [...this.#ids];
    for (const id of this.#ids) this.#states.set(id, 'up');
  }

  /** Most clusters start alike; in the others clocks are wrong and starts are given. */
  start(seed: number, rule: string): void {
    const isMixed = this.#random() < 0.4;
    const nodes = this.#ids.map((id) => `${id}${isMixed ? this.#mark() : ''}`);
    const strategy = this.#random() < 0.2 ? ' strategy=highest-id' : '';
    const quorum = this.#isVoting ? ` quorum=${this.#ids.join(',')}` : '';
    this.lines.push(
      `start seed=${seed} latency=5-30 jitter=on fence=on${strategy}${quorum}${rule} ${nodes.join(' ')}`,
    );
  }

  /** A storm of faults, several in one suspicion window, or one at a time. */
  pace(): number {
    return this.#pick([800, 2_500, 2_500, 6_000]);
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
    if (this.#ids.every((id) => this.#states.get(id) === 'ended')) this.restart();
    this.lines.push('settle');
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

  /** A new node, or one that has ended and starts under other options. */
  add(): void {
    const ended = this.#in('ended');
    const isNew = this.#ids.length < this.#idsMax && (ended.length === 0 || this.#random() < 0.5);
    if (!isNew && ended.length === 0) return;
    const id = isNew ? `n${this.#ids.length + 1}` : this.#pick(ended);
    if (isNew) this.#ids.push(id);
    const options = this.#pick(['', '', ` jump=${this.#jump()}`, ` startedAt=${this.#stamp()}`]);
    this.lines.push(`add ${id}${options}`);
    this.#begin(id);
  }

  pause(): void {
    this.#change('pause', 'up', 'paused');
  }

  resume(): void {
    this.#end('resume', 'paused');
  }

  freeze(): void {
    this.#change('freeze', 'up', 'frozen');
  }

  thaw(): void {
    this.#end('thaw', 'frozen');
  }

  /** The end of its page: what is left of the node goes with it. */
  proof(): void {
    const id = this.#pick(this.#ids);
    this.lines.push(`proof ${id}`);
    this.#states.set(id, 'ended');
  }

  /** Those faults hurt most that meet who leads just then. */
  strike(): void {
    const verb = this.#pick(['crash', 'leave', 'pause', 'pause', 'freeze', 'freeze', 'throttle']);
    this.lines.push(`${verb} leader${verb === 'throttle' ? ' 1000' : ''}`);
  }

  sever(): void {
    this.lines.push(`cut leader ${this.#pick(this.#ids)}${this.#random() < 0.5 ? ' one-way' : ''}`);
  }

  throttle(): void {
    this.#tell('throttle', () => this.#pick(['0', '1000', '1000', '60000']));
  }

  clock(): void {
    this.#tell('clock', () => {
      const rate = `rate=${(0.95 + this.#random() * 0.1).toFixed(3)}`;
      return this.#pick([`jump=${this.#jump()}`, rate, 'rate=1']);
    });
  }

  candidacy(): void {
    const willing = this.#in('up').filter((id) => !this.#unwilling.has(id));
    const unwilling = this.#in('up').filter((id) => this.#unwilling.has(id));
    const isOff = unwilling.length === 0 || (willing.length > 0 && this.#random() < 0.4);
    const fitting = isOff ? willing : unwilling;
    if (fitting.length === 0) return;
    const id = this.#pick(fitting);
    this.lines.push(`candidacy ${id} ${isOff ? 'off' : 'on'}`);
    if (isOff) this.#unwilling.add(id);
    else this.#unwilling.delete(id);
  }

  resign(): void {
    this.lines.push('resign leader');
  }

  transfer(): void {
    this.lines.push(`transfer leader ${this.#pick(this.#ids)}`);
  }

  tiebreaker(): void {
    this.#tell('tiebreaker', () => {
      const fixed = `nodeCount=${this.#whole(0, 3)} createdAt=${this.#whole(0, 3)}`;
      return this.#random() < 0.5 ? fixed : `live=${this.#whole(1, 999)}`;
    });
  }

  meta(): void {
    this.#tell('meta', () => `${this.#whole(0, 999)}`);
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

  /** A node that has ended starts without what it had stored. */
  amnesia(): void {
    const ended = this.#in('ended').filter((id) => this.#founders.includes(id));
    if (ended.length === 0 || !this.#mayForget) return;
    this.#mayForget = false;
    this.#hasForgotten = true;
    const id = this.#pick(ended);
    this.lines.push(`restart ${id} amnesia`);
    this.#begin(id);
  }

  store(): void {
    const id = this.#pick(this.#founders);
    this.lines.push(`store ${id} ${this.#pick(['read', 'write', 'ok', 'ok'])}`);
  }

  voters(): void {
    const isSmall = this.#mayForget || this.#hasForgotten;
    const verb = isSmall ? 'add' : this.#pick(['add', 'add', 'remove']);
    this.lines.push(`voters leader ${verb} ${this.#pick(this.#ids)}`);
  }

  #change(verb: string, from: NodeCondition, to: NodeCondition): void {
    const fitting = this.#in(from);
    if (fitting.length === 0) return;
    const id = this.#pick(fitting);
    this.lines.push(`${verb} ${id}`);
    if (verb === 'restart') this.#begin(id);
    else this.#states.set(id, to);
  }

  /** Any node may stand still, being the leader when all went for the leader. */
  #end(verb: string, from: NodeCondition): void {
    const fitting = this.#in(from);
    const id = this.#pick(fitting.length > 0 && this.#random() < 0.7 ? fitting : this.#ids);
    this.lines.push(`${verb} ${id}`);
    if (this.#states.get(id) === from) this.#states.set(id, 'up');
  }

  /** A new instance: what its application told the old one is forgotten. */
  #begin(id: string): void {
    this.#states.set(id, 'up');
    this.#unwilling.delete(id);
  }

  #tell(verb: string, what: () => string): void {
    const fitting = this.#in('up');
    if (fitting.length > 0) this.lines.push(`${verb} ${this.#pick(fitting)} ${what()}`);
  }

  #in(condition: NodeCondition): string[] {
    return this.#ids.filter((id) => this.#states.get(id) === condition);
  }

  #mark(): string {
    return this.#pick(['', `@${this.#stamp()}`, `~${this.#jump()}`]);
  }

  /** Unstamped, of long ago, or about when simulations begin. */
  #stamp(): number {
    return this.#pick([0, this.#whole(1, 9), 1_800_000_000_000 + this.#whole(-60_000, 60_000)]);
  }

  #jump(): number {
    return this.#pick([1, -1]) * this.#whole(10_000, 300_000);
  }

  #whole(low: number, high: number): number {
    return between(this.#random, [low, high]);
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
  'add',
  'pause',
  'resume',
  'freeze',
  'thaw',
  'proof',
  'strike',
  'strike',
  'sever',
  'throttle',
  'clock',
  'candidacy',
  'resign',
  'transfer',
  'tiebreaker',
  'tiebreaker',
  'meta',
  'cut',
  'partition',
  'partition',
  'heal',
  'heal',
  'loss',
  'latency',
  'disorder',
] as const satisfies readonly (keyof Author)[];

/** What can happen besides where voters decide. */
const VOTING_FAULTS = [
  'amnesia',
  'store',
  'store',
  'voters',
  'voters',
] as const satisfies readonly (keyof Author)[];
