import type { Fence } from '../fence/fence.ts';
import { FencedError } from '../fence/fenced-error.ts';
import type { Token } from '../fence/token.ts';
import type { FenceRefusal } from '../fence/verdict.ts';
import { withResolvers } from '../runtime/promise.ts';
import { type ContractSuite, check, equal, globalSuite } from './contract-suite.ts';

/** What `fenceContract` needs to know of a fence. */
export interface FenceContractOptions<B extends FenceBench> {
  /**
   * The functions of the test runner, as for `transportContract`.
   * @defaultValue the global `describe` and `it`
   */
  readonly suite?: ContractSuite;
  /** Called before each test: a fresh resource on which nobody has acted. */
  setup(): B | Promise<B>;
  /** Called after each test. */
  teardown?(bench: B): void | Promise<void>;
  readonly capabilities?: FenceCapabilities;
}

/** The one resource of a test: a list of texts, to which every effect appends one. */
export interface FenceBench {
  /** A client of the resource, as another process would have it, or else the same one again. */
  client(): FenceClient | Promise<FenceClient>;
  /** The texts in the resource, oldest first. */
  effects(): Promise<readonly string[]>;
  /** Ends whatever keeps the resource, as hard as it can, and starts it anew with all it has kept. */
  restart?(): Promise<void>;
}

/** A fence under test, and the effects that its kind admits. */
export interface FenceClient {
  readonly fence: Fence;
  /** Admits an effect that appends `text`. */
  append(token: Token, text: string): Promise<unknown>;
  /** Admits an effect that appends `text` and then fails, if there is such a thing. */
  appendAndFail?(token: Token, text: string): Promise<unknown>;
}

/** What may differ between fences. */
export interface FenceCapabilities {
  /** How long a test may take, in milliseconds. @defaultValue 20000 */
  readonly timeoutMs?: number;
  /**
   * Whether marks outlive a restart; then a bench must have `restart()`. What does not outlive its
   * resource needs no more. @defaultValue true
   */
  readonly isDurable?: boolean;
}

/**
 * Registers the tests that every fence must pass, those of your own included. Needs no particular
 * test runner; each test makes its own bench.
 */
export function fenceContract<B extends FenceBench>(options: FenceContractOptions<B>): void {
  const { describe, it } = options.suite ?? globalSuite('fenceContract');
  const { timeoutMs = 20_000, isDurable = true } = options.capabilities ?? {};
  const rule = (title: string, body: (bench: B) => Promise<void>) => {
    it(title, () => onBench(options, body), timeoutMs);
  };
  describe('fence contract', () => {
    orderTests(rule);
    openTests(rule);
    contentionTests(rule);
    atomicityTests(rule);
    tokenTests(rule);
    if (isDurable) restartTests(rule);
  });
}

type Test = (title: string, body: (bench: FenceBench) => Promise<void>) => void;

function orderTests(it: Test): void {
  it('X1: before the first token the mark is 0, then it is the highest epoch admitted', async (bench) => {
    const client = await bench.client();
    equal(await client.fence.high(), 0, 'mark at first');
    for (const epoch of [3, 3, 9]) {
      await client.append(token(epoch), `${epoch}`);
      equal(await client.fence.high(), epoch, 'mark');
    }
    await happened(bench, '3', '3', '9');
  });

  it('X1: a lower epoch is stale, is told the mark, and changes nothing', async (bench) => {
    const [older, newer] = [await bench.client(), await bench.client()];
    await older.append(token(33), '33');
    await newer.append(token(34, 'y'), '34');
    await refused(older.append(token(33), 'late'), 'stale', 34);
    await refused(older.append(token(1, 'y'), 'very late'), 'stale', 34);
    equal(await older.fence.high(), 34, 'mark');
    await happened(bench, '33', '34');
  });

  it('X1: the newest holder may try again, however often', async (bench) => {
    const [one, again] = [await bench.client(), await bench.client()];
    for (const client of [one, one, again]) await client.append(token(34), '34');
    await happened(bench, '34', '34', '34');
  });

  it('X1: another holder of the same epoch is a conflict, and changes nothing', async (bench) => {
    const [one, two] = [await bench.client(), await bench.client()];
    await one.append(token(5), 'x');
    await refused(two.append(token(5, 'y'), 'y'), 'conflict', 5);
    await refused(two.fence.open(token(5, 'y')), 'conflict', 5);
    await one.append(token(5), 'x');
    await two.append(token(6, 'y'), 'y');
    await happened(bench, 'x', 'x', 'y');
  });

  it('X1: another cluster is foreign, whatever its epoch, and changes nothing', async (bench) => {
    const client = await bench.client();
    await client.append(token(5), '5');
    for (const epoch of [4, 5, 6]) {
      const foreign = { ...token(epoch), cluster: 'another' };
      await refused(client.append(foreign, 'foreign'), 'foreign', 0);
      await refused(client.fence.open(foreign), 'foreign', 0);
    }
    equal(await client.fence.high(), 5, 'mark');
    await happened(bench, '5');
  });
}

