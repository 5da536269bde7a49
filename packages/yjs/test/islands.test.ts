import { afterEach, expect, test } from 'vitest';
import { Lab, type LabOptions } from './lab.ts';

// Two halves of a cluster that cannot hear each other, and reach the same server.

const labs: Lab[] = [];
afterEach(() => {
  for (const lab of labs.splice(0)) lab.close();
});

async function start(options: Partial<LabOptions> = {}): Promise<Lab> {
  const lab = new Lab({ seed: 4, nodes: 4, ...options });
  labs.push(lab);
  await lab.sim.runUntil(
    () =>
      lab.running.length === lab.sim.ids.length &&
      lab.running.every(({ provider }) => provider.synced),
  );
  return lab;
}

/** Cuts the leader and one follower off from the other two; gives a tab of each side. */
async function divide(lab: Lab) {
  const old = lab.leader;
  const [near, ...others] = lab.followers;
  if (!old || !near) throw new Error('too few tabs');
  lab.sim.net.partition([[old.id, near.id], others.map(({ id }) => id)]);
  const isLed = (): boolean => others.some(({ id }) => lab.sim.node(id).leadership.isSelf);
  await lab.sim.runUntil(isLed);
  return { old, near, others };
}

function write(lab: Lab, id: string): void {
  lab.act(id, ({ doc }) => doc.getText('text').insert(0, `<${id}>`));
}

test('Y7: the old leader learns the newer epoch, and does not come back in a hurry', async () => {
  const lab = await start();
  const { old, others } = await divide(lab);
  await lab.sim.runUntil(() => old.faults.length > 0, { withinMs: 1_000 });
  const high = Math.max(...others.map(({ id }) => lab.sim.node(id).leadership.epoch));
  expect(old.faults[0]).toMatchObject({ code: 'fenced', high, closeCode: 4409 });
  expect(old.provider.status).toBe('disconnected');
  const before = lab.wires.urls.length;
  await lab.sim.run(4_900);
  expect(lab.wires.urls.length).toBe(before);
});

test('Y7: with fallback both sides reach the server, one as a guest, and data is the same', async () => {
  const lab = await start({ fallback: true });
  const { old } = await divide(lab);
  await lab.sim.runUntil(() => lab.gate?.counts.guests === 1, { withinMs: 6_000 });
  expect(lab.gate?.counts).toMatchObject({ leaders: 1, guests: 1 });
  await lab.sim.runUntil(() => old.provider.status === 'connected', { withinMs: 100 });
  for (const { id } of lab.running) write(lab, id);
  await lab.sim.runUntil(
    () => lab.isConverged && lab.running.every(({ provider }) => provider.unsynced === 0),
    { withinMs: 2_000 },
  );
  const text = lab.serverDoc.getText('text').toString();
  for (const { id } of lab.running) expect(text.split(`<${id}>`)).toHaveLength(2);
  await lab.sim.run(60_000);
  expect(lab.gate?.counts).toMatchObject({ leaders: 1, guests: 1 });
  lab.sim.net.heal();
  await lab.sim.runUntil(() => lab.gate?.counts.guests === 0 && lab.wires.open === 1);
  expect(lab.gate?.counts).toMatchObject({ leaders: 1, guests: 0 });
});

test('Y7: without fallback the sides take turns, rarely, and lose nothing', async () => {
  const lab = await start();
  await divide(lab);
  const before = lab.wires.urls.length;
  for (let round = 0; round < 12; round += 1) {
    for (const { id } of lab.running) write(lab, id);
    await lab.sim.run(10_000);
    expect(lab.gate?.counts.leaders).toBeLessThanOrEqual(1);
  }
  expect(lab.wires.urls.length - before).toBeLessThan(25);
  lab.sim.net.heal();
  await lab.sim.runUntil(
    () => lab.isConverged && lab.running.every(({ provider }) => provider.unsynced === 0),
  );
  const text = lab.serverDoc.getText('text').toString();
  for (const { id } of lab.running) expect(text.split(`<${id}>`)).toHaveLength(13);
});

test('Y6: a lone tab that is loaded anew is let in at once, though its epochs begin anew', async () => {
  const lab = await start({ nodes: 1 });
  lab.act('n1', ({ doc }) => doc.getText('text').insert(0, 'kept'));
  await lab.sim.runUntil(() => lab.tab('n1').provider.unsynced === 0);
  const first = lab.tab('n1');
  lab.sim.leave('n1');
  await lab.sim.run(2_000);
  lab.sim.restart('n1');
  await lab.sim.runUntil(() => lab.tab('n1') !== first && lab.tab('n1').provider.synced, {
    withinMs: 1_000,
  });
  expect(lab.tab('n1').doc.getText('text').toString()).toBe('kept');
  expect(lab.tab('n1').faults).toEqual([]);
});

test('Y6: a lone tab that crashed is let in again once the gate has forgotten it', async () => {
  const lab = await start({ nodes: 1 });
  const first = lab.tab('n1');
  lab.crash('n1');
  await lab.sim.run(1_000);
  lab.sim.restart('n1');
  await lab.sim.runUntil(() => lab.tab('n1') !== first);
  const { provider, faults } = lab.tab('n1');
  const told: string[] = [];
  provider.on('status', ({ status }) => told.push(status));
  await lab.sim.runUntil(() => provider.synced, { withinMs: 12_000 });
  expect(faults.map(({ code }) => code)).toEqual(['fenced']);
  // Never connected for a moment, though its socket opened before it was closed.
  expect(told).toEqual(['disconnected', 'connecting', 'connected']);
});
