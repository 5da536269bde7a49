import { EPOCH_MAX } from '../machine/claim.ts';
import { DoyenError } from '../runtime/error.ts';
import { isText, shown } from '../runtime/options.ts';

/** What a fence checks: which term of which cluster an effect belongs to. */
export interface Token {
  readonly cluster: string;
  /** Integer from 1; what makes one token newer than another. */
  readonly epoch: number;
  /** Instance of the leader, so that two nodes of one id are told apart. */
  readonly holder: string;
}

/**
 * A copy of what is a token, whatever its type says: tokens come from callers and from the network.
 * @throws DoyenError `bad-token`, and nothing changed.
 */
export function checkToken(token: Token): Token {
  const { cluster, epoch, holder } = (token ?? {}) as Partial<Token>;
  if (!isEpoch(epoch)) throw badToken(`epoch must be an integer, 1 to ${EPOCH_MAX}`, epoch);
  if (!isName(cluster)) throw badToken(`cluster must be ${NAME}`, cluster);
  if (!isName(holder)) throw badToken(`holder must be ${NAME}`, holder);
  return { cluster, epoch, holder };
}

function isEpoch(epoch: unknown): epoch is number {
  return Number.isSafeInteger(epoch) && (epoch as number) >= 1 && (epoch as number) <= EPOCH_MAX;
}

function isName(name: unknown): name is string {
  return typeof name === 'string' && isText(name);
}

function badToken(expectation: string, value: unknown): DoyenError {
  return new DoyenError('bad-token', `token: ${expectation}, got ${shown(value)}; nothing changed`);
}

const NAME = '1 to 128 bytes of UTF-8 without control characters';
