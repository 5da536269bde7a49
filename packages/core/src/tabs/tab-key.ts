import { DoyenError } from '../runtime/error.ts';
import { hold, type Locks } from './locks.ts';

/**
 * A key of this tab that survives a reload, for use as the `id` or in the `meta` of its node. It is
 * kept in `sessionStorage` and claimed by a Web Lock, so that a duplicated tab, which gets a copy of
 * that storage, gets a key of its own. The same name gives the same key as long as the page lives.
 *
 * @param name tells apart several keys of one tab.
 * @throws DoyenError `unsupported` where there are no Web Locks or no session storage (insecure
 * contexts, workers, Node): there a copy could not be told from the original.
 */
export function tabKey(name = 'doyen'): Promise<string> {
  const known = keys.get(name);
  if (known) return known;
  const key = claimKey(name);
  keys.set(name, key);
  // What failed may be tried again.
  key.catch(() => keys.delete(name));
  return key;
}

async function claimKey(name: string): Promise<string> {
  const { storage, locks } = platform();
  const entry = `${name}/tab-key`;
  const kept = storage.getItem(entry);
  if (kept !== null && KEY.test(kept) && (await claim(locks, `${entry}/${kept}`))) return kept;
  const key = newKey();
  // Claimed before it is kept: a copy of the storage must not be quicker.
  if (!(await claim(locks, `${entry}/${key}`))) throw unsupported('no Web Lock was granted');
  storage.setItem(entry, key);
  return key;
}

/** False when another page has it. Held until the page goes, and again when it is back. */
async function claim(locks: Locks, lock: string): Promise<boolean> {
  const take = () => hold(locks, lock, () => undefined, CLAIM_MS).catch(() => null);
  let release = await take();
  if (!release) return false;
  addEventListener('pagehide', () => release?.());
  addEventListener('pageshow', async (event) => {
    if (event.persisted) release = await take();
  });
  return true;
}

function platform(): { readonly storage: Storage; readonly locks: Locks } {
  const locks = globalThis.navigator?.locks;
  if (!locks) throw unsupported('there are no Web Locks here');
  try {
    if (globalThis.sessionStorage) return { storage: sessionStorage, locks };
  } catch (error) {
    throw unsupported(`the session storage is refused (${String(error)})`);
  }
  throw unsupported('there is no session storage here');
}

function unsupported(why: string): DoyenError {
  return new DoyenError('unsupported', `tabKey: ${why}; no key was made.`);
}

function newKey(): string {
  const words = crypto.getRandomValues(new Uint32Array(3));
  return [...words].map((word) => word.toString(36).padStart(7, '0')).join('');
}

const keys = new Map<string, Promise<string>>();

const KEY = /^[0-9a-z]{21}$/;

/** A page that reloads lets go of its key before the next one asks; a busy browser is slower. */
const CLAIM_MS = 250;
