/** What is expected of an option, in the words that an error says it with. */
export type Rule = readonly [expectation: string, isMet: (value: unknown) => boolean];

/** All options of a function. */
export type Rules<Options> = { readonly [Name in keyof Required<Options>]: Rule };

export const isFunction = (value: unknown): boolean => typeof value === 'function';
export const isText = (value: unknown): value is string => typeof value === 'string';

/**
 * Checks the options of a function or the argument `name` that holds them. Unknown ones are refused:
 * one that is misspelt would be left out in silence, and what it was to forbid be allowed.
 *
 * @throws TypeError, or RangeError for a number, that names the option, what was expected and what
 * came.
 */
export function checkOptions<Options>(
  name: string,
  rules: Rules<Options>,
  given: unknown,
  required: readonly (keyof Options)[] = [],
): void {
  if (typeof given !== 'object' || given === null)
    throw new TypeError(`${name}: expected an object, got ${shown(given)}`);
  for (const key of Object.keys(given))
    if (!Object.hasOwn(rules, key)) throw new TypeError(`${key}: no such option`);
  for (const [key, [expectation, isMet]] of Object.entries<Rule>(rules)) {
    const value = (given as Record<string, unknown>)[key];
    const isLeftOut = value === undefined && !required.includes(key as keyof Options);
    if (isLeftOut || isMet(value)) continue;
    const ErrorClass = typeof value === 'number' ? RangeError : TypeError;
    throw new ErrorClass(`${key}: expected ${expectation}, got ${shown(value)}`);
  }
}

/** A value for an error message: short, and never throws. */
export function shown(value: unknown): string {
  if (typeof value === 'function') return 'a function';
  if (typeof value !== 'object' || value === null) return String(value).slice(0, 64);
  return Array.isArray(value) ? 'a list' : 'an object';
}
