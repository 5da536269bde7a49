// The checkpoint store: one resource behind HTTP, in a file, and a fence before it. Its folder is the
// first argument. With `--unfenced` it believes everybody, to show what the fence is good for.
import { createServer } from 'node:http';
import path from 'node:path';
import { nodeGuard, storeFence } from '@doyen/core/fence';
import { fileStore } from '@doyen/core/store';
import { CLUSTER } from './job.mjs';

const [folder, option] = process.argv.slice(2);

const fence =
  option === '--unfenced'
    ? {
        open: async () => undefined,
        admit: async (_token, effect) => effect(),
        high: async () => 0,
      }
    : storeFence({ store: fileStore(path.join(folder, 'mark')), cluster: CLUSTER });

/** What is read and replaced whole: a file that survives crashes. */
const file = fileStore(path.join(folder, 'checkpoint'));
const KEY = 'checkpoint';

// The guard lets one write in at a time, after its token was checked and the mark made durable.
const guarded = nodeGuard({ fence, bodyBytesMax: 16 * 1024 }, async (request, response, write) => {
  const stored = await file.read(KEY);
  if (request.method === 'GET') return response.end(stored ?? 'null');
  if (request.method !== 'PUT' || !write) return response.writeHead(405).end();
  const checkpoint = parsed(write.body);
  if (!checkpoint) return response.writeHead(400).end();
  await file.write(KEY, write.body, stored);
  tell({ type: 'stored', ...checkpoint });
  response.writeHead(204).end();
});

function parsed(body) {
  try {
    return JSON.parse(new TextDecoder().decode(body));
  } catch {
    return undefined;
  }
}

// A write may be on its way for long; until it is here its connection looks idle.
const server = createServer({ keepAliveTimeout: 60_000 }, async (request, response) => {
  try {
    await guarded(request, response);
  } catch (error) {
    console.error('store:', error);
  }
  const { statusCode: status } = response;
  if (status === 412)
    tell({ type: 'denied', status, high: Number(response.getHeader('doyen-fence-high')) });
});

function tell(report) {
  process.send?.(report);
}

server.listen(0, '127.0.0.1', () => {
  tell({ type: 'listening', port: server.address().port });
});
process.once('disconnect', () => process.exit());
