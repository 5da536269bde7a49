import type { Token } from '@doyen/core';
import { PARAMS } from './gate-protocol.ts';

/** What a gate reads of a request: Node's `IncomingMessage` is one. */
export interface GateRequest {
  readonly url?: string | undefined;
}

/** What a gate needs of a server's end of a WebSocket: those of `ws` are such. */
export interface GateSocket {
  readonly readyState?: number;
  close(code: number, reason: string): void;
  terminate?(): void;
  on(event: 'close', listener: (code: number) => void): unknown;
  removeAllListeners?(event: 'message'): unknown;
}

/** What a connection asks for. */
export type Claim =
  /** It is none of Doyen's. */
  | { readonly type: 'plain' }
  | { readonly type: 'malformed' }
  | { readonly type: 'leader' | 'guest'; readonly token: Token };

/** Reads the query parameters of a request; it comes from anybody. */
export function readClaim({ url = '/' }: GateRequest): Claim {
  const at = url.indexOf('?');
  const query = new URLSearchParams(at < 0 ? '' : url.slice(at));
  const [cluster, epoch, holder] = [PARAMS.cluster, PARAMS.epoch, PARAMS.holder].map((name) =>
    query.get(name),
  );
  if (cluster === null && epoch === null && holder === null) return { type: 'plain' };
  if (!isName(cluster) || !isName(holder) || !isEpoch(epoch)) return { type: 'malformed' };
  const token = { cluster, epoch: Number(epoch), holder };
  return { type: query.get(PARAMS.guest) === '1' ? 'guest' : 'leader', token };
}

/** The document that a request is for, as `@y/websocket-server` reads it: the path. */
export function roomOf({ url = '/' }: GateRequest): string {
  return url.slice(1).split('?', 1)[0] ?? '';
}

function isName(text: string | null | undefined): text is string {
  return typeof text === 'string' && text !== '' && byteLength(text) <= NAME_BYTES_MAX;
}

function isEpoch(text: string | null | undefined): boolean {
  return typeof text === 'string' && /^[1-9]\d{0,15}$/.test(text) && Number(text) <= EPOCH_MAX;
}

function byteLength(text: string): number {
  return new TextEncoder().encode(text).length;
}

const NAME_BYTES_MAX = 128;
/** The highest that a cluster can reach. */
const EPOCH_MAX = 2 ** 53 - 2 ** 32;
