import { join } from '@doyen/core';
import wrtc from '@roamhq/wrtc';
import { WebSocket } from 'ws';
import { webrtc } from '../../src/index.ts';

// A Node process as a member, to be killed. Its one argument is JSON; it says so when it has joined.
const { signaling, ...options } = JSON.parse(process.argv[2] ?? '{}');
await join({ ...options, transport: webrtc({ signaling, rtc: wrtc, WebSocket }) });
console.log('joined');
