import { afterEach, expect, test } from 'vitest';
import { Lab } from './lab.ts';
import { Storm } from './storm.ts';

const SEEDS = Number(process.env['DOYEN_YJS_SEEDS'] ?? 20);
const FIRST = Number(process.env['DOYEN_YJS_SEED'] ?? 1);

const labs: Lab[] = [];
afterEach(() => {
  for (const lab of labs.splice(0)) lab.close();
});

function start(seed: number, options: { readonly hasServer: boolean }): Lab {
  const lab = new Lab({ seed, nodes: 2 + (seed % 4), ...options });
  labs.push(lab);
  return lab;
}

for (let seed = FIRST; seed < FIRST + SEEDS; seed += 1) {
  test(`Y2, Y4: after random edits and faults all documents are the server’s (seed ${seed})`, async () => {
    const lab = start(seed, { hasServer: true });
    const storm = new Storm(lab, seed);
    await storm.rage(60_000);
    await storm.calm();
    await lab.sim.runUntil(
      () => lab.isConverged && lab.running.every(({ provider }) => provider.unsynced === 0),
      { withinMs: 120_000 },
    );
    expect(storm.misplaced(), lab.shown()).toEqual([]);
    expect(lab.gate?.counts.leaders).toBe(1);
    expect(lab.wires.open).toBe(1);
    expect(storm.lies).toEqual([]);
  });
}
