import { shown } from './runtime/options.ts';

/**
 * What an option is: its `typeof`, or another word where no type makes it half right; and what is
 * expected, in the words of an error.
 */
export type Rule = readonly [type: string, expectation: string, isMet: (value: unknown) => boolean];

/** All options of a function. */
export type Rules<Options> = { readonly [Name in keyof Required<Options>]: Rule };

/**
 * Checks the options of a function, all of which may be left out. Unknown ones are refused: one that
 * is misspelt would be left out in silence.
 *
 * @throws TypeError, or RangeError for a value of the right type, that names the option, what was
 * expected and what came.
 */
export function checkOptions<Options>(rules: Rules<Options>, given: unknown): void {
  if (typeof given !== 'object' || given === null)
    throw new TypeError(`options must be an object, got ${shown(given)}`);
  for (const name of Object.keys(given))
    if (!Object.hasOwn(rules, name)) throw new TypeError(`${name} is no option`);
  checkGiven(rules, given);
}

/** Checks some of the options of a function; throws as `checkOptions` does. */
export function checkGiven<Options>(rules: Rules<Options>, given: object): void {
  for (const [name, rule] of Object.entries<Rule>(rules)) {
    const value: unknown = Reflect.get(given, name);
    if (value !== undefined) checkValue(name, value, rule);
  }
}

/** Checks one argument; throws as `checkOptions` does. */
export function checkValue(name: string, value: unknown, rule: Rule): void {
  const [type, expectation, isMet] = rule;
  if (isMet(value)) return;
  const ErrorClass = typeof value === type ? RangeError : TypeError;
  throw new ErrorClass(`${name} must be ${expectation}, got ${shown(value)}`);
}

const isFunction = (value: unknown): boolean => typeof value === 'function';

export function hasMethods(value: unknown, ...names: readonly string[]): boolean {
  return names.every((name) => isFunction(Object(value)[name]));
}

/** An object with these methods: whoever made it, it serves. */
export function withMethods(...names: readonly string[]): Rule {
  const has = (value: unknown) => hasMethods(value, ...names);
  return ['object with them', `an object with ${names.join(', ')}`, has];
}

export const SIGNAL: Rule = /* @__PURE__ */ withMethods('addEventListener', 'throwIfAborted');
export const FUNCTION: Rule = ['function', 'a function', isFunction];
export const BOOLEAN: Rule = ['boolean', 'true or false', (value) => typeof value === 'boolean'];
export const TEXT: Rule = ['string', 'a string', (value) => typeof value === 'string'];
export const DURATION: Rule = [
  'number',
  '0 or more milliseconds',
  (value) => typeof value === 'number' && value >= 0,
];
