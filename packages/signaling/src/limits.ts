import { shown } from './option-check.ts';

/** What one hub lets its sockets do. Every limit has a documented answer when it is reached. */
export interface SignalingLimits {
  /** Largest frame in bytes of UTF-8; a larger one closes the socket with 1009. */
  readonly messageBytesMax: number;
  /** Time in ms from opening to a valid `hello` (then 4408), and again for `authorize` to answer (then 1013). */
  readonly helloTimeoutMs: number;
  /** Interval in ms at which clients are asked to ping. */
  readonly heartbeatMs: number;
  /** Silence in ms after which a socket is closed (1001) and its member is `away`. */
  readonly idleTimeoutMs: number;
  /** Time in ms for which an `away` member may resume under its id. */
  readonly resumeWindowMs: number;
  /** Members of one room, those `away` included; one more is told `room_full` and closed with 4503. */
  readonly roomPeersMax: number;
  /** Refill of a socket's message bucket; over it a message is dropped with `rate_limited`. */
  readonly messagesPerSec: number;
  /** Size of the message bucket; a debt of the same size closes the socket with 4429. */
  readonly messagesBurst: number;
  /** Refill of a socket's byte bucket, in bytes a second. */
  readonly bytesPerSec: number;
  /** Size of the byte bucket; a debt of the same size closes the socket with 4429. */
  readonly bytesBurst: number;
  /** Malformed messages of one socket: the last one closes it with 4400. */
  readonly badMessagesMax: number;
  /** Sockets that one address may open a minute, in bursts of the same size; then 4429. */
  readonly joinsPerIpPerMin: number;
  /** Open sockets of one address; then 4429. */
  readonly socketsPerIpMax: number;
  /** Open sockets of the hub; then 1013. */
  readonly socketsMax: number;
  /** Rooms of the hub; then 1013. */
  readonly roomsMax: number;
  /** Sockets that have not been let into a room yet; then 1013. */
  readonly pendingHelloMax: number;
  /** Bytes waiting for a slow reader; then 1013. */
  readonly bufferedBytesMax: number;
  /** Delay in ms of the answer to an address's first refused `hello`; doubles with each further one. */
  readonly authDelayMs: number;
  /** Longest such delay in ms. */
  readonly authDelayMaxMs: number;
}

/** The limits of a hub that was told none. */
export const DEFAULT_LIMITS: SignalingLimits = Object.freeze({
  // A data-channel description is a few kB.
  messageBytesMax: 16 * 1024,
  helloTimeoutMs: 5_000,
  // Proxies cut idle sockets after 60 to 100 s.
  heartbeatMs: 25_000,
  idleTimeoutMs: 60_000,
  // A reload or a network change is a blip, not a departure.
  resumeWindowMs: 30_000,
  // A full mesh of 64 has 2,016 links.
  roomPeersMax: 64,
  messagesPerSec: 50,
  // Whoever joins a full room legitimately sends eight messages to every member at once.
  messagesBurst: 8 * 64,
  bytesPerSec: 64 * 1024,
  bytesBurst: 1024 * 1024,
  badMessagesMax: 3,
  // Many users may share one address behind a NAT.
  joinsPerIpPerMin: 120,
  socketsPerIpMax: 64,
  // 40 kB a socket with TLS and kernel buffers make 0.8 GB.
  socketsMax: 20_000,
  roomsMax: 20_000,
  pendingHelloMax: 1_000,
  bufferedBytesMax: 256 * 1024,
  authDelayMs: 100,
  authDelayMaxMs: 25_000,
});

const isLimit = (name: string): name is keyof SignalingLimits =>
  Object.hasOwn(DEFAULT_LIMITS, name);

/**
 * Completes and checks limits. `messagesBurst` follows `roomPeersMax` unless it is given.
 *
 * @throws TypeError for an unknown name or no number, RangeError for anything but a positive safe
 * integer or for an idle timeout that is not longer than the heartbeat.
 */
export function resolveLimits(given: Partial<SignalingLimits> = {}): SignalingLimits {
  const peersMax = given.roomPeersMax ?? DEFAULT_LIMITS.roomPeersMax;
  const limits: Record<string, number> = { ...DEFAULT_LIMITS, messagesBurst: 8 * peersMax };
  for (const [name, value] of Object.entries(given)) {
    if (!isLimit(name)) throw new TypeError(`limits.${name} is no option`);
    if (value === undefined) continue;
    if (typeof value !== 'number')
      throw new TypeError(`limits.${name} must be a number, got ${shown(value)}`);
    if (!Number.isSafeInteger(value) || value < 1)
      throw new RangeError(`limits.${name} must be a positive integer, got ${value}`);
    limits[name] = value;
  }
  const resolved = limits as unknown as SignalingLimits;
  if (resolved.idleTimeoutMs <= resolved.heartbeatMs)
    throw new RangeError(
      `limits.idleTimeoutMs must be more than heartbeatMs (${resolved.heartbeatMs}), got ${resolved.idleTimeoutMs}`,
    );
  return Object.freeze(resolved);
}
