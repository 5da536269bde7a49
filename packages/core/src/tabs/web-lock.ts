import { type Lock, type LockRule, lockRule, type OpenLock } from '../machine/lock/lock.ts';
import { checkOptions, type Rules, withMethods } from '../option-check.ts';
import { DoyenError } from '../runtime/error.ts';
import { indexedDbStore } from '../store/indexed-db-store.ts';
import type { Store } from '../store/store.ts';
import { EpochCount } from './epoch-count.ts';
import { HeldLock } from './held-lock.ts';
import type { Locks } from './locks.ts';

/** Options of {@link webLock}. */
export interface WebLockOptions {
  /**
   * Where the epoch is kept; all nodes of a cluster have the same. @defaultValue an IndexedDB
   * database `doyen-epochs`
   */
  readonly store?: Store;
  /** @defaultValue those of the platform */
  readonly locks?: Pick<Locks, 'request'>;
}

/**
 * Leader is whoever holds the one exclusive Web Lock of the cluster: in one browser exactly one, by
 * construction. Who has waited longest is next. Each holder counts the epoch up while it has the
 * lock, in IndexedDB, so that it rises across restarts of the browser. A holder whose page is frozen,
 * stopped or hangs is robbed of the lock by one of the waiters, once its silence is confirmed, and
 * the next epoch begins; a leader that never leads is robbed after some seconds.
 *
 * For one browser only. `join()` throws TypeError with a transport that reaches others, where
 * `oldestNode()` or `quorum()` is for; and DoyenError `unsupported` where there are no Web Locks
 * (insecure contexts, Node) or there is no IndexedDB.
 * @throws TypeError that names a wrong option.
 */
export function webLock(options: WebLockOptions = {}): LockRule {
  checkOptions(RULES, options);
  return lockRule(opener(options));
}

const RULES: Rules<WebLockOptions> = {
  store: withMethods('read', 'write'),
  locks: withMethods('request'),
};

function opener(options: WebLockOptions): OpenLock {
  return ({ cluster, scope, answer }): Lock => {
    if (scope !== 'browser') {
      throw new TypeError(
        'election must be oldestNode() or quorum() with a transport that reaches other devices, ' +
          'got webLock(), whose lock is that of one browser',
      );
    }
    const { locks = globalThis.navigator?.locks } = options;
    const has = { 'Web Locks': locks, IndexedDB: options.store ?? globalThis.indexedDB };
    for (const [what, found] of Object.entries(has)) {
      if (found) continue;
      const remedy = 'it needs a secure context in a browser; elsewhere take oldestNode()';
      throw new DoyenError('unsupported', `webLock() found no ${what} here: ${remedy}`);
    }
    const name = `doyen/${encodeURIComponent(cluster)}/leader`;
    const store = options.store ?? indexedDbStore({ name: 'doyen-epochs' });
    return new HeldLock({ locks, name, count: new EpochCount(store, name), answer });
  };
}
