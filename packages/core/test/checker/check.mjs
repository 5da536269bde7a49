// Visits every state that ballots can come to, within bounds:
//   npm run check [-- --voters 3 --epochs 3 --versions 3 --fence --loss --open-writes]
//   npm run check -- --without votesOnce       how two win one epoch without a rule
// Without bounds all that RESULT.txt shows, which takes some minutes.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const folder = mkdtempSync(path.join(tmpdir(), 'doyen-check-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));

const outfile = path.join(folder, 'check.mjs');
const entry = fileURLToPath(new URL('check.ts', import.meta.url));
await build({ entryPoints: [entry], outfile, bundle: true, format: 'esm', platform: 'node' });
await import(pathToFileURL(outfile).href);
