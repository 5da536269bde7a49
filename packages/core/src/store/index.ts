/**
 * What a voter remembers across restarts.
 *
 * @packageDocumentation
 */
export { fileStore } from './file-store.ts';
export { type IndexedDbStoreOptions, indexedDbStore } from './indexed-db-store.ts';
export { memoryStore } from './memory-store.ts';
export type { Store } from './store.ts';