function openTests(it: Test): void {
  it('X2: opening shuts out the older token before the first effect of the newer', async (bench) => {
    const [older, newer] = [await bench.client(), await bench.client()];
    await older.fence.open(token(33));
    await older.append(token(33), '33');
    await newer.fence.open(token(34, 'y'));
    equal(await newer.fence.high(), 34, 'mark');
    await refused(older.append(token(33), 'late'), 'stale', 34);
    await newer.append(token(34, 'y'), '34');
    await happened(bench, '33', '34');
  });

  it('X2: opening again changes nothing, opening for an older token is refused', async (bench) => {
    const { fence } = await bench.client();
    for (const epoch of [7, 7]) await fence.open(token(epoch));
    await refused(fence.open(token(6)), 'stale', 7);
    equal(await fence.high(), 7, 'mark');
    await happened(bench);
  });
}

function contentionTests(it: Test): void {
  it('X1: of two holders of one epoch exactly one is ever admitted', async (bench) => {
    const clients = [await bench.client(), await bench.client()];
    for (let epoch = 1; epoch <= ROUNDS; epoch += 1) {
      const attempts = clients.flatMap((client, index) =>
        [0, 1, 2].map(() => client.append(token(epoch, `h${index}`), `${epoch} h${index}`)),
      );
      const outcomes = await Promise.allSettled(attempts);
      const admitted = outcomes.map(({ status }) => status === 'fulfilled').join();
      check(
        admitted === 'true,true,true,false,false,false' ||
          admitted === 'false,false,false,true,true,true',
        `admitted in epoch ${epoch}: ${admitted}`,
      );
    }
    inOrder(await bench.effects(), ROUNDS * 3);
  });

  it('X1: however tokens compete, nothing older happens after something newer', async (bench) => {
    const clients = [await bench.client(), await bench.client(), await bench.client()];
    const acts: Promise<unknown>[] = [];
    for (let index = 0; index < ROUNDS * 5; index += 1) {
      const client = clients[index % 3] as FenceClient;
      // Falls and rises, so that old tokens meet new ones.
      const epoch = 1 + ((index * 7) % 11) + Math.floor(index / 11);
      const holder = `h${index % 2}`;
      acts.push(
        index % 4 === 0
          ? client.fence.open(token(epoch, holder))
          : client.append(token(epoch, holder), `${epoch} ${holder}`),
      );
    }
    const outcomes = await Promise.allSettled(acts);
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected' && !(outcome.reason instanceof FencedError)) {
        throw outcome.reason;
      }
    }
    const appended = outcomes.filter(({ status }, index) => index % 4 && status === 'fulfilled');
    inOrder(await bench.effects(), appended.length);
  });
}

function atomicityTests(it: Test): void {
  it('X1: an effect that fails leaves nothing behind that the mark does not cover', async (bench) => {
    const client = await bench.client();
    await client.append(token(1), '1 x');
    if (!client.appendAndFail) return;
    const outcome = await settled(client.appendAndFail(token(5), '5 x'));
    check(outcome !== undefined && !(outcome instanceof FencedError), 'the effect did not fail');
    await covered(bench, await client.fence.high());
    await client.append(token(6), '6 x');
    check((await bench.effects()).at(-1) === '6 x', 'the fence is stuck after a failed effect');
  });
}

function tokenTests(it: Test): void {
  it('X1: a token that names no term is refused with a code, and changes nothing', async (bench) => {
    const client = await bench.client();
    await client.append(token(5), '5');
    const poisoned: unknown[] = [
      2 ** 53 - 1,
      2 ** 53,
      Infinity,
      Number.NaN,
      -1,
      5.5,
      '6',
      null,
      6n,
    ];
    const malformed = poisoned.map((epoch) => ({ ...token(5), epoch }));
    for (const wrong of [...malformed, { ...token(6), holder: '' }, 'a guid', null]) {
      for (const attempt of [
        client.fence.open(wrong as Token),
        client.append(wrong as Token, 'wrong'),
      ]) {
        const { code } = ((await settled(attempt)) ?? {}) as { readonly code?: string };
        equal(code, 'bad-token', `code for ${String((wrong as Partial<Token> | null)?.epoch)}`);
      }
    }
    equal(await client.fence.high(), 5, 'mark');
    await happened(bench, '5');
  });
}

