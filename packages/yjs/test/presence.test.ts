import { afterEach, describe, expect, test } from 'vitest';
import { Awareness } from 'y-protocols/awareness';
import { doyenProvider } from '../src/index.ts';
import { Lab, type LabOptions, type Outsider, type Tab } from './lab.ts';
import { runAs } from './virtual-platform.ts';

const labs: Lab[] = [];
afterEach(() => {
  for (const lab of labs.splice(0)) lab.close();
});

/** A cluster in which every tab has a name, and somebody who is connected by plain y-websocket. */
async function start(options: Partial<LabOptions> = {}): Promise<Lab & { outsider: Outsider }> {
  const lab = new Lab({ seed: 2, nodes: 3, ...options });
  labs.push(lab);
  await lab.sim.runUntil(
    () => lab.running.length === 3 && lab.running.every(({ provider }) => provider.synced),
  );
  for (const { id } of lab.running) name(lab, id);
  const outsider = lab.enter();
  outsider.provider.awareness.setLocalState({ name: 'outsider' });
  await lab.sim.runUntil(() => everybodySees(lab, outsider, ['n1', 'n2', 'n3', 'outsider']));
  return Object.assign(lab, { outsider });
}

function name(lab: Lab, id: string): void {
  lab.act(id, ({ provider }) => provider.awareness.setLocalStateField('name', id));
}

function names(awareness: Awareness): string[] {
  return [...awareness.getStates().values()].map((state) => String(state['name'])).sort();
}

function everybodySees(lab: Lab, outsider: Outsider, expected: readonly string[]): boolean {
  const all = [...lab.running, outsider].map(({ provider }) => provider.awareness);
  return [...all, lab.serverDoc.awareness].every((one) => String(names(one)) === String(expected));
}

function leaderOf(lab: Lab): Tab {
  if (!lab.leader) throw new Error('nobody leads');
  return lab.leader;
}

/** Everything that an awareness told of being taken away. */
function removals({ provider: { awareness } }: Tab | Outsider): string[] {
  const seen: string[] = [];
  const known = new Map<number, string>();
  awareness.on('change', ({ removed }: { readonly removed: readonly number[] }) => {
    for (const client of removed) seen.push(known.get(client) ?? 'somebody');
  });
  for (const [client, state] of awareness.getStates()) known.set(client, String(state['name']));
  return seen;
}

