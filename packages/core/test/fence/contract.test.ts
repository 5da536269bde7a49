import { describe, expect, it } from 'vitest';
import {
  type Fence,
  FencedError,
  type FenceRefusal,
  judge,
  type Token,
} from '../../src/fence/index.ts';
import {
  type FenceBench,
  type FenceClient,
  fenceContract,
} from '../../src/testing/fence-contract.ts';

/** A resource on which everything can be done wrong that a fence must do right. */
class LaxResource implements FenceBench {
  #texts: string[] = [];
  #mark: Token | null = null;
  readonly #wrong: Partial<Record<Mistake, true>>;

  constructor(...mistakes: readonly Mistake[]) {
    this.#wrong = Object.fromEntries(mistakes.map((mistake) => [mistake, true]));
  }

  client(): FenceClient {
    const fence: Fence = {
      open: async (token) => this.#admit(token, !this.#wrong['open raises nothing']),
      admit: async () => undefined,
      high: async () => this.#mark?.epoch ?? 0,
    };
    return { fence, append: (token, text) => this.#append(token, text) };
  }

  async effects(): Promise<readonly string[]> {
    return this.#texts;
  }

  async restart(): Promise<void> {
    if (this.#wrong['forgets its mark']) this.#mark = null;
    if (this.#wrong['loses effects']) this.#texts = [];
  }

  async #append(token: Token, text: string): Promise<void> {
    if (this.#wrong['effect before the verdict']) this.#texts.push(text);
    this.#admit(token, true);
    if (this.#wrong['time between verdict and effect']) {
      // Later effects overtake earlier ones.
      for (let turns = 12 - (token.epoch % 11); turns > 0; turns -= 1) await null;
    }
    if (!this.#wrong['effect before the verdict']) this.#texts.push(text);
  }

  #admit(token: Token, raises: boolean): void {
    const verdict = this.#verdict(token);
    if (verdict !== 'admitted') throw this.#refusal(token, verdict);
    if (raises) this.#mark = token;
  }

  #verdict(token: Token) {
    const verdict = this.#wrong['any token'] ? lax(this.#mark, token) : judge(this.#mark, token);
    if (verdict === 'conflict' && this.#wrong['compares only epochs']) return 'admitted';
    if (verdict === 'foreign' && this.#wrong['takes any cluster']) return 'admitted';
    if (verdict === 'stale' && this.#wrong['takes old epochs']) return 'admitted';
    return verdict;
  }

  #refusal(token: Token, verdict: FenceRefusal): FencedError {
    const high = this.#wrong['tells no mark'] ? 0 : (this.#mark?.epoch ?? 0);
    return new FencedError(token, { verdict, high });
  }
}

function lax(mark: Token | null, token: Token) {
  return (token?.epoch ?? 0) >= (mark?.epoch ?? 0) ? 'admitted' : 'stale';
}

const MISTAKES = [
  'any token',
  'compares only epochs',
  'effect before the verdict',
  'forgets its mark',
  'loses effects',
  'open raises nothing',
  'takes any cluster',
  'takes old epochs',
  'tells no mark',
  'time between verdict and effect',
] as const;
type Mistake = (typeof MISTAKES)[number];

/** Titles of the contract's tests that a resource fails. */
async function failures(setup: () => FenceBench): Promise<string[]> {
  const tests: [title: string, body: () => Promise<void>][] = [];
  const suite = {
    describe: (_title: string, body: () => void) => body(),
    it: (title: string, body: () => Promise<void>) => void tests.push([title, body]),
  };
  fenceContract({ suite, setup });
  const failed: string[] = [];
  for (const [title, body] of tests) await body().catch(() => failed.push(title));
  return failed;
}

describe('fenceContract', () => {
  it('X3: passes a resource without mistakes', async () => {
    expect(await failures(() => new LaxResource())).toEqual([]);
  });

  it.each(MISTAKES)('X3: finds the mistake: %s', async (mistake) => {
    expect(await failures(() => new LaxResource(mistake))).not.toEqual([]);
  });

  it('asks for a way to restart what is durable', async () => {
    const setup = () => Object.assign(new LaxResource(), { restart: undefined });
    expect((await failures(setup as () => FenceBench)).length).toBeGreaterThan(0);
  });
});
