import type { IncomingMessage } from 'node:http';
import { isRoomId } from './protocol.ts';

/**
 * Pages that may connect: their exact origins, or `'*'` for all. A request without an `Origin` is no
 * browser's and is not judged here.
 */
export type Origins = readonly string[] | '*';

/** Whether `value` is `'*'` or a list of origins such as `https://app.example`. */
export function isOrigins(value: unknown): value is Origins {
  if (value === '*') return true;
  const isOrigin = (text: unknown) =>
    typeof text === 'string' && URL.canParse(text) && new URL(text).origin === text;
  return Array.isArray(value) && value.every(isOrigin);
}

/** Whether the page behind a request may connect; without a list, only pages of the same host. */
export function isOriginAllowed(request: IncomingMessage, origins: Origins | undefined): boolean {
  const { origin, host } = request.headers;
  if (origin === undefined || origins === '*') return true;
  if (origins !== undefined) return origins.includes(origin);
  return URL.canParse(origin) && new URL(origin).host === host?.toLowerCase();
}

/** The room that a request asks for, `undefined` when its path names none. */
export function roomOf(request: IncomingMessage, path: string): string | undefined {
  const pathname = pathOf(request);
  const prefix = `${path}/rooms/`;
  const room = pathname.startsWith(prefix) ? pathname.slice(prefix.length) : '';
  return isRoomId(room) ? room : undefined;
}

/** The path of a request without its query, not decoded. */
export const pathOf = (request: IncomingMessage): string =>
  (request.url ?? '/').split('?', 1)[0] ?? '/';

/**
 * What counts as one network address. An IPv6 user has a whole /64, so that only its prefix counts;
 * IPv4 written as IPv6 counts as IPv4.
 */
export function addressKey(address: string): string {
  const text = address.split('%', 1)[0] ?? '';
  if (!text.includes(':')) return text;
  if (text.includes('.')) return text.slice(text.lastIndexOf(':') + 1);
  const [head = '', tail] = text.split('::', 2);
  const groups = head === '' ? [] : head.split(':');
  const tailGroups = tail === undefined || tail === '' ? [] : tail.split(':');
  while (tail !== undefined && groups.length + tailGroups.length < 8) groups.push('0');
  return `${[...groups, ...tailGroups].slice(0, 4).join(':')}::/64`;
}
