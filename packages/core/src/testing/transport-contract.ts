import type { Lane, Transport } from '../transport/transport.ts';
import { type ContractSuite, check, equal, globalSuite, same } from './contract-suite.ts';
import { Recorder } from './recorder.ts';

/** What `transportContract` needs to know of a transport. */
export interface TransportContractOptions<B extends TransportBench> {
  /**
   * The functions of the test runner: `transportContract({ suite: { describe, it }, … })` with
   * those of vitest, node:test, jest or mocha.
   * @defaultValue the global `describe` and `it`
   */
  readonly suite?: ContractSuite;
  /** Called before each test: a fresh place in which transports can meet. */
  setup(): B | Promise<B>;
  /** Called after each test, when all its transports are closed. */
  teardown?(bench: B): void | Promise<void>;
  readonly capabilities: TransportCapabilities;
}

/** Makes the transports of one test, all of which can meet. */
export interface TransportBench {
  /** A new transport, not yet started, for the node `id`. */
  transport(id: string): Transport;
  /** Name of the cluster to start them with. @defaultValue `'contract'` */
  readonly cluster?: string;
}

/** What may differ between transports. */
export interface TransportCapabilities {
  /** Largest message that the transport carries, at least 64 KiB. */
  readonly maxBytes: number;
  /** How long a link may take to come up, or a message to arrive. @defaultValue 5000 */
  readonly timeoutMs?: number;
  /** How long to watch before saying that nothing more comes. @defaultValue 50 */
  readonly quietMs?: number;
}

/**
 * Registers the tests that every transport must pass. Needs no particular test runner; each test
 * makes its own bench.
 */
export function transportContract<B extends TransportBench>(
  options: TransportContractOptions<B>,
): void {
  const { describe, it } = options.suite ?? globalSuite('transportContract');
  const timeoutMs = (options.capabilities.timeoutMs ?? 5_000) * 4;
  const rule = (title: string, body: (stage: Stage) => Promise<void>) => {
    it(title, () => onStage(options, body), timeoutMs);
  };
  describe('transport contract', () => {
    linkTests(rule);
    messageTests(rule);
    sizeTests(rule);
    closeTests(rule);
    abortTests(rule);
  });
}

type Test = (title: string, body: (stage: Stage) => Promise<void>) => void;

function linkTests(it: Test): void {
  it('two transports of one cluster get a link, each told who is behind it if it is told', async (stage) => {
    const [one, two] = await stage.pair();
    for (const [end, otherId] of [
      [one, 'b'],
      [two, 'a'],
    ] as const) {
      const id = end.recorder.of('linkUp')[0]?.id;
      check(id === undefined || id === otherId, `the link names ${id}, not ${otherId}`);
    }
  });

  it('two simultaneous starts give exactly one link', async (stage) => {
    const [one, two] = [stage.start('a'), stage.start('b')];
    await stage.linked(one, two);
    await stage.quiet();
    equal(one.recorder.links.length, 1, 'links of the first');
    equal(two.recorder.links.length, 1, 'links of the second');
  });

  it('discovery is reported to a transport that is alone, and to one that is not', async (stage) => {
    const one = stage.start('a');
    await stage.until(one, 'discovery 0', () => discovered(one));
    equal(one.recorder.links.length, 0, 'links of a lone transport');
    const two = stage.start('b');
    await stage.linked(one, two);
    await stage.until(two, 'discovery 0', () => discovered(two));
  });

  it('a new link to the same node has a new key, and the late close of the old one leaves it up', async (stage) => {
    const [one, two] = await stage.pair();
    const oldKey = stage.onlyLink(one);
    const again = stage.start('b');
    await two.transport.close();
    await stage.until(one, 'the old link down', () => isDown(one, oldKey));
    await stage.linked(one, again);
    await stage.quiet();
    const newKey = stage.onlyLink(one);
    check(newKey !== oldKey, 'the key of the old link was used again');
    const keys = one.recorder.of('linkUp').map(({ peer }) => peer);
    equal(new Set(keys).size, keys.length, 'different keys among the links that came up');
    await stage.delivers(one, again, 'control');
    await stage.delivers(again, one, 'data');
  });
}

