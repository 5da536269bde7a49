import { afterEach, describe, expect, test } from 'vitest';
import { Lab, type LabOptions } from './lab.ts';

const labs: Lab[] = [];
afterEach(() => {
  for (const lab of labs.splice(0)) lab.close();
});

function start(options: Partial<LabOptions> = {}): Lab {
  const lab = new Lab({ seed: 1, nodes: 3, ...options });
  labs.push(lab);
  return lab;
}

describe('edits', () => {
  test('Y1: only the leader holds a connection, and followers’ edits reach the server', async () => {
    const lab = start();
    await lab.sim.runUntil(
      () => lab.running.length === 3 && lab.running.every(({ provider }) => provider.synced),
    );
    expect(lab.wires.open).toBe(1);
    for (const { doc, id } of lab.running) doc.getText('text').insert(0, id);
    await lab.sim.runUntil(() => lab.running.every(({ provider }) => provider.unsynced === 0));
    expect(lab.isConverged, lab.shown()).toBe(true);
  });
});
