import { DoyenError } from '@doyen/core';
import wrtc from '@roamhq/wrtc';
import { describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { Recorder } from '../../core/src/testing/recorder.ts';
import { type WebRtcOptions, webrtc } from '../src/index.ts';

const signaling = 'ws://127.0.0.1:9/v1';

describe('options', () => {
  it.each<readonly [string, unknown, ErrorConstructor]>([
    ['signaling', undefined, TypeError],
    ['signaling', {}, TypeError],
    ['signaling', { signaling: 'http://x' }, TypeError],
    ['signaling', { signaling: 'signal' }, TypeError],
    ['token', { signaling, token: 'secret' }, TypeError],
    ['iceServers', { signaling, iceServers: [{}] }, TypeError],
    ['linksMax', { signaling, linksMax: 0 }, RangeError],
    ['rtc', { signaling, rtc: {} }, TypeError],
    ['WebSocket', { signaling, WebSocket: {} }, TypeError],
    ['secret: not supported yet', { signaling, secret: 'x' }, TypeError],
    ['signalling', { signaling, signalling: 1 }, TypeError],
  ])('W7: a wrong option is named: %s', (name, options, type) => {
    const call = () => webrtc(options as WebRtcOptions);
    expect(call).toThrow(type);
    expect(call).toThrow(name);
  });

  it.each<readonly [string, Partial<WebRtcOptions>]>([
    ['option rtc', { WebSocket }],
    ['option WebSocket', { rtc: wrtc }],
  ])('W7: what the platform lacks is named with the %s that gives it', (name, options) => {
    const platform = globalThis as { WebSocket?: unknown };
    const own = platform.WebSocket;
    platform.WebSocket = undefined;
    try {
      const transport = webrtc({ signaling, ...options });
      const { signal } = new AbortController();
      const start = () =>
        transport.start(new Recorder(), { cluster: 'c', id: 'a', instance: 'a', signal });
      expect(start).toThrow(DoyenError);
      expect(start).toThrow(expect.objectContaining({ code: 'unsupported' }));
      expect(start).toThrow(name);
    } finally {
      platform.WebSocket = own;
    }
  });
});