function messageTests(it: Test): void {
  it('whole messages arrive in both directions and on both lanes', async (stage) => {
    const [one, two] = await stage.pair();
    for (const lane of ['control', 'data'] as const) {
      await stage.delivers(one, two, lane);
      await stage.delivers(two, one, lane);
    }
  });

  it('an empty message arrives as an empty message or not at all, and does no harm', async (stage) => {
    const [one, two] = await stage.pair();
    one.transport.send(stage.onlyLink(one), new Uint8Array(0), 'control');
    await stage.delivers(one, two, 'control');
  });

  it('order is kept within a lane', async (stage) => {
    const [one, two] = await stage.pair();
    const key = stage.onlyLink(one);
    const sent: Record<Lane, number[]> = { control: [], data: [] };
    for (let index = 0; index < 200; index += 1) {
      const lane: Lane = index % 3 === 0 ? 'data' : 'control';
      // Sizes differ, so that a transport that sends large ones another way is found out.
      const bytes = new Uint8Array(index % 5 === 0 ? 20_000 : 3);
      bytes.set([lane === 'data' ? 1 : 0, index >> 8, index & 255]);
      if (one.transport.send(key, bytes, lane) !== 'dropped') sent[lane].push(index);
    }
    const total = sent.control.length + sent.data.length;
    await stage.until(two, 'all messages', () => two.recorder.of('message').length >= total);
    equal(indexes(two, 0), sent.control.join(), 'order of the control lane');
    equal(indexes(two, 1), sent.data.join(), 'order of the data lane');
  });
}

function sizeTests(it: Test): void {
  it('the largest message arrives whole, and control messages need not wait for it', async (stage) => {
    const [one, two] = await stage.pair();
    const big = new Uint8Array(stage.capabilities.maxBytes);
    for (let index = 0; index < big.length; index += 997) big[index] = index & 255;
    const result = one.transport.send(stage.onlyLink(one), big, 'data');
    check(result !== 'dropped', 'the largest message was dropped');
    await stage.delivers(one, two, 'control');
    await stage.until(two, 'the largest message', () => {
      return two.recorder.of('message').some(({ bytes }) => same(bytes, big));
    });
  });

  it('a message that is larger than any buffer is refused, not thrown', async (stage) => {
    const [one, two] = await stage.pair();
    const key = stage.onlyLink(one);
    const part = new Uint8Array(Math.min(stage.capabilities.maxBytes, 8 * 1024 * 1024));
    for (let round = 0; round < 4; round += 1) one.transport.send(key, part, 'data');
    await stage.delivers(one, two, 'control');
  });

  it('send to a link that does not exist says dropped', async (stage) => {
    const [one] = await stage.pair();
    equal(one.transport.send('no such link', Uint8Array.of(1), 'control'), 'dropped', 'result');
    const idle = stage.idle('c');
    equal(idle.transport.send('none', Uint8Array.of(1), 'data'), 'dropped', 'before start');
  });
}

function closeTests(it: Test): void {
  it('a clean close shows at the other end: the hint first, then the link down, after the messages', async (stage) => {
    const [one, two] = await stage.pair();
    const farKey = stage.onlyLink(two);
    one.transport.send(stage.onlyLink(one), Uint8Array.of(42), 'control');
    await one.transport.close();
    await stage.until(two, 'the link down', () => isDown(two, farKey));
    const last = two.recorder.reports.filter((report) => 'peer' in report).slice(-3);
    equal(last.map(({ type }) => type).join(), 'message,hint,linkDown', 'last reports');
    equal(two.recorder.of('hint')[0]?.kind, 'closed-cleanly', 'hint');
    equal(two.recorder.of('linkDown')[0]?.why, 'closed', 'why the link went down');
  });

  it('nothing is reported after close, send says dropped, and close can be repeated', async (stage) => {
    const [one, two] = await stage.pair();
    const key = stage.onlyLink(one);
    two.transport.send(stage.onlyLink(two), Uint8Array.of(7), 'control');
    const closing = one.transport.close();
    const count = one.recorder.reports.length;
    equal(one.transport.send(key, Uint8Array.of(1), 'control'), 'dropped', 'send after close');
    two.transport.send(stage.onlyLink(two), Uint8Array.of(8), 'control');
    await closing;
    await one.transport.close();
    await stage.quiet();
    equal(one.recorder.reports.length, count, 'reports after close');
  });
}

