/** What a page has of the platform, counted. */
export interface Baseline {
  counts(): Promise<Readonly<Record<string, number>>>;
}

/** Runs in a page: from now on counts what is made and not undone. */
export function countPlatform(): void {
  const timers = new Set<unknown>();
  const channels = new Set<unknown>();
  const workers = new Set<unknown>();
  const listeners = new Set<string>();
  const { setTimeout, clearTimeout } = globalThis;
  globalThis.setTimeout = ((callback: () => void, delayMs?: number) => {
    const id = setTimeout(() => {
      timers.delete(id);
      callback();
    }, delayMs);
    timers.add(id);
    return id;
  }) as typeof globalThis.setTimeout;
  globalThis.clearTimeout = (id) => {
    timers.delete(id);
    clearTimeout(id);
  };
  globalThis.BroadcastChannel = class extends BroadcastChannel {
    constructor(name: string) {
      super(name);
      channels.add(this);
    }
    override close(): void {
      channels.delete(this);
      super.close();
    }
  };
  globalThis.Worker = class extends Worker {
    constructor(url: string | URL) {
      super(url);
      workers.add(this);
    }
    override terminate(): void {
      workers.delete(this);
      super.terminate();
    }
  };
  let count = 0;
  for (const target of [window, document]) {
    const { addEventListener } = target;
    target.addEventListener = (
      type: string,
      listener: EventListenerOrEventListenerObject | null,
      options?: boolean | AddEventListenerOptions,
    ) => {
      const name = `${type} ${++count}`;
      listeners.add(name);
      if (typeof options === 'object') {
        options.signal?.addEventListener('abort', () => listeners.delete(name));
      }
      addEventListener.call(target, type, listener as EventListener, options);
    };
  }
  const counts = async () => {
    const { held = [], pending = [] } = await navigator.locks.query();
    return {
      timers: timers.size,
      channels: channels.size,
      workers: workers.size,
      listeners: listeners.size,
      held: held.length,
      pending: pending.length,
    };
  };
  Object.assign(globalThis, { baseline: { counts } satisfies Baseline });
}
