import type { FunctionFence } from '../../src/fence/index.ts';
import type { FenceClient } from '../../src/testing/fence-contract.ts';

/** Effects of a fence that calls functions, on a list in this process. */
export function listClient(fence: FunctionFence, texts: Pick<string[], 'push'>): FenceClient {
  return {
    fence,
    append: (token, text) => fence.admit(token, () => texts.push(text)),
    appendAndFail: (token, text) =>
      fence.admit(token, () => {
        texts.push(text);
        throw new Error('failed');
      }),
  };
}
