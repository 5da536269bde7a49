import type { Renaming } from './renaming.ts';

/** How each part of a state of the world looks under other names; numbers go in, numbers come out. */
export interface Renamed {
  state(number: number, renaming: Renaming): number;
  packet(number: number, renaming: Renaming): number;
  net(number: number, packet: (number: number) => number): number;
  history(number: number, renaming: Renaming): number;
}

/**
 * States that differ in the names of voters alone are one. Ballots ask whether names are equal, and
 * put voters in order for a fixed form only; all founders begin alike. So whatever can happen can
 * happen with the names exchanged, and the least of these states may stand for all of them.
 */
export class Symmetry {
  readonly #voters: number;
  readonly #views: readonly View[];
  readonly #best: Int32Array;

  constructor(voters: number, renamings: readonly Renaming[], renamed: Renamed) {
    this.#voters = voters;
    this.#views = renamings.map((renaming) => new View(renaming, renamed));
    this.#best = new Int32Array(voters + 2);
  }

  /** Puts the least in the place of a state. */
  reduce(state: Int32Array): void {
    const best = this.#best;
    best.set(state);
    for (const view of this.#views) if (this.#isLess(view, state)) this.#take(view, state);
    state.set(best);
  }

  /** How many states there are that differ from it in names alone, itself included. */
  weight(state: Int32Array): number {
    let idle = 1;
    for (const view of this.#views) if (this.#isSame(view, state)) idle += 1;
    return (this.#views.length + 1) / idle;
  }

  #isSame(view: View, state: Int32Array): boolean {
    for (let voter = 0; voter < this.#voters; voter += 1) {
      if (view.voter(state, voter) !== state[voter]) return false;
    }
    const [net, history] = state.subarray(this.#voters);
    return view.net(net as number) === net && view.history(history as number) === history;
  }

  #isLess(view: View, state: Int32Array): boolean {
    for (let voter = 0; voter < this.#voters; voter += 1) {
      const part = view.voter(state, voter);
      if (part !== this.#best[voter]) return part < (this.#best[voter] as number);
    }
    const net = view.net(state[this.#voters] as number);
    if (net !== this.#best[this.#voters]) return net < (this.#best[this.#voters] as number);
    const history = view.history(state[this.#voters + 1] as number);
    return history < (this.#best[this.#voters + 1] as number);
  }

  #take(view: View, state: Int32Array): void {
    for (let voter = 0; voter < this.#voters; voter += 1) {
      this.#best[voter] = view.voter(state, voter);
    }
    this.#best[this.#voters] = view.net(state[this.#voters] as number);
    this.#best[this.#voters + 1] = view.history(state[this.#voters + 1] as number);
  }
}

/** The world under other names, as far as it has been looked at. */
class View {
  readonly #bearers: readonly number[];
  readonly #state: (number: number) => number;
  readonly net: (number: number) => number;
  readonly history: (number: number) => number;

  constructor(renaming: Renaming, renamed: Renamed) {
    const packet = remembered((number) => renamed.packet(number, renaming));
    this.#bearers = renaming.bearers;
    this.#state = remembered((number) => renamed.state(number, renaming));
    this.net = remembered((number) => renamed.net(number, packet));
    this.history = remembered((number) => renamed.history(number, renaming));
  }

  voter(state: Int32Array, voter: number): number {
    return this.#state(state[this.#bearers[voter] as number] as number);
  }
}

/** A function of small numbers that is asked again and again. */
function remembered(compute: (number: number) => number): (number: number) => number {
  const known: number[] = [];
  return (number) => {
    while (known.length <= number) known.push(UNKNOWN);
    if (known[number] === UNKNOWN) known[number] = compute(number);
    return known[number] as number;
  };
}

const UNKNOWN = -1;
