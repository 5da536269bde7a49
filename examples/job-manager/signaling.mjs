// Where the workers find each other. Not needed once they are linked.
import { createSignalingServer } from '@doyen/signaling/node';

const { url } = await createSignalingServer().listen();
process.send?.({ type: 'listening', url });
process.once('disconnect', () => process.exit());
