import type { Lifecycle } from '../machine/input.ts';
import type { Host } from './host.ts';

/** The surroundings of a page, a worker or a Node process. Nothing is touched before it is used. */
export function systemHost(): Host {
  const listeners = new Set<(kind: Lifecycle) => void>();
  // Told in a task of its own: the clock is read in the middle of things.
  const slept = (): void => {
    queueMicrotask(() => {
      for (const listener of [...listeners]) listener('resume');
    });
  };
  return {
    now: sleepAwareClock(
      () => performance.now(),
      () => Date.now(),
      slept,
    ),
    wallNow: () => Date.now(),
    random,
    timer: (callback, delayMs) => {
      const id = setTimeout(callback, Math.min(Math.ceil(delayMs), TIMER_MS_MAX));
      return () => clearTimeout(id);
    },
    watchLifecycle: (listener, signal) => {
      if (signal.aborted) return;
      listeners.add(listener);
      signal.addEventListener('abort', () => listeners.delete(listener), { once: true });
      watchLifecycle(listener, signal);
    },
  };
}

/**
 * A monotonic clock that also advances while the machine sleeps. `performance.now` stands still
 * during sleep on several platforms; the wall clock does not, but it may be set. So the first one
 * counts, and a gap by which the second ran ahead since the last reading is added as sleep.
 * Readings that differ by less are rounding and slewing; a wall clock set back is ignored. `slept` is
 * called after such a gap: it may also have been the wall clock that was set, so that less time has
 * passed than it seems (M9, Q6).
 */
export function sleepAwareClock(
  monotonic: () => number,
  wall: () => number,
  slept: () => void = () => undefined,
): () => number {
  let lastMonotonic = monotonic();
  let lastWall = wall();
  let asleepMs = 0;
  return () => {
    const [nowMonotonic, nowWall] = [monotonic(), wall()];
    const gapMs = nowWall - lastWall - (nowMonotonic - lastMonotonic);
    if (gapMs > SLEEP_MS_MIN) {
      asleepMs += gapMs;
      slept();
    }
    [lastMonotonic, lastWall] = [nowMonotonic, nowWall];
    return nowMonotonic + asleepMs;
  };
}

/** From the cryptographic source: instances are told apart by it. Exists in insecure contexts. */
function random(): number {
  const [word = 0] = crypto.getRandomValues(new Uint32Array(1));
  return word / 2 ** 32;
}

function watchLifecycle(listener: (kind: Lifecycle) => void, signal: AbortSignal): void {
  const global: Partial<Pick<Window, 'addEventListener'>> = globalThis;
  // `beforeunload` and `unload` are never used: they keep pages out of the back/forward cache.
  global.addEventListener?.('online', () => listener('online'), { signal });
  if (typeof document === 'undefined') return;
  const visibility = (): void =>
    listener(document.visibilityState === 'hidden' ? 'hidden' : 'visible');
  document.addEventListener('visibilitychange', visibility, { signal });
  document.addEventListener('freeze', () => listener('freeze'), { signal });
  document.addEventListener('resume', () => listener('resume'), { signal });
  // A page that goes into the back/forward cache is frozen there, and may come back.
  const hide = (event: PageTransitionEvent): void =>
    listener(event.persisted ? 'freeze' : 'pagehide');
  const show = (event: PageTransitionEvent): void => {
    if (event.persisted) listener('pageshow');
  };
  addEventListener('pagehide', hide, { signal });
  addEventListener('pageshow', show, { signal });
  if (document.visibilityState === 'hidden') visibility();
}

// Longer delays overflow, and fire at once.
const TIMER_MS_MAX = 2 ** 31 - 1;
// Above the rounding of clocks where fingerprinting is resisted (100 ms), below every stall that
// matters (1 s).
const SLEEP_MS_MIN = 500;
