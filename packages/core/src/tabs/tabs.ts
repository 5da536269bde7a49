import { DoyenError } from '../runtime/error.ts';
import type {
  Lane,
  SendResult,
  Transport,
  TransportHandler,
  TransportStartOptions,
} from '../transport/transport.ts';
import { Mesh } from './mesh.ts';
import { type CheckedOptions, checkOptions, type TabsOptions } from './options.ts';
import { blobWorker, WorkerTimer } from './worker-timer.ts';

/**
 * Links between the tabs, frames and workers of one origin in one browser, without a server: a
 * BroadcastChannel carries, and a Web Lock that each node holds shows within milliseconds when it
 * has died. Frames inside other sites are in a partition of their own and meet only each other.
 *
 * Where there are no Web Locks (an insecure context, Node) silence alone shows a death, and a fault
 * `no-web-locks` says so. A worker is not told when its page goes into the back/forward cache: as a
 * member it then is silent, and keeps its lock.
 *
 * Throws `TypeError` or `RangeError` naming the option. The transport's `start` throws
 * `DoyenError` with code `unsupported` where the platform has no BroadcastChannel.
 */
export function tabs(options: TabsOptions = {}): TabsTransport {
  return new ChannelTransport(checkOptions(options));
}

/** What `tabs()` gives. */
export interface TabsTransport extends Transport {
  /** Calls back once after at least `delayMs`, also in a hidden page; returns how to cancel. */
  timer(callback: () => void, delayMs: number): () => void;
}

class ChannelTransport implements TabsTransport {
  readonly scope = 'browser';
  readonly #options: CheckedOptions;
  readonly #end = new AbortController();
  readonly #timers: WorkerTimer;
  #start: Start | null = null;
  #mesh: Mesh | null = null;
  #cutKeys: string[] = [];
  #meshCount = 0;
  #linkCount = 0;

  constructor(options: CheckedOptions) {
    this.#options = options;
    const { worker = blobWorker } = options;
    this.#timers = new WorkerTimer(worker, (why) => this.#fault('no-worker-timers', why));
  }

  start(handler: TransportHandler, options: TransportStartOptions): void {
    if (this.#start) throw new TypeError('A tabs transport can be started once only.');
    const channelClass = this.#options.BroadcastChannel ?? globalThis.BroadcastChannel;
    if (!channelClass) {
      const remedy = 'give one as option BroadcastChannel';
      throw new DoyenError('unsupported', `There is no BroadcastChannel here: ${remedy}.`);
    }
    this.#start = { handler, options, channelClass };
    const { signal } = options;
    if (signal.aborted || this.#end.signal.aborted) return;
    signal.addEventListener('abort', () => void this.close(), { signal: this.#end.signal });
    this.#open();
    this.#watchPage(this.#end.signal);
  }

  send(peer: string, bytes: Uint8Array, lane: Lane): SendResult {
    return this.#mesh?.send(peer, bytes, lane) ?? 'dropped';
  }

  async close(): Promise<void> {
    this.#end.abort();
    this.#mesh?.close();
    this.#mesh = null;
    this.#timers.close();
  }

  timer(callback: () => void, delayMs: number): () => void {
    return this.#timers.set(callback, delayMs);
  }

  #open(): void {
    if (!this.#start || this.#end.signal.aborted) return;
    const { handler, options, channelClass } = this.#start;
    const { name, linksMax, locks = globalThis.navigator?.locks ?? null } = this.#options;
    this.#meshCount += 1;
    this.#mesh = new Mesh({
      root: `${name}/${encodeURIComponent(options.cluster)}`,
      id: options.id,
      instance: options.instance,
      number: this.#meshCount,
      linksMax,
      BroadcastChannel: channelClass,
      locks,
      handler,
      mintKey: () => `tabs:${++this.#linkCount}`,
      lost: () => this.#reopen(),
    });
  }

  /** In a worker or in Node nothing of this ever happens. */
  #watchPage(signal: AbortSignal): void {
    const page: Partial<Pick<Window, 'addEventListener'>> = globalThis;
    // The node watches the page since before it started its transport, so it has said goodbye.
    page.addEventListener?.('pagehide', () => this.#cut(), { signal });
    page.addEventListener?.(
      'pageshow',
      ({ persisted }) => {
        if (persisted) this.#reopen();
      },
      { signal },
    );
  }

  /** A page on its way out keeps no lock and no channel; nor must it act on what that does. */
  #cut(): void {
    this.#cutKeys = [...(this.#mesh?.keys ?? [])];
    this.#mesh?.close();
    this.#mesh = null;
  }

  /** Back from the cache, or robbed of its lock: the others take this node for dead. */
  #reopen(): void {
    if (this.#mesh) this.#cut();
    for (const key of this.#cutKeys.splice(0)) this.#start?.handler.linkDown(key, 'failed');
    this.#open();
  }

  #fault(code: string, why: string): void {
    if (!this.#end.signal.aborted) this.#start?.handler.fault(code, why);
  }
}

interface Start {
  readonly handler: TransportHandler;
  readonly options: TransportStartOptions;
  readonly channelClass: typeof BroadcastChannel;
}
