/**
 * Guards at resources, which refuse what an outdated leader sends.
 *
 * @packageDocumentation
 */
export { type Fence, type FunctionFence, floorOf } from './fence.ts';
export { FencedError } from './fenced-error.ts';
export { fetchGuard } from './fetch-guard.ts';
export { type HttpFenceOptions, httpFence } from './http-fence.ts';
export type { GuardOptions } from './http-guard.ts';
export {
  createFenceStore,
  type IndexedDbFenceOptions,
  indexedDbFence,
} from './indexed-db-fence.ts';
export type { FenceOptions } from './mark.ts';
export { memoryFence } from './memory-fence.ts';
export { type Guarded, type NodeRequest, type NodeResponse, nodeGuard } from './node-guard.ts';
export {
  type RedisClient,
  type RedisCommand,
  type RedisFenceOptions,
  redisFence,
} from './redis-fence.ts';
export { type StoreFenceOptions, storeFence } from './store-fence.ts';
export type { Token } from './token.ts';
export { type FenceRefusal, type FenceVerdict, judge } from './verdict.ts';
