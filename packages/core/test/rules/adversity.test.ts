// Faults that need no liar: dead links, slow clocks, stalls and restarts, each at the worst moment.
import { describe, expect, it } from 'vitest';
import type { Simulation } from '../../src/testing/simulate.ts';
import { instancesOf, linkedTrio, MachineNetwork } from '../machine/machine-network.ts';
import { cluster, follows } from './cluster.ts';

describe('members under adversity', () => {
  it('M1: a duplicate that is refused does not shut the living one out where no link leads to it', () => {
    const network = linkedTrio();
    network.add('x', 'x-1', 9000);
    network.link('x-1', 'b-1', 'c-1');
    network.run(6000);
    network.add('x', 'x-2', 9500);
    network.link('x-2', 'a-1', 'b-1', 'c-1', 'x-1');
    network.run(600_000);
    expect(network.at('x-2').state).toBe('failed');
    for (const instance of ['a-1', 'b-1', 'c-1']) {
      expect(instancesOf(network.at(instance))).toContain('x-1');
    }
  });

  it('M1: a duplicate does not take the place of the living one where a round takes 1.1 s', () => {
    const network = linkedTrio();
    network.add('x', 'x-1', 9000);
    network.link('x-1', 'a-1', 'b-1', 'c-1');
    network.run(8000);
    network.latencyMs = 550;
    network.run(8000);
    network.add('x', 'x-2', 9500);
    network.link('x-2', 'a-1', 'b-1', 'c-1', 'x-1');
    network.run(600_000);
    for (const instance of ['a-1', 'b-1', 'c-1']) {
      expect(instancesOf(network.at(instance))).toContain('x-1');
    }
  });

  it('M4, M10: links that die a minute apart do not isolate a node that everybody hears', async () => {
    const sim = cluster({ nodes: 4 });
    await sim.run(8000);
    const links = [
      ['n1', 'n3'],
      ['n1', 'n4'],
      ['n3', 'n4'],
    ] as const;
    for (const [a, b] of links) {
      sim.net.cut(a, b);
      await sim.run(60_000);
    }
    await sim.run(600_000);
    expect(sim.node('n1').state).toBe('joined');
    sim.crash('n1');
    const isLedByNext = () => sim.running.every((id) => leaderOf(sim, id) === 'n2');
    await sim.runUntil(isLedByNext, { withinMs: 8000 });
  });

  it('M4: in a cluster of 14 a dead link is found, and gone round, within seconds', async () => {
    const sim = cluster({ seed: 5, nodes: 14 });
    await sim.run(40_000);
    sim.net.cut('n2', 'n3');
    const linkToN3 = () => sim.node('n2').members.find(({ id }) => id === 'n3')?.link;
    await sim.runUntil(() => linkToN3() === 'relayed', { withinMs: 6000 });
  });
});

describe('elections under adversity', () => {
  it('E2: a newcomer with a slow clock does not win by an epoch that it raised alone', async () => {
    const sim = cluster();
    await sim.run(60_000);
    sim.add('n4', { clock: { jumpMs: -3_600_000 } });
    sim.net.partition([['n1', 'n2', 'n3'], ['n4']]);
    await sim.run(5000);
    // Alone, it stalls once, which ends its term, and claims anew.
    sim.pause('n4');
    await sim.run(3000);
    sim.resume('n4');
    await sim.run(2000);
    expect(sim.node('n4').leadership.epoch).toBeGreaterThan(sim.node('n1').leadership.epoch);
    sim.net.heal();
    await sim.run(60_000);
    expect(follows(sim, 'n1')).toBe(true);
  });

  it('E11: a floor far above the running epoch does not split the cluster for ever', () => {
    const network = new MachineNetwork();
    network.add('a', 'a-1', 1000);
    network.add('c', 'c-1', 3000);
    network.link('a-1', 'c-1');
    network.run(6000);
    network.add('b', 'b-1', 2000).setFloor(2_000_000, network.now);
    network.link('a-1', 'b-1');
    network.run(1000);
    network.link('b-1', 'c-1');
    network.run(5000);
    network.at('a-1').leave(network.now);
    network.run(600_000);
    expect(network.at('c-1').leader?.instance).toBe('b-1');
  });
});

describe('applications under adversity', () => {
  it('Q10: each of several transfers settles, also when its giver leaves meanwhile', async () => {
    const sim = cluster({ nodes: 4 });
    await sim.run(6000);
    sim.crash('n2');
    const transfers = ['n2', 'n3', 'n4'].map((to) => sim.node('n1').leadership.transfer(to));
    let settled = 0;
    for (const transfer of transfers) {
      const count = () => {
        settled += 1;
      };
      transfer.then(count, count);
    }
    await sim.run(60_000);
    sim.leave('n1');
    await sim.run(5000);
    expect(settled).toBe(3);
  });

  it('Q10: work of an old term that fails late does not resign a later term', async () => {
    const sim = cluster();
    await sim.run(6000);
    const { leadership } = sim.node('n1');
    let runs = 0;
    const work = async () => {
      runs += 1;
      if (runs > 1) return;
      await sim.sleep(30_000);
      throw new Error('late');
    };
    const led = leadership.lead(work, { drainMs: 1000 }).catch((error: unknown) => error);
    await sim.run(100);
    sim.freeze('n1');
    await sim.run(3000);
    sim.thaw('n1');
    await sim.run(14_000);
    expect(leadership.isSelf).toBe(true);
    const { epoch } = leadership;
    await sim.run(20_000);
    expect([leadership.isSelf, leadership.epoch]).toEqual([true, epoch]);
    expect(await led).toEqual(new Error('late'));
  });

  it('X1: a stamped message that waits for its channel while the epoch rises is dropped', async () => {
    const sim = cluster();
    await sim.run(6000);
    const isSent = new Promise<void>((resolve) => {
      void sim.node('n1').leadership.lead((term) => {
        term.channel('work').broadcast(Uint8Array.of(7));
        resolve();
      });
    });
    await sim.run(500);
    await isSent;
    sim.leave('n1');
    await sim.run(5000);
    const got: Uint8Array[] = [];
    sim
      .node('n2')
      .channel('work')
      .addEventListener('message', ({ data }) => got.push(data));
    await sim.run(10);
    expect(got).toEqual([]);
  });
});

function leaderOf(sim: Simulation, id: string): string | undefined {
  return sim.node(id).leadership.current?.id;
}
