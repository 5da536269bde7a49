/** Rows of numbers of any length, each kept once: two equal rows have one number. */
export class NumberSets {
  readonly #rows: number[][] = [];
  #table = new Int32Array(1 << 12).fill(EMPTY);

  get size(): number {
    return this.#rows.length;
  }

  row(number: number): readonly number[] {
    return this.#rows[number] as number[];
  }

  /** Number of a row; it is copied when it is new. */
  number(row: readonly number[]): number {
    let at = hashOf(row) & (this.#table.length - 1);
    for (;;) {
      const known = this.#table[at] as number;
      if (known === EMPTY) break;
      if (isEqual(this.#rows[known] as number[], row)) return known;
      at = (at + 1) & (this.#table.length - 1);
    }
    this.#table[at] = this.#rows.length;
    this.#rows.push([...row]);
    if (this.#rows.length * 2 > this.#table.length) this.#grow();
    return this.#rows.length - 1;
  }

  #grow(): void {
    const table = new Int32Array(this.#table.length * 2).fill(EMPTY);
    for (const [number, row] of this.#rows.entries()) {
      let at = hashOf(row) & (table.length - 1);
      while (table[at] !== EMPTY) at = (at + 1) & (table.length - 1);
      table[at] = number;
    }
    this.#table = table;
  }
}

const EMPTY = -1;

function hashOf(row: readonly number[]): number {
  let hash = row.length;
  for (const value of row) hash = mix(hash, value);
  return hash >>> 0;
}

export function mix(hash: number, value: number): number {
  const mixed = Math.imul(hash ^ value, 0x9e3779b1);
  return mixed ^ (mixed >>> 15);
}

function isEqual(a: readonly number[], b: readonly number[]): boolean {
  if (a.length !== b.length) return false;
  for (let index = 0; index < a.length; index += 1) if (a[index] !== b[index]) return false;
  return true;
}
