import { type BallotRules, refusalOf } from '../../src/machine/quorum/ballot.ts';
import { differenceOf, isSameVoter, type Voter } from '../../src/machine/quorum/config.ts';
import { breachOf } from './disk.ts';
import { Interner } from './interner.ts';
import type { Packet } from './packet.ts';
import { isRelevant } from './relevance.ts';
import { diskOf, type Input, type Outcome, outcomeOf, type VoterState } from './voter-state.ts';

export interface CatalogueOptions {
  readonly rules: BallotRules;
  readonly epochs: number;
  readonly versions: number;
  readonly founders: readonly Voter[];
  readonly hasOpenWrites: boolean;
  readonly isCalm: boolean;
}

/** What comes of an input, in numbers of the catalogue. */
export interface Move {
  /** The same for inputs that come to the same. */
  readonly number: number;
  readonly input: number;
  readonly state: number;
  /** In order. */
  readonly sent: readonly number[];
  /** The epoch that is won by it; 0 for none. */
  readonly won: number;
  /** What the disk must never do; `null` as long as it does not. */
  readonly breach: string | null;
}

type Kind = Omit<Move, 'number' | 'input'>;

/**
 * Every state that one voter was ever seen in, every packet, and what each does to each: the shipped
 * functions run once for each pair, and the search goes on with numbers.
 */
export class Catalogue {
  readonly states = new Interner<VoterState>();
  readonly packets = new Interner<Packet>();
  readonly inputs = new Interner<Input>();
  readonly #options: CatalogueOptions;
  readonly #kinds = new Interner<Kind>();
  /** By state. */
  readonly #ownMoves: (readonly Move[])[] = [];
  /** By state and packet; dense, since a sparse array is slow. */
  readonly #hearMoves: (readonly Move[] | null)[][] = [];
  /** By state: for each packet 1 where it is relevant, else 0. */
  readonly #relevance: Uint8Array[] = [];
  #capacity = 256;

  constructor(options: CatalogueOptions) {
    this.#options = options;
  }

  state(state: VoterState): number {
    const number = this.states.number(state);
    if (number < this.#relevance.length) return number;
    const row = new Uint8Array(this.#capacity);
    for (let packet = 0; packet < this.packets.size; packet += 1) {
      row[packet] = this.#judge(packet, state);
    }
    this.#relevance.push(row);
    return number;
  }

  packet(packet: Packet): number {
    const count = this.packets.size;
    const number = this.packets.number(packet);
    if (number < count) return number;
    if (number >= this.#capacity) this.#grow();
    for (const [state, row] of this.#relevance.entries()) {
      row[number] = this.#judge(number, this.states.value(state));
    }
    return number;
  }

  /** For each packet 1 where it is relevant in this state; good until the next new packet. */
  relevance(state: number): Uint8Array {
    return this.#relevance[state] as Uint8Array;
  }

  /** How many moves there are that do not come to the same. */
  get moveCount(): number {
    return this.#kinds.size;
  }

  /** What may come to pass at a voter in this state without a packet. */
  ownMoves(state: number): readonly Move[] {
    this.#ownMoves[state] ??= this.#inputsOf(this.states.value(state)).flatMap((input) =>
      this.#movesOf(state, input),
    );
    return this.#ownMoves[state];
  }

  /** What comes of a packet in this state; while a record is being written, packets wait. */
  hearMoves(state: number, packet: number): readonly Move[] {
    this.#hearMoves[state] ??= [];
    const row = this.#hearMoves[state];
    while (row.length <= packet) row.push(null);
    row[packet] ??= this.#hear(state, packet);
    return row[packet];
  }

  #hear(state: number, packet: number): readonly Move[] {
    const isDeaf = this.states.value(state).ballot.isStoring;
    if (isDeaf || this.relevance(state)[packet] === 0) return [];
    const heard = this.packets.value(packet);
    const hasEvidence = heard.type === 'ask' && !this.#options.isCalm;
    const ways = hasEvidence ? [true, false] : [true];
    return ways.flatMap((isRecent) =>
      this.#movesOf(state, { type: 'hear', packet: heard, isRecent }),
    );
  }

  #inputsOf({ ballot }: VoterState): Input[] {
    const { role, record, isStoring } = ballot;
    const { isCalm, rules } = this.#options;
    const inputs: Input[] = isCalm ? [] : [{ type: 'crash', isWritten: true }];
    // While a record is being written, only the end of a lease is acted upon.
    const isLeaving = isCalm || isStoring ? role === 'leader' : role !== 'follower';
    if (isLeaving) inputs.push({ type: 'stand-down' });
    if (isStoring) return [...inputs, { type: 'crash', isWritten: false }, { type: 'stored' }];
    const isFree = role === 'follower' || role === 'candidate';
    if (isFree && record.config) inputs.push({ type: 'stand' });
    const changes = this.#changesOf(record.config?.voters ?? []);
    const allowed = changes.filter((voters) => refusalOf(ballot, voters, rules) === null);
    return [...inputs, ...allowed.map((voters) => ({ type: 'reconfigure', voters }) as const)];
  }

