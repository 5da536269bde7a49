/**
 * Guards at resources, which refuse what an outdated leader sends.
 *
 * @packageDocumentation
 */
export { FencedError } from './fenced-error.ts';
export type { Token } from './token.ts';
export { type FenceRefusal, type FenceVerdict, judge } from './verdict.ts';
