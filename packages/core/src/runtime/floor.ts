import type { Host } from './host.ts';
import { type JoinOptions, shown } from './options.ts';
import { abortable } from './promise.ts';

/**
 * Asks the application for the epoch to start above.
 * @throws when it fails, answers with no epoch, takes longer than 5 s, or `signal` aborts.
 */
export async function learnFloor(
  floor: NonNullable<JoinOptions['floor']>,
  { host, signal }: { readonly host: Host; readonly signal: AbortSignal },
): Promise<number> {
  const controller = new AbortController();
  const abort = (): void => controller.abort(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  const cancel = host.timer(
    () => controller.abort(new Error(`floor() gave no answer within ${FLOOR_MS} ms`)),
    FLOOR_MS,
  );
  try {
    const asked = (async () => floor({ signal: controller.signal }))();
    const epoch = await abortable(asked, controller.signal);
    if (Number.isSafeInteger(epoch) && epoch >= 0) return epoch;
    throw new RangeError(`floor() must give an integer from 0, gave ${shown(epoch)}`);
  } finally {
    cancel();
    signal.removeEventListener('abort', abort);
  }
}

// A store that takes longer would hold up the whole cluster's first election.
const FLOOR_MS = 5000;
