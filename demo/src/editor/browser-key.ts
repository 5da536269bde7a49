const ENTRY = 'doyen-demo/browser';

/**
 * The same in all tabs of one browser, to tell tabs from browsers; null where nothing can be kept.
 */
export function browserKey(): string | null {
  try {
    const key = localStorage.getItem(ENTRY) ?? newKey();
    localStorage.setItem(ENTRY, key);
    return key;
  } catch (_storageRefused) {
    return null;
  }
}

function newKey(): string {
  return [...crypto.getRandomValues(new Uint32Array(2))].map((word) => word.toString(36)).join('');
}
