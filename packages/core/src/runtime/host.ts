import type { Lifecycle } from '../machine/input.ts';

/**
 * Everything that the runtime asks of its surroundings. The browser and Node get `systemHost()`,
 * the simulator its own, so that the same runtime runs in virtual time.
 */
export interface Host {
  /** Monotonic milliseconds that also advance while the machine sleeps. */
  now(): number;
  /** Wall-clock milliseconds; only ever used to stamp `startedAt`. */
  wallNow(): number;
  /** Uniform in [0, 1). */
  random(): number;
  /** Calls back once after at least `delayMs`; returns how to cancel. */
  timer(callback: () => void, delayMs: number): () => void;
  /** Reports page lifecycle until `signal` aborts. */
  watchLifecycle(listener: (kind: Lifecycle) => void, signal: AbortSignal): void;
}
