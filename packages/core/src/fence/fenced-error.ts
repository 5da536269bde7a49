import { DoyenError } from '../runtime/error.ts';
import type { Token } from './token.ts';
import type { FenceRefusal } from './verdict.ts';

/**
 * A fence has refused a token: its holder leads no more, and nothing changed. `code` is `fenced`.
 */
export class FencedError extends DoyenError {
  static {
    FencedError.prototype.name = 'FencedError';
  }

  /** `stale`: an older epoch; `conflict`: another holder of this one; `foreign`: another cluster. */
  readonly verdict: FenceRefusal;
  /** Epoch of the fence's mark. 0 when `foreign`: epochs of different clusters compare to nothing. */
  readonly high: number;

  constructor(
    token: Token,
    { verdict, high }: { readonly verdict: FenceRefusal; readonly high: number },
  ) {
    super('fenced', `${MEANING[verdict](token, high)}; nothing changed`);
    this.verdict = verdict;
    this.high = verdict === 'foreign' ? 0 : high;
  }
}

const MEANING: Readonly<Record<FenceRefusal, (token: Token, high: number) => string>> = {
  stale: ({ epoch }, high) => `epoch ${epoch} is over: the fence has admitted epoch ${high}`,
  conflict: ({ epoch }) => `another holder of epoch ${epoch} came first`,
  foreign: ({ cluster }) => `the fence is not of cluster ${JSON.stringify(cluster)}`,
};
