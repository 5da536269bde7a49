/**
 * What a voter remembers across restarts.
 *
 * @packageDocumentation
 */
export type { Store } from './store.ts';
