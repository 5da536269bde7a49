import { checkValue, FUNCTION } from '../option-check.ts';
import { DoyenError } from '../runtime/error.ts';
import { isText, shown } from '../runtime/options.ts';
import { FencedError } from './fenced-error.ts';
import { checkToken, type Token } from './token.ts';
import { verdictOn } from './verdict.ts';

/** What fences of every kind may be told. */
export interface FenceOptions {
  /**
   * Name of the only cluster that is admitted.
   * @defaultValue that of the first token that comes
   */
  readonly cluster?: string;
}

/**
 * The mark that admitting a checked token leaves.
 * @throws FencedError when the verdict is another.
 */
export function raised({
  mark,
  token,
  cluster = token.cluster,
}: {
  readonly mark: Token | null;
  readonly token: Token;
  readonly cluster: string | undefined;
}): Token {
  const verdict = token.cluster === cluster ? verdictOn(token, mark) : 'foreign';
  if (verdict === 'admitted') return token;
  throw new FencedError(token, { verdict, high: mark?.epoch ?? 0 });
}

/**
 * A mark as a resource has kept it.
 * @throws DoyenError `storage-corrupt` when it is none: nothing is guessed, nothing overwritten.
 */
export function storedMark(value: unknown): Token {
  try {
    return checkToken(value as Token);
  } catch (cause) {
    throw new DoyenError('storage-corrupt', 'what a fence has stored is no mark; nothing changed', {
      cause,
    });
  }
}

/** @throws TypeError or RangeError when there are no options, or `cluster` is no name. */
export function checkCluster(options: FenceOptions): void {
  if (typeof options !== 'object' || options === null)
    throw new TypeError(`options must be an object, got ${shown(options)}`);
  if (options.cluster !== undefined) checkName('cluster', options.cluster);
}

/** What is no effect must not raise the mark. @throws TypeError */
export function checkEffect(effect: unknown): void {
  checkValue('effect', effect, FUNCTION);
}

/** @throws TypeError or RangeError that names the option. */
export function checkName(option: string, name: unknown): void {
  if (typeof name !== 'string')
    throw new TypeError(`${option} must be a string, got ${shown(name)}`);
  if (isText(name)) return;
  throw new RangeError(
    `${option} must be 1 to 128 bytes of UTF-8 without control characters, got ${shown(name)}`,
  );
}
