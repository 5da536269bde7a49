/**
 * Guards at resources, which refuse what an outdated leader sends.
 *
 * @packageDocumentation
 */
export { type Fence, type FunctionFence, floorOf } from './fence.ts';
export { FencedError } from './fenced-error.ts';
export {
  createFenceStore,
  type IndexedDbFenceOptions,
  indexedDbFence,
} from './indexed-db-fence.ts';
export type { FenceOptions } from './mark.ts';
export { memoryFence } from './memory-fence.ts';
export {
  type RedisClient,
  type RedisCommand,
  type RedisFenceOptions,
  redisFence,
} from './redis-fence.ts';
export { type StoreFenceOptions, storeFence } from './store-fence.ts';
export type { Token } from './token.ts';
export { type FenceRefusal, type FenceVerdict, judge } from './verdict.ts';
