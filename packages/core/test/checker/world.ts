import { BALLOT_RULES, startBallot } from '../../src/machine/quorum/ballot.ts';
import type { Voter, VoterConfig } from '../../src/machine/quorum/config.ts';
import { blankRecord } from '../../src/machine/quorum/voter-record.ts';
import { BOUNDS, type Bounds, WATCHED, type Watch, type WorldOptions } from './bounds.ts';
import { Catalogue, type Move } from './catalogue.ts';
import { Histories, type History } from './history.ts';
import { NumberSets } from './number-sets.ts';
import type { Packet } from './packet.ts';
import { renamingsOf } from './renaming.ts';
import { Symmetry } from './symmetry.ts';
import { GROUP, type VoterState } from './voter-state.ts';

/** Told each next state, which is lent, whose step it is, its input, and what breaks by it. */
export type Visit = (next: Int32Array, actor: number, input: number, breach: string | null) => void;

/** In place of an input of the catalogue. */
export const ACTS = -1;
export const LOSES = -2;

/**
 * Voters and all that is under way between them. A state is a row of numbers: one for each voter,
 * one for the set of packets, one for the history.
 *
 * Whatever was sent may be heard at any time, any number of times, or never: packets are a set that
 * only grows. That is loss, delay, reordering and duplication in one, without a step for any of them.
 * Only what can change nothing at anybody any more is left out, so that states do not differ by it.
 *
 * A voter that restarts keeps the name of its instance: late answers to the instance before are then
 * answers to it, which only adds to what can happen.
 */
export class World {
  readonly bounds: Bounds;
  readonly catalogue: Catalogue;
  readonly histories: Histories;
  readonly nets = new NumberSets();
  readonly initial: Int32Array;
  readonly #watched: ReadonlySet<Watch>;
  readonly #symmetry: Symmetry;
  /** The state of the last voter once it has lost its storage. */
  readonly #blank: number;
  readonly #netAt: number;
  readonly #historyAt: number;
  readonly #next: Int32Array;
  readonly #net: number[] = [];
  /** By number of a move: in which turn it was made last. */
  #madeAt = new Int32Array(1 << 10);
  #turn = 0;

  constructor({ rules = BALLOT_RULES, watched = WATCHED, ...bounds }: WorldOptions = {}) {
    this.bounds = { ...BOUNDS, ...bounds };
    const { voters, epochs, hasSymmetry } = this.bounds;
    const founders = NAMES.slice(0, voters).map((id) => ({ id, storageId: `${id}1` }));
    this.catalogue = new Catalogue({ ...this.bounds, rules, founders });
    this.histories = new Histories(epochs);
    this.#watched = new Set(watched);
    this.#symmetry = this.#symmetryOf(hasSymmetry ? founders : founders.slice(0, 1));
    this.#blank = this.catalogue.state(blankState(NAMES[voters - 1] as string));
    this.#netAt = voters;
    this.#historyAt = voters + 1;
    this.#next = new Int32Array(voters + 2);
    this.initial = this.#found(founders);
  }

