/**
 * What an option is: its `typeof`, or another word where no type makes it half right; and what is
 * expected, in the words of an error.
 */
export type Rule = readonly [type: string, expectation: string, isMet: (value: unknown) => boolean];

/** All options of a function. */
export type Rules<Options> = { readonly [Name in keyof Required<Options>]: Rule };

export const isFunction = (value: unknown): boolean => typeof value === 'function';
export const isText = (value: unknown): value is string => typeof value === 'string';

/**
 * Checks the options of a function. Unknown ones are refused: one that is misspelt would be left out
 * in silence, and what it was to forbid be allowed.
 *
 * @throws TypeError, or RangeError for a value of the right type, that names the option, what was
 * expected and what came.
 * @internal Shared with `@doyen/webrtc`.
 */
export function checkOptions<Options>(
  rules: Rules<Options>,
  given: unknown,
  required: readonly (keyof Options)[] = [],
): void {
  if (typeof given !== 'object' || given === null)
    throw new TypeError(`options must be an object, got ${shown(given)}`);
  for (const key of Object.keys(given))
    if (!Object.hasOwn(rules, key)) throw new TypeError(`${key} is no option`);
  for (const [key, [type, expectation, isMet]] of Object.entries<Rule>(rules)) {
    const value = (given as Record<string, unknown>)[key];
    const isLeftOut = value === undefined && !required.includes(key as keyof Options);
    if (isLeftOut || isMet(value)) continue;
    const ErrorClass = typeof value === type ? RangeError : TypeError;
    throw new ErrorClass(`${key} must be ${expectation}, got ${shown(value)}`);
  }
}

/** A value for an error message: short, and never throws. */
export function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 64));
  if (typeof value === 'function') return 'a function';
  if (typeof value !== 'object' || value === null) return String(value);
  return Array.isArray(value) ? 'an array' : 'an object';
}
