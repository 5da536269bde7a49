import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { type RealServer, serve } from '../real-server.ts';

/** A y-websocket server, and under its address the page of the tests, a file and another page. */
export async function openSite(): Promise<RealServer> {
  const script = await buildScript();
  return serve(({ url }, response) => {
    const path = url ?? '/';
    if (path === FILE) response.setHeader('content-disposition', 'attachment; filename="file"');
    response.setHeader('content-type', path === '/main.js' ? 'text/javascript' : 'text/html');
    if (path === '/main.js') response.end(script);
    else response.end(path === AWAY ? '<!doctype html><title>Away</title>' : PAGE);
  });
}

async function buildScript(): Promise<Uint8Array | undefined> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('app/main.ts', import.meta.url))],
    bundle: true,
    write: false,
    format: 'iife',
    conditions: ['doyen-source'],
  });
  return outputFiles[0]?.contents;
}

/** A page where nothing of the tests is. */
export const AWAY = '/away';
/** Something that browsers load down, whether the link says so or only the answer. */
const FILE = '/file';
const PAGE = `<!doctype html><title>Yjs</title><script src="/main.js"></script>
<a id="download" href="/" download="page">Download</a> <a id="attachment" href="${FILE}">File</a>`;
