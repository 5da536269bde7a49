import { afterEach, expect, test } from 'vitest';
import type { Awareness } from 'y-protocols/awareness';
import { Lab, type LabOptions } from './lab.ts';
import { Storm } from './storm.ts';

const FIRST = Number(process.env['DOYEN_YJS_SEED'] ?? 1);
const COUNT = Number(process.env['DOYEN_YJS_SEEDS'] ?? 16);
const SEEDS = Array.from({ length: COUNT }, (_, at) => FIRST + at);

const labs: Lab[] = [];
afterEach(() => {
  for (const lab of labs.splice(0)) lab.close();
});

/** A minute of random edits and faults; then all is well again. */
async function storm(seed: number, options: Partial<LabOptions>) {
  const lab = new Lab({ seed, nodes: 2 + (seed % 4), ...options });
  labs.push(lab);
  const weather = new Storm(lab, seed);
  await weather.rage(60_000);
  await weather.calm();
  return { lab, weather };
}

function clientsIn(awareness: Awareness): string {
  return String([...awareness.getStates().keys()].sort());
}

test.each(SEEDS)(
  'Y2, Y3, Y4: after any faults all is the same everywhere (seed %d)',
  async (seed) => {
    const { lab, weather } = await storm(seed, { fallback: seed % 2 === 0 });
    await lab.sim.runUntil(
      () => lab.isConverged && lab.running.every(({ provider }) => provider.unsynced === 0),
      { withinMs: 120_000 },
    );
    expect(weather.misplaced(), lab.shown()).toEqual([]);
    expect(weather.lies).toEqual([]);
    await lab.sim.runUntil(() => lab.wires.open === 1 && lab.gate?.counts.guests === 0);
    expect(lab.gate?.counts.leaders).toBe(1);
    // States whose end nobody was left to tell live on for half a minute.
    await lab.sim.runUntil(
      () => {
        const present = String(lab.running.map(({ doc }) => doc.clientID).sort());
        const all = [lab.serverDoc, ...lab.running.map(({ provider }) => provider)];
        return all.every(({ awareness }) => clientsIn(awareness) === present);
      },
      { withinMs: 40_000 },
    );
  },
);

test.each(SEEDS.slice(0, COUNT / 4))('Y2: without a server, too (seed %d)', async (seed) => {
  const { lab, weather } = await storm(seed, { hasServer: false });
  await lab.sim.runUntil(() => lab.isConverged, { withinMs: 120_000 });
  expect(weather.misplaced(), lab.shown()).toEqual([]);
});