function abortTests(it: Test): void {
  it('aborting the signal closes', async (stage) => {
    const [one, two] = await stage.pair();
    const [key, farKey] = [stage.onlyLink(one), stage.onlyLink(two)];
    one.abort();
    equal(one.transport.send(key, Uint8Array.of(1), 'control'), 'dropped', 'send after abort');
    await stage.until(two, 'the link down', () => isDown(two, farKey));
    equal(two.recorder.of('hint')[0]?.kind, 'closed-cleanly', 'hint');
  });

  it('a transport that was never started, or started with an aborted signal, closes quietly', async (stage) => {
    await stage.idle('a').transport.close();
    const aborted = stage.start('b', AbortSignal.abort());
    const other = stage.start('c');
    await stage.quiet();
    equal(aborted.recorder.links.length + other.recorder.links.length, 0, 'links');
    await aborted.transport.close();
  });
}

/** One transport under test, with what it has reported. */
interface Actor {
  readonly id: string;
  readonly transport: Transport;
  readonly recorder: Recorder;
  abort(): void;
}

async function onStage<B extends TransportBench>(
  options: TransportContractOptions<B>,
  body: (stage: Stage) => Promise<void>,
): Promise<void> {
  const bench = await options.setup();
  const stage = new Stage(bench, options.capabilities);
  try {
    await body(stage);
  } finally {
    await stage.close();
    await options.teardown?.(bench);
  }
}

/** The transports of one test. */
class Stage {
  readonly capabilities: TransportCapabilities;
  readonly #bench: TransportBench;
  readonly #actors: Actor[] = [];

  constructor(bench: TransportBench, capabilities: TransportCapabilities) {
    this.#bench = bench;
    this.capabilities = capabilities;
  }

  idle(id: string): Actor {
    const controller = new AbortController();
    const transport = this.#bench.transport(id);
    const actor = { id, transport, recorder: new Recorder(), abort: () => controller.abort() };
    this.#actors.push(actor);
    this.#signals.set(actor, controller.signal);
    return actor;
  }

  start(id: string, signal?: AbortSignal): Actor {
    const actor = this.idle(id);
    actor.transport.start(actor.recorder, {
      cluster: this.#bench.cluster ?? 'contract',
      id,
      instance: crypto.randomUUID(),
      signal: signal ?? (this.#signals.get(actor) as AbortSignal),
    });
    return actor;
  }

  async pair(): Promise<[Actor, Actor]> {
    const one = this.start('a');
    const two = this.start('b');
    await this.linked(one, two);
    return [one, two];
  }

  async linked(one: Actor, two: Actor): Promise<void> {
    for (const actor of [one, two]) {
      await this.until(actor, `${actor.id} has a link`, () => actor.recorder.links.length > 0);
    }
  }

  onlyLink(actor: Actor): string {
    const [key] = actor.recorder.links;
    equal(actor.recorder.links.length, 1, `links of ${actor.id}`);
    return key as string;
  }

  async delivers(from: Actor, to: Actor, lane: Lane): Promise<void> {
    const bytes = crypto.getRandomValues(new Uint8Array(64));
    const result = from.transport.send(this.onlyLink(from), bytes, lane);
    check(result !== 'dropped', `a message from ${from.id} was dropped`);
    const key = this.onlyLink(to);
    await this.until(to, `the message from ${from.id} at ${to.id}`, () => {
      return to.recorder
        .of('message')
        .some((report) => report.peer === key && same(report.bytes, bytes));
    });
  }

  until(actor: Actor, what: string, met: () => boolean): Promise<void> {
    return actor.recorder.until(what, met, this.capabilities.timeoutMs ?? 5_000);
  }

  /** Absence has no event: this is the one place that must wait for time to pass. */
  quiet(): Promise<void> {
    return new Promise((resolve) => setTimeout(resolve, this.capabilities.quietMs ?? 50));
  }

  async close(): Promise<void> {
    await Promise.all(this.#actors.map(({ transport }) => transport.close()));
  }

  readonly #signals = new Map<Actor, AbortSignal>();
}

function discovered({ recorder }: Actor): boolean {
  return recorder.of('discovery').at(-1)?.pending === 0;
}

function isDown({ recorder }: Actor, key: string): boolean {
  return recorder.of('linkDown').some(({ peer }) => peer === key);
}

function indexes({ recorder }: Actor, lane: 0 | 1): string {
  const numbered = recorder.of('message').filter(({ bytes }) => bytes[0] === lane);
  return numbered.map(({ bytes }) => ((bytes[1] ?? 0) << 8) | (bytes[2] ?? 0)).join();
}
