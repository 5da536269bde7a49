#!/usr/bin/env node
/** `doyen-signaling`: a signaling server of its own. */
import type { IncomingMessage } from 'node:http';
import { parseArgs } from 'node:util';
import { createSignalingServer, type Origins } from './node.ts';
import { shown } from './option-check.ts';

const USAGE = `Usage: doyen-signaling [--help]

Runs a signaling server until SIGINT or SIGTERM. It is told by the environment:

  HOST         address to listen on (127.0.0.1)
  PORT         port to listen on, 0 for any free one (8787)
  ORIGINS      pages that may connect, comma separated, or * (pages of the same host)
  TRUST_PROXY  1: clients' addresses are the last ones of X-Forwarded-For`;

/** Whether help is asked for. @throws TypeError for any other argument. */
function wantsHelp(): boolean {
  const options = { help: { type: 'boolean', short: 'h' } } as const;
  return parseArgs({ options }).values.help === true;
}

function originsFrom(text: string | undefined): { origins?: Origins } {
  if (text === undefined || text === '') return {};
  return { origins: text === '*' ? '*' : text.split(',').map((origin) => origin.trim()) };
}

function portFrom(text = '8787'): number {
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535 && text.trim() !== '') return port;
  throw new RangeError(`PORT must be 0 to 65535, got ${shown(text)}`);
}

/** The last entry is the one that the nearest proxy wrote; those before it are the client's claim. */
function forwardedAddress(request: IncomingMessage): string {
  const header = request.headers['x-forwarded-for'];
  const last = [header].flat().join(',').split(',').at(-1)?.trim();
  return last || (request.socket.remoteAddress ?? '');
}

async function serve(): Promise<void> {
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

function main(): void {
  try {
    if (wantsHelp()) return console.log(USAGE);
  } catch (error) {
    fail(error, 2);
    return console.error(USAGE);
  }
  serve().catch((error: unknown) => fail(error, 1));
}

function fail(error: unknown, exitCode: number): void {
  console.error(`doyen-signaling: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = exitCode;
}

main();
