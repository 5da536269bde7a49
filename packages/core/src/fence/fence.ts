import type { Token } from './token.ts';

/**
 * The guard at a resource: lets only the newest leader act on it (X1). What an effect is depends on
 * the resource; every fence lets it happen in the same atomic step in which it checks the token and
 * raises its mark.
 */
export interface Fence<Effect = never, Result = unknown> {
  /**
   * Shuts out every older token, before the first effect of this one: call it when a term begins.
   * Again with the same token it changes nothing.
   * @throws FencedError when the token is refused; DoyenError `bad-token`. Nothing changed then.
   */
  open(token: Token): Promise<void>;

  /**
   * Lets `effect` happen, unless the token is refused. As often as it is called: a retry with the
   * newest token is admitted again. Gives what the effect gives.
   * @throws FencedError when the token is refused; DoyenError `bad-token`. Nothing changed then.
   */
  admit(token: Token, effect: Effect): Promise<Result>;

  /** The highest epoch admitted, 0 before the first. It never falls, also across restarts. */
  high(): Promise<number>;
}

/** A fence whose effects are functions; it calls them in the step that has checked the token. */
export interface FunctionFence<Scope = void> extends Fence<(scope: Scope) => unknown> {
  /**
   * Calls `effect`, unless the token is refused. What it throws, this rejects with.
   * @throws FencedError when the token is refused; DoyenError `bad-token`. Nothing changed then.
   */
  admit<Result>(
    token: Token,
    effect: (scope: Scope) => Result | PromiseLike<Result>,
  ): Promise<Result>;
}

/**
 * For the option `floor` of `join()`: the highest epoch that any of these fences has admitted, so
 * that a cluster that starts anew is not stale to its own resources.
 */
export function floorOf(...fences: readonly Pick<Fence, 'high'>[]): () => Promise<number> {
  return async () => Math.max(0, ...(await Promise.all(fences.map((fence) => fence.high()))));
}