function restartTests(it: Test): void {
  it('X1: the mark and its holder survive a restart', async (bench) => {
    await (await bench.client()).append(token(34), '34');
    await restart(bench);
    const client = await bench.client();
    equal(await client.fence.high(), 34, 'mark');
    await refused(client.append(token(33), 'late'), 'stale', 34);
    await refused(client.append(token(34, 'y'), 'rival'), 'conflict', 34);
    await client.append(token(34), '34 again');
    await happened(bench, '34', '34 again');
  });

  it('X2: a mark that was only opened survives a restart', async (bench) => {
    await (await bench.client()).fence.open(token(34));
    await restart(bench);
    const client = await bench.client();
    await refused(client.append(token(33), 'late'), 'stale', 34);
    equal(await client.fence.high(), 34, 'mark');
  });

  it('X1: a restart in the middle of effects loses none that was confirmed, and leaves none above the mark', async (bench) => {
    const client = await bench.client();
    const confirmed: string[] = [];
    const { promise: isBusy, resolve } = withResolvers<void>();
    let isOver = false;
    const act = async (first: number) => {
      for (let epoch = first; !isOver; epoch += IN_FLIGHT) {
        await client.append(token(epoch), `${epoch} x`);
        confirmed.push(`${epoch} x`);
        if (epoch > ROUNDS) resolve();
      }
    };
    // Some overtake each other and are stale then; the restart fails the others.
    const acts = Array.from({ length: IN_FLIGHT }, (_, index) => settled(act(index + 1)));
    await Promise.race([isBusy, Promise.all(acts)]);
    await restart(bench).finally(() => {
      isOver = true;
    });
    await Promise.all(acts);
    const { fence } = await bench.client();
    const effects = await bench.effects();
    const lost = confirmed.filter((text) => !effects.includes(text));
    equal(lost.join(), '', 'confirmed effects that were lost');
    await covered(bench, await fence.high());
  });
}

async function onBench<B extends FenceBench>(
  options: FenceContractOptions<B>,
  body: (bench: B) => Promise<void>,
): Promise<void> {
  const bench = await options.setup();
  try {
    await body(bench);
  } finally {
    await options.teardown?.(bench);
  }
}

function token(epoch: number, holder = 'x'): Token {
  return { cluster: 'contract', epoch, holder };
}

async function restart(bench: FenceBench): Promise<void> {
  if (!bench.restart) throw new TypeError('a bench of a durable fence must have restart()');
  return bench.restart();
}

/** What a promise rejected with. */
function settled(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (error: unknown) => error,
  );
}

async function refused(act: Promise<unknown>, verdict: FenceRefusal, high: number): Promise<void> {
  const error = await settled(act);
  if (!(error instanceof FencedError)) throw error ?? new Error(`admitted, not ${verdict}`);
  equal(error.code, 'fenced', 'code');
  equal(error.verdict, verdict, 'verdict');
  equal(error.high, high, 'mark in the error');
}

async function happened(bench: FenceBench, ...expected: readonly string[]): Promise<void> {
  equal((await bench.effects()).join(), expected.join(), 'effects');
}

/** Effects named by epoch and holder: no epoch after a higher one, no two holders of one epoch. */
function inOrder(effects: readonly string[], count: number): void {
  equal(effects.length, count, 'number of effects');
  effects.reduce((before, effect) => {
    const isNext = epochOf(effect) > epochOf(before) || effect === before;
    check(isNext, `${effect} happened after ${before}`);
    return effect;
  });
}

async function covered(bench: FenceBench, high: number): Promise<void> {
  for (const effect of await bench.effects()) {
    check(epochOf(effect) <= high, `effect ${effect} is above the mark, ${high}`);
  }
}

function epochOf(effect: string): number {
  return Number(effect.split(' ')[0]);
}

/** Enough for a race that is lost one time in three to be lost nearly always. */
const ROUNDS = 20;
const IN_FLIGHT = 4;
