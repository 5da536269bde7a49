import type {
  Lane,
  SendResult,
  Transport,
  TransportHandler,
  TransportStartOptions,
} from './transport.ts';

/**
 * One transport out of several, such as `combine(tabs(), webrtc(…))`: one cluster over all of them.
 * A node that is reached in several ways has several links, and what is meant for it goes over the
 * cheapest that answers: that of `tabs()` before others, of equal ones the fastest. When one fails,
 * another carries at once.
 *
 * Discovery has answered when it has in all of them. When one cannot start, none does, and its error
 * is thrown.
 *
 * @throws TypeError when nothing is given, or something that is no transport, or one twice.
 */
export function combine(...transports: readonly Transport[]): Transport {
  for (const transport of transports) {
    const { start, send, close } = Object(transport);
    const isTransport = [start, send, close].every((method) => typeof method === 'function');
    if (!isTransport) throw new TypeError('combine: every argument must be a transport');
  }
  if (transports.length === 0) throw new TypeError('combine: expected one transport or more');
  if (new Set(transports).size < transports.length) {
    throw new TypeError('combine: a transport was given twice; each serves one node once');
  }
  return new CombinedTransport(transports);
}

class CombinedTransport implements Transport {
  readonly scope?: 'browser';
  readonly timer?: NonNullable<Transport['timer']>;
  readonly #transports: readonly Transport[];
  readonly #end = new AbortController();
  /** By transport: how many named peers are still being linked; `null` before the first answer. */
  readonly #pending: (number | null)[];
  #told: number | null = null;

  constructor(transports: readonly Transport[]) {
    this.#transports = transports;
    if (transports.every(({ scope }) => scope === 'browser')) this.scope = 'browser';
    const timed = transports.find(({ timer }) => timer);
    if (timed?.timer) this.timer = timed.timer.bind(timed);
    this.#pending = transports.map(() => null);
  }

  start(handler: TransportHandler, options: TransportStartOptions): void {
    const end = this.#end.signal;
    const { signal } = options;
    if (signal.aborted) return void this.close();
    signal.addEventListener('abort', () => void this.close(), { signal: end });
    try {
      this.#transports.forEach((transport, index) => {
        transport.start(this.#handlerOf(index, handler), { ...options, signal: end });
      });
    } catch (error) {
      void this.close();
      throw error;
    }
  }

  send(peer: string, bytes: Uint8Array, lane: Lane): SendResult {
    const at = peer.indexOf(SEPARATOR);
    const transport = at < 0 ? undefined : this.#transports[Number(peer.slice(0, at))];
    return transport?.send(peer.slice(at + 1), bytes, lane) ?? 'dropped';
  }

  async close(): Promise<void> {
    const closing = this.#transports.map(async (transport) => transport.close());
    this.#end.abort();
    await Promise.all(closing);
  }

  /** Links of different transports may have the same key: each gets the number of its transport. */
  #handlerOf(index: number, handler: TransportHandler): TransportHandler {
    const keyOf = (peer: string) => index + SEPARATOR + peer;
    return {
      linkUp: (peer, info) => handler.linkUp(keyOf(peer), info),
      linkDown: (peer, why) => handler.linkDown(keyOf(peer), why),
      message: (peer, bytes) => handler.message(keyOf(peer), bytes),
      hint: (peer, kind) => handler.hint(keyOf(peer), kind),
      lifecycle: (kind) => handler.lifecycle(kind),
      fault: (code, message) => handler.fault(code, message),
      discovery: (pending) => {
        this.#pending[index] = pending;
        this.#reportDiscovery(handler);
      },
    };
  }

  #reportDiscovery(handler: TransportHandler): void {
    let sum = 0;
    for (const pending of this.#pending) {
      if (pending === null) return;
      sum += pending;
    }
    if (sum === this.#told) return;
    this.#told = sum;
    handler.discovery(sum);
  }
}

const SEPARATOR = '/';
