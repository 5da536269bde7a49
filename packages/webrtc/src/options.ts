import {
  checkOptions as check,
  type IceServer,
  type Rules,
  type WebSocketConstructor,
} from '@doyen/signaling';

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
  if (Object.hasOwn(Object(options), 'secret'))
    throw new TypeError('secret is not supported yet; links would be open');
  check(RULES, options, ['signaling']);
  return { ...options, linksMax: options.linksMax ?? LINKS_MAX };
}

const isFunction = (value: unknown): boolean => typeof value === 'function';
const isText = (value: unknown): value is string => typeof value === 'string';

/** Whether `value` can be given to an RTCPeerConnection; what the URLs say is for that to judge. */
export function isIceServers(value: unknown): value is readonly IceServer[] {
  return Array.isArray(value) && value.every((server) => [server?.urls].flat().every(isText));
}

const RTC = ['RTCPeerConnection', 'RTCSessionDescription', 'RTCIceCandidate'];

const RULES: Rules<WebRtcOptions> = {
  signaling: [
    'string',
    'a ws: or wss: address',
    (value) => isText(value) && URL.canParse(value) && /^wss?:/i.test(value),
  ],
  token: ['function', 'a function', isFunction],
  iceServers: [
    'array',
    'an array of { urls } or a function',
    (value) => isFunction(value) || isIceServers(value),
  ],
  linksMax: [
    'number',
    'a positive integer',
    (value) => Number.isSafeInteger(value) && Number(value) > 0,
  ],
  rtc: [
    'implementation',
    `{ ${RTC.join(', ')} }`,
    (value) => RTC.every((name) => isFunction(Object(value)[name])),
  ],
  WebSocket: ['function', 'a class', isFunction],
};
