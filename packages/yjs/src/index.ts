/**
 * A Yjs provider for many tabs and devices with one connection to the server.
 *
 * @packageDocumentation
 */
export type { ProviderFault } from './fault.ts';
export type { Status } from './message.ts';
export type { ProviderOptions } from './options.ts';
export { type DoyenProvider, doyenProvider, type ProviderEvents } from './provider.ts';
export type { WebSocketConstructor } from './uplink.ts';
