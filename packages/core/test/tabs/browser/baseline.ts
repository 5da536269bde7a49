/** What a page has of the platform, counted; in a page that counts it is called `baseline`. */
export interface Baseline {
  counts(): Promise<Readonly<Record<string, number>>>;
}

/** From now on counts what the page makes and does not undo. */
export function countPlatform(): void {
  const made = {
    timers: countTimers('setTimeout', 'clearTimeout'),
    intervals: countTimers('setInterval', 'clearInterval'),
    listeners: countListeners(window, document),
    ...countResources(),
  };
  const counts = async () => {
    const { held = [], pending = [] } = await navigator.locks.query();
    const sizes = Object.entries(made).map(([name, things]) => [name, things.size] as const);
    return { ...Object.fromEntries(sizes), held: held.length, pending: pending.length };
  };
  Object.assign(globalThis, { baseline: { counts } satisfies Baseline });
}

function countTimers(
  setName: 'setTimeout' | 'setInterval',
  clearName: 'clearTimeout' | 'clearInterval',
): Set<number> {
  const ids = new Set<number>();
  const { [setName]: set, [clearName]: clear } = window;
  const counted = (callback: () => void, delayMs?: number): number => {
    const id = set(() => {
      if (setName === 'setTimeout') ids.delete(id);
      callback();
    }, delayMs);
    ids.add(id);
    return id;
  };
  const uncounted = (id?: number): void => {
    if (id !== undefined) ids.delete(id);
    clear(id);
  };
  Object.assign(window, { [setName]: counted, [clearName]: uncounted });
  return ids;
}

function countListeners(...targets: readonly EventTarget[]): Set<string> {
  const listeners = new Set<string>();
  const numbers = new WeakMap<object, number>();
  let count = 0;
  const nameOf = (type: string, listener: object): string => {
    const number = numbers.get(listener) ?? ++count;
    numbers.set(listener, number);
    return `${type} ${number}`;
  };
  for (const target of targets) {
    const { addEventListener, removeEventListener } = target;
    target.addEventListener = (type, listener, options) => {
      const name = listener && nameOf(type, listener);
      if (name) listeners.add(name);
      if (name && typeof options === 'object') {
        options.signal?.addEventListener('abort', () => listeners.delete(name));
      }
      addEventListener.call(target, type, listener, options);
    };
    target.removeEventListener = (type, listener, options) => {
      if (listener) listeners.delete(nameOf(type, listener));
      removeEventListener.call(target, type, listener, options);
    };
  }
  return listeners;
}

function countResources(): Readonly<Record<string, Set<object>>> {
  const [channels, workers, sockets] = [new Set<object>(), new Set<object>(), new Set<object>()];
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
  globalThis.WebSocket = class extends WebSocket {
    constructor(url: string | URL, protocols?: string | string[]) {
      super(url, protocols);
      sockets.add(this);
      this.addEventListener('close', () => sockets.delete(this));
    }
  };
  return { channels, workers, sockets };
}
