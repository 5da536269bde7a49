import { afterEach, describe, expect, test } from 'vitest';
import { Lab, type LabOptions, type Tab } from './lab.ts';

const labs: Lab[] = [];
afterEach(() => {
  for (const lab of labs.splice(0)) lab.close();
});

/** A cluster that has found its leader and the server. */
async function start(options: Partial<LabOptions> = {}): Promise<Lab> {
  const lab = new Lab({ seed: 1, nodes: 3, ...options });
  labs.push(lab);
  await lab.sim.runUntil(() => isReady(lab));
  return lab;
}

function isReady({ running, sim }: Lab): boolean {
  return running.length === sim.running.length && running.every(({ provider }) => provider.synced);
}

function leaderOf(lab: Lab): Tab {
  if (!lab.leader) throw new Error('nobody leads');
  return lab.leader;
}

function write(lab: Lab, { id }: Tab, text: string): void {
  lab.act(id, ({ doc }) => doc.getText('text').insert(0, text));
}

/** Until every tab shows `text` once and has nothing unsynced, and the server has the same. */
async function everywhere(lab: Lab, ...texts: readonly string[]): Promise<void> {
  const count = (text: string, piece: string) => text.split(piece).length - 1;
  await lab.sim.runUntil(() => {
    if (!lab.isConverged || lab.running.some(({ provider }) => provider.unsynced > 0)) return false;
    const text = lab.running[0]?.doc.getText('text').toString() ?? '';
    return texts.every((piece) => count(text, piece) === 1);
  });
}

describe('the connection', () => {
  test('Y1: ten tabs have one connection, the leader’s, and each edit takes it', async () => {
    const lab = await start({ nodes: 10 });
    expect(lab.wires.open).toBe(1);
    expect(lab.wires.of(leaderOf(lab).id)).toHaveLength(1);
    for (const tab of lab.running) write(lab, tab, `<${tab.id}>`);
    await everywhere(lab, ...lab.running.map(({ id }) => `<${id}>`));
  });

  test('Y1: it carries cluster, epoch and holder, and moves with the lead', async () => {
    const lab = await start();
    const first = leaderOf(lab);
    await lab.sim.node(first.id).leadership.resign();
    await lab.sim.runUntil(() => lab.leader !== undefined && lab.leader !== first && isReady(lab));
    const [url, ...more] = lab.wires.urls.slice(-1);
    const { leadership, instance } = lab.sim.node(leaderOf(lab).id);
    expect(more).toEqual([]);
    expect(Object.fromEntries(new URL(url ?? '').searchParams)).toEqual({
      'doyen-cluster': 'sim',
      'doyen-epoch': String(leadership.epoch),
      'doyen-holder': instance,
    });
    expect(lab.wires.open).toBe(1);
  });

  test('Y1: the server has one connection at most at any moment of a handover', async () => {
    const lab = await start({ hasGate: false });
    let most = 0;
    const leader = leaderOf(lab);
    void lab.sim.node(leader.id).leadership.resign();
    await lab.sim.runUntil(() => {
      most = Math.max(most, lab.wires.open);
      return lab.leader !== undefined && lab.leader !== leader && isReady(lab);
    });
    expect(most).toBe(1);
  });
});

