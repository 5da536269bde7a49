import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { root } from '../scripts/workspace.mjs';
import { table } from './statistics.mjs';

const LARGEST_COUNT = 20;
const CORE = ['join', 'oldestNode', 'memory'];

/** What a user's bundler makes of an import, minified and gzipped. */
export async function run({ isSmoke }) {
  const core = await gzipBytes([use('@doyen/core', CORE)]);
  const withTabs = [use('@doyen/core', CORE), use('@doyen/core/tabs', ['tabs'])];
  const tabs = (await gzipBytes(withTabs)) - core;
  const quorum = (await gzipBytes([use('@doyen/core', [...CORE, 'quorum'])])) - core;
  const both = [use('@doyen/core', CORE), use('@doyen/webrtc', ['webrtc'])];
  const webrtc = (await gzipBytes(both, ['simple-peer', 'simple-peer/*'])) - core;
  const all = await gzipBytes(both);
  const kilobytes = (bytes) => `${(bytes / 1000).toFixed(2)} kB`;
  table(
    ['imported', 'gzip', 'budget'],
    [
      ['core: `join`, `oldestNode`, `memory`', kilobytes(core), '9 kB'],
      ['added by `tabs`', kilobytes(tabs), '2.5 kB'],
      ['added by `quorum`', kilobytes(quorum), '4 kB'],
      ['added by `webrtc`, without simple-peer', kilobytes(webrtc), '5 kB'],
      ['all of it with simple-peer', kilobytes(all), ''],
    ],
  );
  if (isSmoke) return;
  console.log('\nThe largest modules, minified, before gzip:\n');
  const { metafile } = await bundle(both, ['simple-peer', 'simple-peer/*']);
  table(['module', 'bytes'], largest(metafile));
}

function largest(metafile) {
  const [{ inputs }] = Object.values(metafile.outputs);
  return Object.entries(inputs)
    .map(([file, { bytesInOutput }]) => [file.replace(/^.*node_modules\//, ''), bytesInOutput])
    .sort((one, other) => other[1] - one[1])
    .slice(0, LARGEST_COUNT);
}

export function use(from, names) {
  return `export { ${names.join(', ')} } from '${from}';`;
}

export async function gzipBytes(lines, external) {
  const { outputFiles } = await bundle(lines, external);
  return gzipSync(outputFiles[0].contents, { level: 9 }).length;
}

function bundle(lines, external = []) {
  return build({
    stdin: { contents: lines.join('\n'), resolveDir: path.join(root, 'bench') },
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    legalComments: 'none',
    external,
    metafile: true,
    absWorkingDir: root,
  });
}
