import { withResolvers } from '../runtime/promise.ts';

/** The part of the Web Locks API that is used. */
export type Locks = Pick<LockManager, 'request' | 'query'>;

/** What the locks of a cluster's nodes are called: each names who holds it. */
export class LockNames {
  readonly #prefix: string;

  /** `root`: what all names of the cluster in this browser begin with. */
  constructor(root: string) {
    this.#prefix = `${root}/alive/`;
  }

  of(seat: string): string {
    return this.#prefix + seat;
  }

  /** Whose locks are held now. */
  async holders(locks: Locks): Promise<string[]> {
    const { held = [] } = await locks.query();
    const names = held.flatMap(({ name = '' }) => (name.startsWith(this.#prefix) ? [name] : []));
    return names.map((name) => name.slice(this.#prefix.length));
  }
}

/**
 * Takes a lock and gives how to release it; `lost` is called when it is taken away. Rejects when it
 * is not granted in time: nothing may wait for a lock without a bound.
 */
export async function hold(
  locks: Locks,
  name: string,
  lost: () => void,
  waitMs = GRANT_MS,
): Promise<() => void> {
  const { promise: granted, resolve: grant, reject: refuse } = withResolvers<() => void>();
  const patience = new AbortController();
  const timer = setTimeout(() => patience.abort(), waitMs);
  const { promise: released, resolve: release } = withResolvers<void>();
  let isHeld = false;
  const holding = locks.request(name, { signal: patience.signal }, () => {
    isHeld = true;
    grant(release);
    return released;
  });
  holding.catch((error: unknown) => (isHeld ? lost() : refuse(error)));
  try {
    return await granted;
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Calls back once whoever holds a lock has let go of it, or is no more, unless `signal` aborts. A
 * browser that refuses to wait is no worse than one without locks: the detector decides then.
 */
export function whenFree(locks: Locks, name: string, signal: AbortSignal, free: () => void): void {
  const options = { mode: 'shared', signal } as const;
  locks.request(name, options, async () => free()).catch(() => undefined);
}

/** Nobody else asks for these locks, so they come in milliseconds, or something is broken. */
const GRANT_MS = 1_000;
