import { DoyenError } from '@doyen/core';
import wrtc from '@roamhq/wrtc';
import { describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { Recorder } from '../../core/src/testing/recorder.ts';
import { type WebRtcOptions, webrtc } from '../src/index.ts';

const signaling = 'ws://127.0.0.1:9/v1';

describe('options', () => {
  it.each<readonly [unknown, ErrorConstructor, string]>([
    [undefined, TypeError, 'options must be an object, got undefined'],
    [{}, TypeError, 'signaling must be a ws: or wss: address, got undefined'],
    [
      { signaling: 'http://x' },
      RangeError,
      'signaling must be a ws: or wss: address, got "http://x"',
    ],
    [{ signaling: 'signal' }, RangeError, 'signaling must be a ws: or wss: address, got "signal"'],
    [{ signaling, token: 'secret' }, TypeError, 'token must be a function, got "secret"'],
    [
      { signaling, iceServers: [{}] },
      TypeError,
      'iceServers must be an array of { urls } or a function, got an array',
    ],
    [{ signaling, linksMax: 0 }, RangeError, 'linksMax must be a positive integer, got 0'],
    [{ signaling, linksMax: '1' }, TypeError, 'linksMax must be a positive integer, got "1"'],
    [
      { signaling, rtc: {} },
      TypeError,
      'rtc must be { RTCPeerConnection, RTCSessionDescription, RTCIceCandidate }, got an object',
    ],
    [{ signaling, WebSocket: {} }, TypeError, 'WebSocket must be a class, got an object'],
    [{ signaling, secret: 'x' }, TypeError, 'secret is not supported yet; links would be open'],
    [{ signaling, signalling: 1 }, TypeError, 'signalling is no option'],
  ])('W7: the wrong options %j are named', (options, type, message) => {
    expect(refusalOf(() => webrtc(options as WebRtcOptions))).toEqual([type, message]);
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

/** What is thrown, by its class and its words. */
function refusalOf(act: () => unknown): [unknown, string] {
  try {
    act();
  } catch (error) {
    return [(error as Error).constructor, (error as Error).message];
  }
  throw new Error('expected a refusal');
}
