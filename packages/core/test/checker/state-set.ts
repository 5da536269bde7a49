import { mix } from './number-sets.ts';

/** States of the world in the order in which they were found, each with the one that led to it. */
export class StateSet {
  readonly #width: number;
  /** Each holds the rows of so many states: a state, and behind it its parent. */
  readonly #blocks: Int32Array[] = [];
  #table = new Int32Array(1 << 16).fill(EMPTY);
  #size = 0;

  constructor(width: number) {
    this.#width = width;
  }

  get size(): number {
    return this.#size;
  }

  /** Whether it is new. */
  add(state: Int32Array, parent: number): boolean {
    if (this.#size * 3 > this.#table.length * 2) this.#growTable();
    const mask = this.#table.length - 1;
    let at = this.#hash(state, 0) & mask;
    for (;;) {
      const known = this.#table[at] as number;
      if (known === EMPTY) break;
      if (this.#isAt(known, state)) return false;
      at = (at + 1) & mask;
    }
    this.#table[at] = this.#size;
    this.#append(state, parent);
    return true;
  }

  /** Copies a state. */
  read(number: number, into: Int32Array): void {
    const block = this.#blocks[Math.floor(number / BLOCK)] as Int32Array;
    const start = (number % BLOCK) * (this.#width + 1);
    for (let index = 0; index < this.#width; index += 1) {
      into[index] = block[start + index] as number;
    }
  }

  /** Number of the state from which this one was found; -1 for the first. */
  parent(number: number): number {
    const block = this.#blocks[Math.floor(number / BLOCK)] as Int32Array;
    return block[(number % BLOCK) * (this.#width + 1) + this.#width] as number;
  }

  #append(state: Int32Array, parent: number): void {
    const slot = this.#size % BLOCK;
    if (slot === 0) this.#blocks.push(new Int32Array(BLOCK * (this.#width + 1)));
    const block = this.#blocks[this.#blocks.length - 1] as Int32Array;
    const start = slot * (this.#width + 1);
    block.set(state, start);
    block[start + this.#width] = parent;
    this.#size += 1;
  }

  #isAt(number: number, state: Int32Array): boolean {
    const block = this.#blocks[Math.floor(number / BLOCK)] as Int32Array;
    const start = (number % BLOCK) * (this.#width + 1);
    for (let index = 0; index < this.#width; index += 1) {
      if (block[start + index] !== state[index]) return false;
    }
    return true;
  }

  #hash(row: Int32Array, start: number): number {
    let hash = 0;
    for (let index = 0; index < this.#width; index += 1) {
      hash = mix(hash, row[start + index] as number);
    }
    return mix(hash, this.#width) >>> 0;
  }

  #growTable(): void {
    const table = new Int32Array(this.#table.length * 2).fill(EMPTY);
    const mask = table.length - 1;
    for (let number = 0; number < this.#size; number += 1) {
      const block = this.#blocks[Math.floor(number / BLOCK)] as Int32Array;
      let at = this.#hash(block, (number % BLOCK) * (this.#width + 1)) & mask;
      while (table[at] !== EMPTY) at = (at + 1) & mask;
      table[at] = number;
    }
    this.#table = table;
  }
}

const EMPTY = -1;
/** States a block: large enough to be few, small enough that the last one wastes little. */
const BLOCK = 1 << 16;