  forEachNext(state: Int32Array, visit: Visit): void {
    const { catalogue, bounds } = this;
    const net = this.nets.row(state[this.#netAt] as number);
    for (let actor = 0; actor < this.#netAt; actor += 1) {
      const own = state[actor] as number;
      this.#turn += 1;
      for (const move of catalogue.ownMoves(own)) this.#make(state, actor, move, visit);
      for (const packet of net) {
        for (const move of catalogue.hearMoves(own, packet)) this.#make(state, actor, move, visit);
      }
      if (bounds.hasFence) this.#act(state, actor, visit);
    }
    if (bounds.hasLoss) this.#lose(state, visit);
  }

  /** Puts in the place of a state the one that stands for all that differ from it in names alone. */
  reduce(state: Int32Array): void {
    this.#symmetry.reduce(state);
  }

  /** For how many states it stands. */
  weight(state: Int32Array): number {
    return this.#symmetry.weight(state);
  }

  voter(state: Int32Array, actor: number): VoterState {
    return this.catalogue.states.value(state[actor] as number);
  }

  voters(state: Int32Array): VoterState[] {
    const actors = Array.from({ length: this.#netAt }, (_, actor) => actor);
    return actors.map((actor) => this.voter(state, actor));
  }

  packets(state: Int32Array): Packet[] {
    const net = this.nets.row(state[this.#netAt] as number);
    return net.map((packet) => this.catalogue.packets.value(packet));
  }

  history(state: Int32Array): History {
    return this.histories.value(state[this.#historyAt] as number);
  }

  #make(state: Int32Array, actor: number, move: Move, visit: Visit): void {
    if (this.#isMade(move.number)) return;
    this.#next.set(state);
    this.#next[actor] = move.state;
    this.#deliver(state, move.sent);
    const isWatched = this.#watched.has('disk');
    const breach = this.#win(state, actor, move.won) ?? (isWatched ? move.breach : null);
    visit(this.#next, actor, move.input, breach);
  }

  /** Whether the actor has made this move in this turn, after another input. */
  #isMade(move: number): boolean {
    if (move >= this.#madeAt.length) {
      const longer = new Int32Array(2 * this.catalogue.moveCount);
      longer.set(this.#madeAt);
      this.#madeAt = longer;
    }
    if (this.#madeAt[move] === this.#turn) return true;
    this.#madeAt[move] = this.#turn;
    return false;
  }

  /** What is under way in the next state: all that was, and what is sent, if it matters to anybody. */
  #deliver(state: Int32Array, sent: readonly number[]): void {
    const before = this.nets.row(state[this.#netAt] as number);
    const after = this.#net;
    const a = this.#relevance(0);
    const b = this.#relevance(1);
    const c = this.#relevance(2);
    const d = this.#relevance(3);
    after.length = 0;
    for (const packet of before) {
      if (a[packet] || b[packet] || c[packet] || d[packet]) after.push(packet);
    }
    let isSame = after.length === before.length;
    for (const packet of sent) {
      const isRelevant = a[packet] || b[packet] || c[packet] || d[packet];
      if (isRelevant && insert(after, packet)) isSame = false;
    }
    if (!isSame) this.#next[this.#netAt] = this.nets.number(after);
  }

  /** What matters to a voter in the next state; behind the last, to one that will have lost all. */
  #relevance(voter: number): Uint8Array {
    if (voter < this.#netAt) return this.catalogue.relevance(this.#next[voter] as number);
    const isAhead = this.bounds.hasLoss && !this.history(this.#next).hasLost;
    return isAhead ? this.catalogue.relevance(this.#blank) : NOTHING;
  }

  #win(state: Int32Array, actor: number, epoch: number): string | null {
    if (epoch === 0) return null;
    const before = state[this.#historyAt] as number;
    const { history, breach } = this.histories.win(before, epoch, this.voter(state, actor).ballot);
    this.#next[this.#historyAt] = history;
    return this.#watched.has('wins') ? breach : null;
  }

  #act(state: Int32Array, actor: number, visit: Visit): void {
    const { ballot } = this.voter(state, actor);
    if (ballot.role !== 'leader') return;
    const { history, breach } = this.histories.act(state[this.#historyAt] as number, ballot);
    this.#next.set(state);
    this.#next[this.#historyAt] = history;
    visit(this.#next, actor, ACTS, this.#watched.has('fence') ? breach : null);
  }

  #lose(state: Int32Array, visit: Visit): void {
    if (this.history(state).hasLost) return;
    const actor = this.#netAt - 1;
    this.#next.set(state);
    this.#next[actor] = this.#blank;
    this.#next[this.#historyAt] = this.histories.lose(state[this.#historyAt] as number);
    const { id, storageId } = this.voter(this.#next, actor).ballot.self;
    const news = this.catalogue.packet({ type: 'introduce', voter: { id, storageId } });
    this.#deliver(state, [news]);
    visit(this.#next, actor, LOSES, null);
  }

  /** All have stored the first config, and nobody has voted yet. */
  #found(voters: readonly Voter[]): Int32Array {
    const config: VoterConfig = { epoch: 0, version: 1, voters };
    const states = voters.map(({ id, storageId }) => {
      const record = { ...blankRecord(storageId), group: GROUP, config };
      const ballot = startBallot(id, instanceOf(storageId), record);
      return this.catalogue.state({ ballot, disk: null });
    });
    const net = this.nets.number([this.catalogue.packet({ type: 'config', config })]);
    return Int32Array.of(...states, net, this.histories.initial);
  }

  /** Who may lose its storage is not like the others, and keeps its name. */
  #symmetryOf(voters: readonly Voter[]): Symmetry {
    const ids = voters.map(({ id }) => id);
    const { catalogue, histories, nets } = this;
    const { states, packets } = catalogue;
    return new Symmetry(this.bounds.voters, renamingsOf(ids, Number(this.bounds.hasLoss)), {
      state: (number, renaming) => catalogue.state(renaming.renamed(states.value(number))),
      packet: (number, renaming) => catalogue.packet(renaming.renamed(packets.value(number))),
      net: (number, packet) => nets.number([...nets.row(number)].map(packet).sort((a, b) => a - b)),
      history: (number, renaming) => histories.number(renaming.renamed(histories.value(number))),
    });
  }
}

/** A voter that has lost what it had stored is another one (Q2). */
function blankState(id: string): VoterState {
  const storageId = `${id}2`;
  const ballot = startBallot(id, instanceOf(storageId), blankRecord(storageId));
  return { ballot, disk: null };
}

function instanceOf(storageId: string): string {
  return `${storageId}-1`;
}

/** Into a row in order; whether it was not there. */
function insert(row: number[], value: number): boolean {
  let at = row.length;
  while (at > 0 && (row[at - 1] as number) > value) at -= 1;
  if (at > 0 && row[at - 1] === value) return false;
  row.splice(at, 0, value);
  return true;
}

const NOTHING = new Uint8Array();
const NAMES = ['A', 'B', 'C', 'D'];
