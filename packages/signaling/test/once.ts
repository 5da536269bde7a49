import type { SignalingEventMap } from '../src/events.ts';
import type { SignalingClient } from '../src/index.ts';

/** The next event of a kind; fails loudly instead of hanging. */
export function once<K extends keyof SignalingEventMap>(
  client: SignalingClient,
  type: K,
  withinMs = 4_000,
): Promise<SignalingEventMap[K]> {
  const { promise, resolve, reject } = deferred<SignalingEventMap[K]>();
  const timer = setTimeout(() => reject(new Error(`no '${type}' within ${withinMs} ms`)), withinMs);
  const listener = (event: SignalingEventMap[K]): void => {
    clearTimeout(timer);
    client.removeEventListener(type, listener);
    resolve(event);
  };
  client.addEventListener(type, listener);
  return promise;
}

/** Waits for what only the state of the other side tells. */
export async function until(condition: () => boolean, withinMs = 4_000): Promise<void> {
  const end = performance.now() + withinMs;
  while (!condition()) {
    if (performance.now() > end) throw new Error(`not within ${withinMs} ms: ${condition}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

export function deferred<T>(): {
  promise: Promise<T>;
  resolve: (value: T) => void;
  reject: (reason: unknown) => void;
} {
  let resolve: (value: T) => void = () => undefined;
  let reject: (reason: unknown) => void = () => undefined;
  const promise = new Promise<T>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  return { promise, resolve, reject };
}
