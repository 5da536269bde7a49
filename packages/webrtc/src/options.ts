import type { IceServer, WebSocketConstructor } from '@doyen/signaling';

/** An implementation of WebRTC, for platforms that have none of their own. */
export interface RtcImplementation {
  readonly RTCPeerConnection: new (...parameters: never[]) => object;
  readonly RTCSessionDescription: new (...parameters: never[]) => object;
  readonly RTCIceCandidate: new (...parameters: never[]) => object;
}

/** Options of `webrtc()`. */
export interface WebRtcOptions {
  /** Base address of a signaling server, such as `wss://signal.example/v1`. */
  readonly signaling: string;
  /** Asked for a fresh token before every connection to the signaling server. */
  readonly token?: () => string | Promise<string>;
  /**
   * STUN and TURN servers, or how to get them; asked again for every connection, so that
   * short-lived credentials work. A failure shows as a fault `ice-servers-failed`.
   * @defaultValue what the signaling server offers, else none: links within one network only
   */
  readonly iceServers?:
    | readonly IceServer[]
    | (() => readonly IceServer[] | Promise<readonly IceServer[]>);
  /**
   * Most links at a time. At the limit the transport makes no more and says so once with a fault
   * `links-exhausted`. A browser gives a whole site some 500 connections, closed ones included.
   * @defaultValue 64
   */
  readonly linksMax?: number;
  /** @defaultValue that of the platform; Node has none */
  readonly rtc?: RtcImplementation;
  /** @defaultValue that of the platform; Node 20 has none */
  readonly WebSocket?: WebSocketConstructor;
}

export type CheckedOptions = WebRtcOptions & { readonly linksMax: number };

/** As many as a room of the signaling server has peers. */
const LINKS_MAX = 64;

/** Throws `TypeError` or `RangeError` naming the option. */
export function checkOptions(options: WebRtcOptions): CheckedOptions {
  if (typeof options !== 'object' || options === null) {
    throw new TypeError(`webrtc(options): expected an object, got ${String(options)}`);
  }
  for (const [name, value] of Object.entries(options)) checkOption(name, value);
  checkOption('signaling', options.signaling);
  return { ...options, linksMax: options.linksMax ?? LINKS_MAX };
}

function checkOption(name: string, value: unknown): void {
  if (name === 'secret') {
    throw new TypeError('secret: rooms with a secret are not supported yet; links would be open');
  }
  const rule = Object.hasOwn(RULES, name) ? RULES[name as keyof WebRtcOptions] : undefined;
  if (!rule) throw new TypeError(`${name}: expected no such option of webrtc()`);
  if (value === undefined && name !== 'signaling') return;
  const [expectation, isMet] = rule;
  if (isMet(value)) return;
  const message = `${name}: expected ${expectation}, got ${describe(value)}`;
  throw typeof value === 'number' ? new RangeError(message) : new TypeError(message);
}

const RULES: Readonly<Record<keyof WebRtcOptions, readonly [string, (v: unknown) => boolean]>> = {
  signaling: ['a ws: or wss: address', isSocketAddress],
  token: ['a function', isFunction],
  iceServers: ['an array of { urls } or a function', (v) => isFunction(v) || isIceServers(v)],
  linksMax: ['a positive integer', (v) => Number.isSafeInteger(v) && (v as number) > 0],
  rtc: ['{ RTCPeerConnection, RTCSessionDescription, RTCIceCandidate }', isRtc],
  WebSocket: ['a WebSocket class', isFunction],
};

function isSocketAddress(value: unknown): boolean {
  return typeof value === 'string' && URL.canParse(value) && /^wss?:/i.test(value);
}

function isFunction(value: unknown): boolean {
  return typeof value === 'function';
}

/** Whether `value` can be given to an RTCPeerConnection; what the URLs say is for that to judge. */
export function isIceServers(value: unknown): value is readonly IceServer[] {
  const isText = (text: unknown) => typeof text === 'string';
  return (
    Array.isArray(value) &&
    value.every((server: { urls?: unknown } | null) => {
      const urls = server?.urls;
      return isText(urls) || (Array.isArray(urls) && urls.every(isText));
    })
  );
}

function isRtc(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { RTCPeerConnection, RTCSessionDescription, RTCIceCandidate } = value as RtcImplementation;
  return [RTCPeerConnection, RTCSessionDescription, RTCIceCandidate].every(isFunction);
}

function describe(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value) : String(value);
}
