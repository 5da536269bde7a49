import { type DoyenNode, join, memory } from '@doyen/core';
import { type FaultyTransport, faults } from '@doyen/core/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { MemoryNetwork } from '../../src/transport/memory.ts';

const nodes: DoyenNode[] = [];

afterEach(async () => {
  await Promise.all(nodes.splice(0).map((node) => node.leave()));
});

describe('nodes over faulty transports', () => {
  it('E13, M9: a frozen leader has handed over, and follows when it is thawed', async () => {
    const { leader, others } = await cluster();
    const [next, last] = others;
    leader.transport.freeze();
    expect(leader.node.leadership.isSelf).toBe(false);
    await leads(next.node);
    await follows(last.node, next.node);
    expect(leader.node.leadership.epoch).toBe(1);
    leader.transport.thaw();
    await follows(leader.node, next.node);
    expect(leader.node.leadership.epoch).toBe(2);
  });

  it('M4: a member to which the link is cut is reached over another one', async () => {
    const { leader, others } = await cluster();
    const [cut] = others;
    leader.transport.cut(cut.node.id);
    await once(leader.node, 'linkchange');
    const member = leader.node.members.find(({ id }) => id === cut.node.id);
    expect(member).toMatchObject({ link: 'relayed', status: 'alive' });
    const heard = once(cut.node.channel('work'), 'message');
    leader.node.channel('work').send(cut.node.id, Uint8Array.of(7));
    expect(await heard).toMatchObject({ from: { id: leader.node.id }, data: Uint8Array.of(7) });
  }, 20_000);
});

interface Member {
  readonly node: DoyenNode;
  readonly transport: FaultyTransport;
}

/** Three nodes that agree on the first. */
async function cluster(): Promise<{ leader: Member; others: [Member, Member] }> {
  const network = new MemoryNetwork();
  const start = async (id: string, startedAt: number): Promise<Member> => {
    const transport = faults(memory({ network }));
    const detection = { heartbeatIntervalMs: 250 };
    const node = await join({ cluster: 'faulty', id, startedAt, transport, detection });
    nodes.push(node);
    return { node, transport };
  };
  const leader = await start('a', 1);
  const others: [Member, Member] = [await start('b', 2), await start('c', 3)];
  await leads(leader.node);
  for (const { node } of others) await follows(node, leader.node);
  return { leader, others };
}

function leads(node: DoyenNode): Promise<void> {
  return until(node, () => node.leadership.isSelf);
}

function follows(node: DoyenNode, leader: DoyenNode): Promise<void> {
  return until(node, () => node.leadership.current?.instance === leader.instance);
}

function once(target: Pick<EventTarget, 'addEventListener'>, type: string): Promise<Event> {
  return new Promise((resolve) => target.addEventListener(type, resolve, { once: true }));
}

/** Resolves when it is so, looking at every change. */
async function until(node: DoyenNode, isMet: () => boolean): Promise<void> {
  while (!isMet()) {
    await new Promise((resolve) => {
      node.leadership.addEventListener('change', resolve, { once: true });
    });
  }
}
