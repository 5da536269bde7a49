/** The part of a test runner that contracts use. */
export interface ContractSuite {
  describe(title: string, body: () => void): void;
  it(title: string, body: () => Promise<void>, timeoutMs?: number): void;
}

/** The `describe` and `it` that a test runner has put into the global scope. */
export function globalSuite(contract: string): ContractSuite {
  const { describe, it } = globalThis as Partial<ContractSuite>;
  if (describe === undefined || it === undefined) {
    throw new TypeError(
      `${contract}: option suite must be { describe, it } of a test runner; ` +
        'there are no global ones either.',
    );
  }
  return { describe, it };
}

export function check(met: boolean, otherwise: string): void {
  if (!met) throw new Error(otherwise);
}

export function equal<T>(actual: T, expected: T, what: string): void {
  check(Object.is(actual, expected), `${what}: expected ${expected}, got ${actual}`);
}

export function same(one: Uint8Array, two: Uint8Array): boolean {
  return one.length === two.length && one.every((byte, index) => byte === two[index]);
}
