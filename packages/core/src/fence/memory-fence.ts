import type { FunctionFence } from './fence.ts';
import { checkCluster, checkEffect, type FenceOptions, raised } from './mark.ts';
import { Section } from './section.ts';
import { checkToken, type Token } from './token.ts';

/**
 * A fence for what lives no longer than this page or process. Effects run one at a time: an
 * asynchronous one holds the resource until it has settled, so it must not wait for another effect
 * of the same fence.
 */
export function memoryFence(options: FenceOptions = {}): FunctionFence {
  checkCluster(options);
  return new MemoryFence(options);
}

class MemoryFence implements FunctionFence {
  readonly #cluster: string | undefined;
  readonly #section = new Section();
  #mark: Token | null = null;

  constructor({ cluster }: FenceOptions) {
    this.#cluster = cluster;
  }

  async open(token: Token): Promise<void> {
    await this.admit(token, () => undefined);
  }

  async admit<Result>(token: Token, effect: () => Result | PromiseLike<Result>): Promise<Result> {
    const checked = checkToken(token);
    checkEffect(effect);
    return this.#section.run(() => {
      this.#mark = raised({ mark: this.#mark, token: checked, cluster: this.#cluster });
      return effect();
    });
  }

  async high(): Promise<number> {
    return this.#mark?.epoch ?? 0;
  }
}
