// A server with a list in a file, guarded by a fence in another file; its folder is the argument.
import { open, readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { nodeGuard, storeFence } from '../../src/fence/index.ts';
import { fileStore } from '../../src/store/index.ts';

const folder = process.argv[2] as string;
const list = join(folder, 'list');
const fence = storeFence({ store: fileStore(join(folder, 'mark')) });

const server = createServer(
  nodeGuard({ fence }, async ({ url }, response, guarded) => {
    if (guarded) await append(`${new TextDecoder().decode(guarded.body)}\n`);
    response.statusCode = url === '/fails' ? 500 : 200;
    response.end(guarded ? '' : await readFile(list, 'utf8').catch(() => ''));
  }),
);

async function append(line: string): Promise<void> {
  const file = await open(list, 'a');
  try {
    await file.writeFile(line);
    await file.sync();
  } finally {
    await file.close();
  }
}

server.listen(0, '127.0.0.1', () => {
  console.log((server.address() as AddressInfo).port);
});
