import { checkToken, type Token } from './token.ts';

/** Why a fence refuses a token. */
export type FenceRefusal = 'stale' | 'conflict' | 'foreign';

/** `admitted`, or why not (X1). */
export type FenceVerdict = 'admitted' | FenceRefusal;

/**
 * What every fence decides by: a token against its mark, the newest token that it has admitted, or
 * `null` before the first. A fence stores an admitted token as its mark in the step in which it lets
 * the effect happen.
 * @throws DoyenError `bad-token` when the token is none.
 */
export function judge(mark: Token | null, token: Token): FenceVerdict {
  return verdictOn(checkToken(token), mark);
}

/** The same for a token that has been checked. */
export function verdictOn(token: Token, mark: Token | null): FenceVerdict {
  if (mark === null) return 'admitted';
  if (token.cluster !== mark.cluster) return 'foreign';
  if (token.epoch > mark.epoch) return 'admitted';
  if (token.epoch !== mark.epoch) return 'stale';
  return token.holder === mark.holder ? 'admitted' : 'conflict';
}
