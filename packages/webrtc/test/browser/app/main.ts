import { type DoyenNode, join } from '@doyen/core';
import { Alarm, connectSignaling } from '@doyen/signaling';
import { Recorder } from '../../../../core/src/testing/recorder.ts';
import { webrtc } from '../../../src/index.ts';

/** What a test knows of the connections of a page. */
const connections = {
  /** Those that were made. */
  made: [] as RTCPeerConnection[],
  /** When one was asked for, made or not. */
  dialsMs: [] as number[],
  /** As where a browser gives no more. */
  isRefused: false,
};

class RecordedConnection extends RTCPeerConnection {
  constructor(configuration?: RTCConfiguration) {
    connections.dialsMs.push(performance.now());
    if (connections.isRefused) throw new Error('no more connections');
    super(configuration);
    connections.made.push(this);
  }
}

/** What tests do in a page. */
const page = {
  join,
  webrtc,
  connectSignaling,
  Alarm,
  Recorder,
  nodes: [] as DoyenNode[],
  /** Ends what is not a node. */
  end: new AbortController(),
  rtc: { RTCPeerConnection: RecordedConnection, RTCSessionDescription, RTCIceCandidate },
  connections,
};

export type TestPage = typeof page;

Object.assign(globalThis, { page });