describe('edits', () => {
  test('Y2: what is written while nobody leads is everywhere when somebody does', async () => {
    const lab = await start({ nodes: 4 });
    lab.crash(leaderOf(lab).id);
    await lab.sim.run(1_000);
    for (const tab of lab.running) write(lab, tab, `<${tab.id}>`);
    await lab.sim.run(200);
    expect(lab.leader).toBeUndefined();
    await everywhere(lab, ...lab.running.map(({ id }) => `<${id}>`));
  });

  test('Y2: a leader’s last edit outlives it, though the server never got it', async () => {
    const lab = await start();
    const leader = leaderOf(lab);
    for (const wire of lab.wires.of(leader.id)) wire.hold();
    write(lab, leader, '<last>');
    await lab.sim.run(100);
    lab.crash(leader.id);
    expect(lab.serverDoc.getText('text').toString()).not.toContain('<last>');
    await everywhere(lab, '<last>');
  });

  test('Y2: what is written offline is everywhere once the server is back', async () => {
    const lab = await start();
    lab.stopServer();
    await lab.sim.runUntil(() =>
      lab.running.every(({ provider }) => provider.status !== 'connected'),
    );
    for (const tab of lab.running) write(lab, tab, `<${tab.id}>`);
    await lab.sim.run(20_000);
    expect(lab.running.map(({ provider }) => provider.unsynced)).toEqual([1, 1, 1]);
    lab.startServer();
    await everywhere(lab, ...lab.running.map(({ id }) => `<${id}>`));
  });

  test('Y2: two halves that were cut off from each other come together', async () => {
    const lab = await start({ nodes: 4 });
    lab.sim.net.partition([
      ['n1', 'n2'],
      ['n3', 'n4'],
    ]);
    await lab.sim.run(30_000);
    for (const tab of lab.running) write(lab, tab, `<${tab.id}>`);
    await lab.sim.run(10_000);
    lab.sim.net.heal();
    await everywhere(lab, ...lab.running.map(({ id }) => `<${id}>`));
    expect(lab.wires.open).toBe(1);
  });

  test('Y2: a newcomer gets everything, and what it brings is everywhere', async () => {
    const lab = await start();
    write(lab, leaderOf(lab), '<old>');
    await everywhere(lab, '<old>');
    lab.prepare('n4', (doc) => doc.getText('text').insert(0, '<brought>'));
    lab.sim.add('n4');
    await lab.sim.runUntil(() => isReady(lab));
    await everywhere(lab, '<old>', '<brought>');
  });

  test('Y2: the leader passes on at once what a newcomer brings', async () => {
    const lab = await start({ nodes: 4 });
    let isThere = 0;
    for (const { doc } of lab.followers) {
      doc.getText('text').observe(() => {
        isThere += 1;
      });
    }
    lab.prepare('n5', (doc) => doc.getText('text').insert(0, '<brought>'));
    lab.sim.add('n5');
    await lab.sim.runUntil(() => leaderOf(lab).doc.getText('text').length > 0);
    // Long before documents are compared again.
    await lab.sim.runUntil(() => isThere === 3, { withinMs: 200 });
  });

  test('Y2: two that lost their first words to each other come to know of each other', async () => {
    const lab = await start();
    const [one] = lab.followers;
    if (!one) throw new Error('too few tabs');
    lab.sim.add('n4');
    // All that the newcomer and one of the others say to each other is lost.
    const ends = [lab.sim.node(one.id), lab.sim.node('n4')];
    const undo = ends.map((node, at) => {
      const other = ends[1 - at]?.id;
      const channel = node.channel(`doyen.yjs.v1/${one.provider.room}`);
      const send = channel.send.bind(channel);
      channel.send = (to, data) => (to === other ? 'sent' : send(to, data));
      return () => Object.assign(channel, { send });
    });
    await lab.sim.runUntil(() => isReady(lab));
    await lab.sim.run(3_000);
    for (const step of undo) step();
    await lab.sim.run(20_000);
    write(lab, one, '<one>');
    await lab.sim.run(200);
    expect(lab.tab('n4').doc.getText('text').toString()).toBe('<one>');
    expect(lab.tab('n4').provider.awareness.getStates().size).toBe(4);
  });

  test('Y2: a member that cannot keep up gets no news for a while, then all of it', async () => {
    const lab = await start();
    const [slow] = lab.followers;
    if (!slow) throw new Error('too few tabs');
    const leader = leaderOf(lab);
    const channel = lab.sim.node(leader.id).channel(`doyen.yjs.v1/${leader.provider.room}`);
    const send = channel.send.bind(channel);
    let sentBytes = 0;
    channel.send = (id, data) => {
      if (id !== slow.id) return send(id, data);
      sentBytes += data.length;
      return send(id, data) && 'queued';
    };
    write(lab, leader, 'first');
    await lab.sim.run(1);
    const before = sentBytes;
    for (let at = 0; at < 50; at += 1) write(lab, leader, 'x'.repeat(1_000));
    await lab.sim.run(500);
    expect(sentBytes - before).toBeLessThan(500);
    channel.send = send;
    await lab.sim.runUntil(() => slow.doc.getText('text').length > 50_000);
  });

  test('Y2: a deletion that was lost on its way is found', async () => {
    const lab = await start();
    write(lab, leaderOf(lab), 'abc');
    await everywhere(lab, 'abc');
    const [one, other] = lab.followers;
    if (!one || !other) throw new Error('too few tabs');
    lab.sim.net.loss(1);
    lab.act(one.id, ({ doc }) => doc.getText('text').delete(1, 1));
    await lab.sim.run(100);
    expect(other.doc.getText('text').toString()).toBe('abc');
    lab.sim.net.loss(0);
    await everywhere(lab, 'ac');
  });

  test('Y2: what an observer adds to a remote change is everywhere', async () => {
    const lab = await start();
    const [one, other] = lab.followers;
    if (!one || !other) throw new Error('too few tabs');
    other.doc.getText('text').observe(({ transaction }) => {
      if (!transaction.local) lab.act(other.id, ({ doc }) => doc.getMap('map').set('seen', 1));
    });
    write(lab, one, '<one>');
    await everywhere(lab, '<one>');
    expect(leaderOf(lab).doc.getMap('map').get('seen')).toBe(1);
  });

  test('Y2: a leader that stood still, and was replaced, takes nothing back', async () => {
    const lab = await start();
    const former = leaderOf(lab);
    write(lab, former, '<before>');
    await everywhere(lab, '<before>');
    lab.pause(former.id);
    await lab.sim.runUntil(() => lab.leader !== undefined && lab.leader !== former);
    for (const tab of lab.followers) if (tab !== former) write(lab, tab, `<${tab.id}>`);
    await lab.sim.run(5_000);
    lab.resume(former.id);
    write(lab, former, '<after>');
    await everywhere(lab, '<before>', '<after>');
    expect(lab.wires.open).toBe(1);
  });

  test('Y2: without a server members keep each other equal', async () => {
    const lab = await start({ hasServer: false });
    for (const tab of lab.running) write(lab, tab, `<${tab.id}>`);
    await lab.sim.runUntil(() => lab.isConverged);
    expect(lab.running.map(({ provider }) => provider.status)).toEqual(Array(3).fill('connected'));
    expect(lab.running.map(({ provider }) => provider.unsynced)).toEqual([0, 0, 0]);
    lab.crash(leaderOf(lab).id);
    const [survivor] = lab.running;
    if (survivor) write(lab, survivor, '<survivor>');
    await lab.sim.runUntil(() => lab.isConverged);
  });

  test('Y2: members that have not opened the room get no news of it', async () => {
    const lab = await start();
    const [one] = lab.followers;
    if (!one) throw new Error('too few tabs');
    one.provider.destroy();
    await lab.sim.run(2_000);
    const before = lab.sim.stats(one.id).bytesReceived;
    write(lab, leaderOf(lab), 'x'.repeat(10_000));
    await lab.sim.run(500);
    expect(lab.sim.stats(one.id).bytesReceived - before).toBeLessThan(2_000);
  });
});

