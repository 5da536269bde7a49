#!/usr/bin/env node
/**
 * `doyen-signaling`: a signaling server of its own. Environment: HOST (127.0.0.1), PORT (8787, 0 for
 * any), ORIGINS (comma separated, or *), TRUST_PROXY=1 (clients' addresses from X-Forwarded-For).
 */
import type { IncomingMessage } from 'node:http';
import { createSignalingServer, type Origins } from './node.ts';

function originsFrom(text: string | undefined): { origins?: Origins } {
  if (text === undefined || text === '') return {};
  return { origins: text === '*' ? '*' : text.split(',').map((origin) => origin.trim()) };
}

function portFrom(text = '8787'): number {
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535 && text.trim() !== '') return port;
  throw new RangeError(`PORT: expected 0 to 65535, got ${text}`);
}

/** The last entry is the one that the nearest proxy wrote; those before it are the client's claim. */
function forwardedAddress(request: IncomingMessage): string {
  const header = request.headers['x-forwarded-for'];
  const last = [header].flat().join(',').split(',').at(-1)?.trim();
  return last || (request.socket.remoteAddress ?? '');
}

async function main(): Promise<void> {
  const { HOST, PORT, ORIGINS, TRUST_PROXY } = process.env;
  const server = createSignalingServer({
    ...originsFrom(ORIGINS),
    ...(TRUST_PROXY === '1' ? { address: forwardedAddress } : {}),
  });
  const { url } = await server.listen({ port: portFrom(PORT), host: HOST || '127.0.0.1' });
  console.log(`doyen-signaling: ${url}`);
  console.log(`doyen-signaling: pages of ${ORIGINS || 'the same host'}, no authorization`);
  const stop = (): void => {
    process.off('SIGINT', stop).off('SIGTERM', stop);
    void server.close();
  };
  process.on('SIGINT', stop).on('SIGTERM', stop);
}

main().catch((error: unknown) => {
  console.error(`doyen-signaling: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
});
