import { join } from '@doyen/core';
import { tabs } from '@doyen/core/tabs';

// A worker as a member: joins when it is told who it is, and tells who leads.
addEventListener('message', async ({ data }) => {
  const node = await join({ ...data, transport: tabs() });
  node.leadership.addEventListener('change', ({ leader }) => postMessage(leader?.id ?? null));
});
