/** A Doyen transport over WebRTC data channels. */
export type { RtcImplementation, WebRtcOptions } from './options.ts';
export { webrtc } from './transport.ts';