  /** Every other set of voters; who comes with a new storage introduces itself. */
  #changesOf(voters: readonly Voter[]): Voter[][] {
    const isIn = (one: Voter) => voters.some((voter) => isSameVoter(voter, one));
    const others = this.#options.founders.filter((founder) => !isIn(founder));
    let sets: Voter[][] = [[]];
    for (const voter of [...voters, ...others]) {
      sets = sets.flatMap((set) => [set, [...set, voter]]);
    }
    return sets.filter((set) => differenceOf(voters, set) > 0);
  }

  #movesOf(state: number, input: Input): Move[] {
    const value = this.states.value(state);
    const outcome = outcomeOf(value, input, this.#options.rules);
    const breach = breachOf(diskOf(value), diskOf(outcome.state));
    const number = this.inputs.number(input);
    // What neither changes the voter nor says anything is no move.
    return this.#endsOf(outcome, breach)
      .filter((kind) => kind.state !== state || kind.sent.length > 0 || kind.won > 0)
      .map((kind) => ({ ...kind, number: this.#kinds.number(kind), input: number }));
  }

  /** The write is over at once, or the voter crashes before it, or after it without an answer. */
  #endsOf({ state, sent, won }: Outcome, breach: string | null): Kind[] {
    if (!this.#isWithin(state)) return [];
    const { hasOpenWrites, isCalm, rules } = this.#options;
    if (hasOpenWrites || !state.ballot.isStoring) {
      const packets = new Set(sent.map((packet) => this.packet(packet)));
      const inOrder = [...packets].sort((a, b) => a - b);
      return [{ state: this.state(state), sent: inOrder, won, breach }];
    }
    const ends = isCalm ? ENDS_OF_WRITE.slice(0, 1) : ENDS_OF_WRITE;
    return ends.flatMap((end) => {
      const next = outcomeOf(state, end, rules);
      const both = { ...next, sent: [...sent, ...next.sent], won: won || next.won };
      return this.#endsOf(both, breach ?? breachOf(diskOf(state), diskOf(next.state)));
    });
  }

  #isWithin({ ballot }: VoterState): boolean {
    const { epoch, config } = ballot.record;
    return epoch <= this.#options.epochs && (config?.version ?? 0) <= this.#options.versions;
  }

  #judge(packet: number, state: VoterState): number {
    const value = this.packets.value(packet);
    const isHearsay = value.type === 'config' || value.type === 'epoch';
    if (isHearsay && this.#options.isCalm) return 0;
    return Number(isRelevant(value, state, this.#options.rules));
  }

  #grow(): void {
    this.#capacity *= 2;
    for (const [state, row] of this.#relevance.entries()) {
      const wider = new Uint8Array(this.#capacity);
      wider.set(row);
      this.#relevance[state] = wider;
    }
  }
}

const ENDS_OF_WRITE: readonly Input[] = [
  { type: 'stored' },
  { type: 'crash', isWritten: false },
  { type: 'crash', isWritten: true },
];
