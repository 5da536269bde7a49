// One worker as a process of the story: with faults to order, and without any of them in its code.
import { faults } from '@doyen/core/testing';
import { webrtc } from '@doyen/webrtc';
import wrtc from '@roamhq/wrtc';
import { WebSocket } from 'ws';
import { openCheckpoints } from '../checkpoints.mjs';
import { startWorker } from '../worker.mjs';

const { id, voters, voteFile, signaling, store } = JSON.parse(process.argv[2]);
const tell = (report) => process.connected && process.send(report);

// Node has no WebRTC of its own, and Node 20 no WebSocket.
const transport = faults(webrtc({ signaling, rtc: wrtc, WebSocket }));
const checkpoints = await openCheckpoints(store);
const { node, finished } = await startWorker({
  id,
  voters,
  voteFile,
  transport,
  checkpoints,
  tell,
});

/** What the story can ask for. */
const orders = {
  cut: (members) => members.map((member) => transport.cut(member)),
  heal: (members) => members.map((member) => transport.join(member)),
  leave: () => node.leave(),
};
process.on('message', ({ order, members }) => orders[order](members));
process.once('disconnect', () => process.exit());

await node.ready();
tell({ type: 'joined' });
// Settled once the node has left. Or the work has failed: then it says goodbye, so that another one
// takes over at once, and its process ends with that error.
await finished.finally(() => node.leave());
process.exit();
