/**
 * One connection a cluster and document, at a y-websocket server.
 *
 * @packageDocumentation
 */
export { type Gate, type GateCounts, type GateOptions, gate } from './gate.ts';
export type { GateRequest, GateSocket } from './gate-request.ts';
