import type { IncomingMessage } from 'node:http';
import { isOrigins, type Origins } from './gate.ts';
import type { SignalingLimits } from './limits.ts';
import { checkOptions, isFunction, isText, type Rule, type Rules, shown } from './option-check.ts';
import { type IceServer, isIceServers } from './protocol.ts';

/** Who asks for a place in a room. */
export interface AuthorizeRequest {
  readonly room: string;
  /** What the client's `token` gave. */
  readonly token: string | undefined;
  /** Origin of the page, `undefined` outside browsers. */
  readonly origin: string | undefined;
  readonly address: string;
}

/** Options of `createSignalingServer`. */
export interface SignalingServerOptions {
  /**
   * Decides who may enter a room; throwing refuses. With it, requests without an `Origin` need a
   * token. Without it whoever knows a room id may enter the room.
   */
  readonly authorize?: (request: AuthorizeRequest) => boolean | Promise<boolean>;
  /** Pages that may connect. @defaultValue pages of the host under which the server is reached */
  readonly origins?: Origins;
  /** Overrides of `DEFAULT_LIMITS`. */
  readonly limits?: Partial<SignalingLimits>;
  /** STUN and TURN servers for whoever entered, or how to get them with short-lived credentials. */
  readonly iceServers?:
    | readonly IceServer[]
    | ((request: AuthorizeRequest) => readonly IceServer[] | Promise<readonly IceServer[]>);
  /** Path below which rooms are found. @defaultValue '/v1' */
  readonly path?: string;
  /**
   * Network address of a client, on which its limits are counted. Behind a proxy this must come from
   * the proxy's header, else all users count as one. @defaultValue the socket's address
   */
  readonly address?: (request: IncomingMessage) => string;
  /** Told what a hook threw, or why accepting sockets failed. @defaultValue console.error */
  readonly onError?: (error: unknown, where: ErrorSource) => void;
}

/** Where an error came from. */
export type ErrorSource = 'authorize' | 'iceServers' | 'address' | 'server';

/** Where a server of its own listens. */
export interface ListenOptions {
  /** @defaultValue 0, any free one */
  readonly port?: number;
  /** @defaultValue '127.0.0.1' */
  readonly host?: string;
}

/** How to stop. */
export interface CloseOptions {
  /** Time in ms over which clients come back. @defaultValue 1 ms a socket, from 1 s to 30 s */
  readonly spreadMs?: number;
}

const FUNCTION: Rule = ['function', 'a function', isFunction];

const SERVER: Rules<SignalingServerOptions> = {
  authorize: FUNCTION,
  origins: ['string', "'*' or an array of 'https://host[:port]'", isOrigins],
  // What is in it is checked where the limits are completed.
  limits: ['object', 'an object', (limits) => typeof limits === 'object' && limits !== null],
  iceServers: [
    'array',
    'an array of { urls } or a function',
    (servers) => isFunction(servers) || isIceServers(servers),
  ],
  path: [
    'string',
    "'/segment' without a trailing slash",
    (path) => isText(path) && /^(\/[A-Za-z0-9._~-]+)*$/.test(path),
  ],
  address: FUNCTION,
  onError: FUNCTION,
};

const LISTEN: Rules<ListenOptions> = {
  port: ['number', '0 to 65535', (port) => isWhole(port, 65_535)],
  host: ['string', 'a host name or an address', (host) => isText(host) && host !== ''],
};

const CLOSE: Rules<CloseOptions> = {
  spreadMs: ['number', '0 or more milliseconds', (ms) => isWhole(ms, Number.MAX_SAFE_INTEGER)],
};

/** @throws TypeError or RangeError naming the option. */
export const checkServerOptions = (given: unknown): void => checkOptions(SERVER, given);

/** @throws TypeError or RangeError naming the option. */
export const checkListenOptions = (given: unknown): void => checkOptions(LISTEN, given);

/** @throws TypeError or RangeError naming the option. */
export const checkCloseOptions = (given: unknown): void => checkOptions(CLOSE, given);

/** @throws TypeError for anything but an http server. */
export function checkHttpServer(server: unknown): void {
  // An application's router has events and listens too, but no address.
  const methods = ['on', 'off', 'listenerCount', 'address'];
  if (methods.every((method) => isFunction(Object(server)[method]))) return;
  throw new TypeError(`server must be an http server, got ${shown(server)}`);
}

const isWhole = (value: unknown, max: number): boolean =>
  Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) <= max;