describe('who is there', () => {
  test('Y3: a tab is seen by all without having said anything of itself', async () => {
    const lab = new Lab({ seed: 3, nodes: 3 });
    labs.push(lab);
    await lab.sim.runUntil(() => lab.running.every(({ provider }) => provider.synced));
    await lab.sim.runUntil(
      () => lab.running.every(({ provider }) => provider.awareness.getStates().size === 3),
      { withinMs: 2_000 },
    );
    expect(lab.serverDoc.awareness.getStates().size).toBe(3);
  });

  test('Y3: when the leader dies, its cursor goes everywhere and all others are back at once', async () => {
    const lab = await start();
    const victim = leaderOf(lab).id;
    const rest = ['n1', 'n2', 'n3', 'outsider'].filter((id) => id !== victim);
    const seen = lab.followers.map(removals);
    lab.crash(victim);
    lab.sim.proof(victim);
    await lab.sim.runUntil(() => lab.leader !== undefined);
    await lab.sim.runUntil(() => everybodySees(lab, lab.outsider, rest), { withinMs: 1_000 });
    // Tabs never lost sight of each other, nor of the outsider.
    expect(seen).toEqual([[victim], [victim]]);
  });

  test('Y3: after a reconnection all are seen at once, not with their next renewal', async () => {
    const lab = await start();
    const seen = lab.running.map(removals);
    lab.wires.isReachable = (client) => client === 'outsider';
    for (const wire of lab.wires.of(leaderOf(lab).id)) wire.server.terminate();
    await lab.sim.run(3_000);
    lab.startServer();
    await lab.sim.runUntil(() => lab.running.every(({ provider }) => provider.synced));
    await lab.sim.runUntil(() => everybodySees(lab, lab.outsider, ['n1', 'n2', 'n3', 'outsider']), {
      withinMs: 4_000,
    });
    expect(seen).toEqual([[], [], []]);
  });

  test('Y3: a handover keeps everybody', async () => {
    const lab = await start();
    const first = leaderOf(lab);
    await lab.sim.node(first.id).leadership.resign();
    await lab.sim.runUntil(() => lab.leader !== undefined && lab.leader !== first);
    await lab.sim.runUntil(() => everybodySees(lab, lab.outsider, ['n1', 'n2', 'n3', 'outsider']), {
      withinMs: 1_000,
    });
  });

  test('Y3: a follower that dies is gone everywhere with its membership', async () => {
    const lab = await start();
    const [victim] = lab.followers;
    if (!victim) throw new Error('too few tabs');
    const rest = ['n1', 'n2', 'n3', 'outsider'].filter((id) => id !== victim.id);
    lab.crash(victim.id);
    lab.sim.proof(victim.id);
    await lab.sim.runUntil(() => everybodySees(lab, lab.outsider, rest), { withinMs: 200 });
  });

  test('Y3: when all have left after a handover, no cursor stays behind at the server', async () => {
    const lab = await start();
    while (lab.running.length > 0) {
      lab.sim.leave(leaderOf(lab).id);
      await lab.sim.runUntil(() => lab.running.length === 0 || lab.leader !== undefined);
      await lab.sim.run(1_000);
    }
    expect(names(lab.serverDoc.awareness)).toEqual(['outsider']);
  });

  test('Y3: one that died while there was no connection is not left behind at the server', async () => {
    const lab = await start({ hasGate: false });
    const [victim] = lab.followers;
    const leader = leaderOf(lab);
    if (!victim) throw new Error('too few tabs');
    // The connection breaks, and the server does not notice.
    for (const wire of lab.wires.of(leader.id)) wire.lose();
    lab.crash(victim.id);
    lab.sim.proof(victim.id);
    await lab.sim.run(100);
    expect(names(lab.serverDoc.awareness)).toContain(victim.id);
    const rest = ['n1', 'n2', 'n3', 'outsider'].filter((id) => id !== victim.id);
    await lab.sim.runUntil(() => everybodySees(lab, lab.outsider, rest), { withinMs: 20_000 });
  });

  test('Y3: a connection that the server takes for alive takes nobody with it when it ends', async () => {
    const lab = await start({ hasGate: false });
    const former = leaderOf(lab);
    lab.pause(former.id);
    await lab.sim.runUntil(() => lab.leader !== undefined && lab.leader !== former);
    const rest = ['n1', 'n2', 'n3', 'outsider'].filter((id) => id !== former.id);
    await lab.sim.run(5_000);
    for (const wire of lab.wires.of(former.id)) wire.server.terminate();
    await lab.sim.run(500);
    for (const one of [...lab.running, lab.outsider]) {
      if (one !== former)
        expect(names(one.provider.awareness)).toEqual(expect.arrayContaining(rest));
    }
  });

  test('Y3: a room that is closed takes its user away at once', async () => {
    const lab = await start();
    const [one] = lab.followers;
    if (!one) throw new Error('too few tabs');
    one.provider.destroy();
    const rest = ['n1', 'n2', 'n3', 'outsider'].filter((id) => id !== one.id);
    await lab.sim.run(200);
    for (const other of [...lab.running, lab.outsider]) {
      if (other !== one) expect(names(other.provider.awareness)).toEqual(rest);
    }
  });

  test('Y3: a room that is opened again with the same awareness shows outsiders at once', async () => {
    const lab = await start();
    const [one] = lab.followers;
    if (!one) throw new Error('too few tabs');
    const { awareness, room } = one.provider;
    const options = {
      node: lab.sim.node(one.id),
      room,
      url: 'ws://server',
      WebSocket: lab.wires.socketClass(one.id),
    };
    lab.act(one.id, ({ provider }) => provider.destroy());
    const given = runAs(one.id, () => new Awareness(one.doc));
    const open = () =>
      runAs(one.id, () => doyenProvider(one.doc, { ...options, awareness: given }));
    const first = open();
    await lab.sim.run(500);
    expect(names(given)).toContain('outsider');
    first.destroy();
    expect(awareness.getStates().size).toBe(0);
    expect(given.getStates().size).toBe(1);
    const second = open();
    await lab.sim.run(500);
    expect(names(given)).toContain('outsider');
    second.destroy();
    given.destroy();
  });

  test('Y3: a hidden tab whose timers come once a minute does not flicker', async () => {
    const lab = await start();
    const [hidden] = lab.followers;
    if (!hidden) throw new Error('too few tabs');
    const seen = [...lab.running, lab.outsider].map(removals);
    lab.sim.throttle(hidden.id, 60_000);
    await lab.sim.run(150_000);
    expect(seen.flat()).toEqual([]);
  });

  test('Y3: an outsider is seen in all tabs, and its end, too', async () => {
    const lab = await start();
    lab.outsider.provider.awareness.setLocalStateField('name', 'renamed');
    await lab.sim.runUntil(() => everybodySees(lab, lab.outsider, ['n1', 'n2', 'n3', 'renamed']), {
      withinMs: 200,
    });
    lab.outsider.close();
    await lab.sim.run(200);
    for (const { provider } of lab.running) {
      expect(names(provider.awareness)).toEqual(['n1', 'n2', 'n3']);
    }
  });
});
