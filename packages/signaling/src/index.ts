/** Discovery for Doyen: the protocol, and the client that speaks it. Runs wherever a WebSocket does. */
export { Alarm } from './alarm.ts';
export {
  connectSignaling,
  SignalingClient,
  type SignalingOptions,
  type SignalingState,
} from './client.ts';
export {
  type ClientErrorCode,
  LeftEvent,
  PeerEvent,
  ReadyEvent,
  SignalEvent,
  SignalingErrorEvent,
  type SignalingEventMap,
  StateChangeEvent,
} from './events.ts';
export { checkOptions, type Rule, type Rules } from './option-check.ts';
export {
  CLOSE,
  type ClientMessage,
  DATA_BYTES_MAX,
  type ErrorCode,
  type HelloMessage,
  type IceServer,
  isRoomId,
  type LeftReason,
  META_BYTES_MAX,
  NON_RETRYABLE,
  type PeerInfo,
  PING,
  PONG,
  type ServerMessage,
  SUBPROTOCOL,
} from './protocol.ts';
export { roomIdOf } from './room-id.ts';
export type { SocketEvent, WebSocketConstructor, WebSocketLike } from './socket.ts';
