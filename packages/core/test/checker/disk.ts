import { compareConfigs } from '../../src/machine/quorum/config.ts';
import type { Stander, VoterRecord } from '../../src/machine/quorum/voter-record.ts';

/** What a disk must never do from one record to the next (Q1, Q3); `null` when it does not. */
export function breachOf(before: VoterRecord, after: VoterRecord): string | null {
  if (after.epoch < before.epoch) return `disk: epoch ${before.epoch}, then ${after.epoch}`;
  const isTaken = after.epoch === before.epoch && before.votedFor !== null;
  if (isTaken && !isSame(before.votedFor, after.votedFor)) {
    return `disk: two votes in epoch ${after.epoch}`;
  }
  if (!before.config || (after.config && compareConfigs(after.config, before.config) >= 0)) {
    return null;
  }
  return 'disk: a config, then an older one';
}

function isSame(a: Stander | null, b: Stander | null): boolean {
  return a?.storageId === b?.storageId && a?.instance === b?.instance;
}
