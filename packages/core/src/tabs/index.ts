/**
 * Tabs, frames and workers of one browser.
 *
 * @packageDocumentation
 */
export type { Locks } from './locks.ts';
export type { TabsOptions } from './options.ts';
export { tabKey } from './tab-key.ts';
export { type TabsTransport, tabs } from './tabs.ts';
export { type WebLockOptions, webLock } from './web-lock.ts';
export { type TimerWorker, WORKER_SCRIPT } from './worker-timer.ts';
