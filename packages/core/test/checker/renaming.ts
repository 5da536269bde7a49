/** Exchanges the names of voters in whatever is built of them. */
export class Renaming {
  /** By voter: who bears its name afterwards. */
  readonly bearers: readonly number[];
  readonly #names: ReadonlyMap<string, string>;

  /** `order`: by voter, whose name it gets. */
  constructor(ids: readonly string[], order: readonly number[]) {
    this.bearers = ids.map((_id, voter) => order.indexOf(voter));
    this.#names = new Map(ids.map((id, voter) => [id, ids[order[voter] as number] as string]));
  }

  renamed<Value>(value: Value): Value {
    return this.#rename(value) as Value;
  }

  #rename(value: unknown): unknown {
    if (typeof value === 'string') return this.#renameText(value);
    if (value === null || typeof value !== 'object') return value;
    // Voters stand in the order of their ids, wherever they are listed.
    if (Array.isArray(value)) return value.map((part) => this.#rename(part)).sort(compareIds);
    const parts = Object.entries(value).map(([key, part]) => [key, this.#rename(part)]);
    return Object.fromEntries(parts);
  }

  /** The names of storages and instances begin with the id; nothing else begins so. */
  #renameText(text: string): string {
    return (this.#names.get(text.charAt(0)) ?? text.charAt(0)) + text.slice(1);
  }
}

/** Every way to exchange the names of all but the last `fixed` of them, but for the idle one. */
export function renamingsOf(ids: readonly string[], fixed: number): Renaming[] {
  const free = ids.length - fixed;
  const last = ids.map((_id, voter) => voter).slice(free);
  return orders(free)
    .map((order) => new Renaming(ids, [...order, ...last]))
    .slice(1);
}

/** Every order of so many numbers, the natural one first. */
function orders(count: number): number[][] {
  if (count === 0) return [[]];
  const shorter = orders(count - 1);
  const places = Array.from({ length: count }, (_, index) => count - 1 - index);
  return places.flatMap((at) => shorter.map((order) => order.toSpliced(at, 0, count - 1)));
}

/** What is no voter stays where it is. */
function compareIds(a: unknown, b: unknown): number {
  const [{ id: one }, { id: other }] = [a ?? {}, b ?? {}] as [{ id?: string }, { id?: string }];
  if (one === undefined || other === undefined || one === other) return 0;
  return one < other ? -1 : 1;
}