describe('what is confirmed', () => {
  test('Y4: unsynced reaches 0 only after the server’s answer, in every tab', async () => {
    const lab = await start();
    const leader = leaderOf(lab);
    for (const wire of lab.wires.of(leader.id)) wire.deafen();
    for (const tab of lab.running) write(lab, tab, `<${tab.id}>`);
    await lab.sim.run(3_000);
    expect(lab.serverDoc.getText('text').toString()).toContain('<n2>');
    expect(lab.running.map(({ provider }) => provider.unsynced)).toEqual([1, 1, 1]);
    for (const wire of lab.wires.of(leader.id)) wire.hear();
    await everywhere(lab, '<n1>', '<n2>', '<n3>');
  });

  test('Y4: a server that drops what it is sent confirms nothing', async () => {
    const lab = await start();
    lab.wires.dropsUpdates = true;
    for (const tab of lab.running) write(lab, tab, `<${tab.id}>`);
    await lab.sim.run(60_000);
    expect(lab.running.map(({ provider }) => provider.unsynced)).toEqual([1, 1, 1]);
    expect(lab.wires.questions).toBeLessThan(40);
  });

  test('Y4: a deletion that the server drops is not confirmed, though it adds nothing', async () => {
    const lab = await start();
    write(lab, leaderOf(lab), 'abc');
    await everywhere(lab, 'abc');
    lab.wires.dropsUpdates = true;
    lab.act(leaderOf(lab).id, ({ doc }) => doc.getText('text').delete(0, 1));
    await lab.sim.run(5_000);
    expect(leaderOf(lab).provider.unsynced).toBe(1);
  });

  test('Y4: a deletion is confirmed like everything else', async () => {
    const lab = await start();
    write(lab, leaderOf(lab), 'abc');
    await everywhere(lab, 'abc');
    const [one] = lab.followers;
    if (!one) throw new Error('too few tabs');
    lab.act(one.id, ({ doc }) => doc.getText('text').delete(0, 1));
    expect(one.provider.unsynced).toBe(1);
    await everywhere(lab, 'bc');
  });

  test('Y4: what was unconfirmed when the leader died is confirmed by the next', async () => {
    const lab = await start();
    const leader = leaderOf(lab);
    for (const wire of lab.wires.of(leader.id)) wire.hold();
    const [one] = lab.followers;
    if (!one) throw new Error('too few tabs');
    write(lab, one, '<one>');
    let isSynced = false;
    void one.provider.whenSynced().then(() => {
      isSynced = true;
    });
    await lab.sim.run(500);
    lab.crash(leader.id);
    await lab.sim.run(100);
    expect([one.provider.unsynced, isSynced]).toEqual([1, false]);
    await lab.sim.runUntil(() => isSynced);
    expect(lab.serverDoc.getText('text').toString()).toContain('<one>');
  });

  test('Y4: whenSynced rejects with the signal’s reason, and with left at the end', async () => {
    const lab = await start();
    lab.stopServer();
    await lab.sim.run(1_000);
    const { provider } = leaderOf(lab);
    const reason = new Error('enough');
    const stop = new AbortController();
    const aborted = provider.whenSynced({ signal: stop.signal });
    const ended = provider.whenSynced();
    stop.abort(reason);
    await expect(aborted).rejects.toBe(reason);
    provider.destroy();
    await expect(ended).rejects.toMatchObject({ code: 'left' });
    await expect(provider.whenSynced()).rejects.toMatchObject({ code: 'left' });
  });

  test('Y4: status and sync are told as y-websocket tells them, in every tab', async () => {
    const lab = await start();
    const told = new Map<string, unknown[]>();
    for (const { id, provider } of lab.running) {
      const events: unknown[] = [];
      told.set(id, events);
      provider.on('status', ({ status }) => events.push(status));
      provider.on('sync', (isSynced) => events.push(isSynced));
    }
    lab.stopServer();
    await lab.sim.run(1_000);
    lab.startServer();
    await lab.sim.runUntil(() => isReady(lab));
    for (const events of told.values()) {
      expect(events).toEqual(['connecting', false, 'connected', true]);
    }
  });
});
