/** Gives equal values one small number, so that states of the world are short rows of numbers. */
export class Interner<Value> {
  readonly #values: Value[] = [];
  readonly #numbers = new Map<string, number>();

  get size(): number {
    return this.#values.length;
  }

  number(value: Value): number {
    const key = canonical(value);
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    this.#numbers.set(key, this.#values.length);
    this.#values.push(value);
    return this.#values.length - 1;
  }

  value(number: number): Value {
    const value = this.#values[number];
    if (value === undefined) throw new RangeError(`no value has the number ${number}`);
    return value;
  }
}

/** JSON whose text does not depend on the order in which properties were set. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) => {
    if (part === null || typeof part !== 'object' || Array.isArray(part)) return part;
    return Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
