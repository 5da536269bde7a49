import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { command } from '../../../scripts/command.mjs';

const start = fileURLToPath(new URL('../start.mjs', import.meta.url));
const scratch = mkdtempSync(path.join(tmpdir(), 'doyen-example-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

describe.each([
  { keeper: 'a file behind HTTP', options: [], denials: 1 },
  { keeper: 'Redis', options: ['--redis'], denials: 0 },
])('the job manager, with its checkpoints in $keeper', ({ options, denials }) => {
  it('X2: the late write of a manager that was cut off is refused, and its successor loses and repeats no step', async () => {
    const { code, output } = await tellStory(options);
    expect(code, output).toBe(0);

    const steps = told(output, /^step (\d+), epoch (\d+)$/);
    expect(steps.map(([, step]) => Number(step))).toEqual(STEPS);
    const epochs = steps.map(([, , epoch]) => Number(epoch));
    expect(epochs).toEqual([...epochs].sort((a, b) => a - b));

    const [old, epoch] = told(output, /^step 8, epoch (\d+)$/)[0] ?? [];
    const [next, newer] =
      told(output, /^is the job manager, epoch (\d+): goes on after step 8$/)[0] ?? [];
    expect(next).not.toBe(old);
    expect(Number(newer)).toBeGreaterThan(Number(epoch));
    const plot = [
      `${old} step 8, epoch ${epoch}`,
      `network delays a write of ${old} to the store`,
      `network is cut between ${old} and `,
      `${old} is no job manager any more, epoch ${epoch}: `,
      `${next} is the job manager, epoch ${newer}: goes on after step 8`,
      `${next} step 9, epoch ${newer}`,
      `network delivers the late write of ${old}`,
      `${old} is refused step 9, epoch ${epoch}: stale, the fence is at epoch `,
      `network is whole again between ${old} and `,
      `${old} follows `,
    ];
    expect(inOrder(linesOf(output), plot)).toEqual(plot);

    const high = told(output, /^is refused .* at epoch (\d+)$/)[0]?.[1];
    const answers = told(output, /^answers 412 Precondition Failed, Doyen-Fence-High: (\d+)$/);
    expect(answers).toEqual(Array(denials).fill(['store', high]));
    expect(output).toMatch(/^Steps {4}24 written of 24: 1–8 by /m);
  });
});

describe('the job manager', () => {
  it('X2: without a fence, the late write of the same story repeats a step', async () => {
    const { code, output } = await tellStory(['--unfenced']);
    expect(code, output).toBe(1);
    expect(output).toContain('This should not be: step 9 was repeated');
  });
});

const STEPS = Array.from({ length: 24 }, (_, index) => index + 1);

/** Runs the one command, and sees that it leaves nothing behind. */
async function tellStory(options: readonly string[]) {
  const ended = await command(process.execPath, [start, ...options], {
    // The story ends itself after 60 s; before it there is the build.
    limitMs: 110_000,
    quiet: true,
    env: { TMPDIR: scratch },
  });
  expect(readdirSync(scratch)).toEqual([]);
  return ended;
}

/** What was told, without the times: a name and what it does. */
function linesOf(output: string): string[] {
  const lines = output.split('\n').map((line) => /^ *[\d.]+ s {2}(\w+) +(.*)$/.exec(line));
  return lines.flatMap((line) => (line ? [`${line[1]} ${line[2]}`] : []));
}

/** Who said so, and what the groups of the pattern caught. */
function told(output: string, pattern: RegExp): string[][] {
  return linesOf(output).flatMap((line) => {
    const [name = '', ...words] = line.split(' ');
    const match = pattern.exec(words.join(' '));
    return match ? [[name, ...match.slice(1)]] : [];
  });
}

/** Those beginnings that are found, each in a line behind that of the one before. */
function inOrder(lines: readonly string[], beginnings: readonly string[]): string[] {
  let from = 0;
  return beginnings.filter((beginning) => {
    const at = lines.findIndex((line, index) => index >= from && line.startsWith(beginning));
    if (at >= 0) from = at + 1;
    return at >= 0;
  });
}
