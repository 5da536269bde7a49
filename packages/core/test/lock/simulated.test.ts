import { describe, expect, it } from 'vitest';
import { withResolvers } from '../../src/runtime/promise.ts';
import { webLock } from '../../src/tabs/index.ts';
import { type SimulateOptions, simulate } from '../../src/testing/index.ts';

/** A cluster under a lock; `n1` leads, and the others wait in the order of their numbers. */
async function led(options: Partial<SimulateOptions> = {}) {
  const exact = { latencyMs: [10, 10], jitter: false } as const;
  const sim = simulate({ seed: 1, nodes: 3, election: () => webLock(), ...exact, ...options });
  await sim.runUntil(() => sim.ids.every((id) => sim.node(id).leadership.current?.id === 'n1'));
  await sim.run(3_000);
  return sim;
}

describe('a simulated cluster under a lock', () => {
  it('B5: one alone leads at once, and the count goes on when all have crashed and start again', async () => {
    const sim = await led({ nodes: 1 });
    sim.crash('n1');
    const again = sim.restart('n1');
    const ms = await sim.runUntil(() => again.leadership.isSelf);
    expect(ms).toBeLessThan(100);
    expect(again.leadership.epoch).toBe(2);
  });

  it('B5: the signal of who was robbed aborts before anything of Doyen calls back', async () => {
    const sim = await led();
    const { leadership } = sim.node('n1');
    const order: string[] = [];
    const { promise: ended, resolve } = withResolvers<void>();
    const working = leadership.lead(async ({ signal }) => {
      signal.addEventListener('abort', () => {
        order.push(`${signal.reason.code} ${leadership.isSelf}`);
        resolve();
      });
      await ended;
      order.push('work goes on');
    });
    const told = () => order.push('told');
    leadership.addEventListener('change', told);
    sim.node('n1').addEventListener('memberupdate', told);
    sim.node('n1').channel('app').addEventListener('message', told);
    await sim.run(100);
    sim.pause('n1');
    sim.node('n2').channel('app').broadcast(Uint8Array.of(1));
    await sim.runUntil(() => sim.node('n2').leadership.isSelf);
    expect(leadership.isSelf).toBe(false);
    sim.resume('n1');
    await sim.runUntil(() => leadership.current?.id === 'n2');
    expect(order.slice(0, 2)).toEqual(['stalled false', 'told']);
    sim.leave('n1');
    await sim.run(1_000);
    await working;
  });

  it('B5: one of eight waiters takes the lock from a holder that stands still, and is left alone', async () => {
    const sim = await led({ nodes: 8 });
    sim.pause('n1');
    const ms = await sim.runUntil(() =>
      sim.ids.slice(1).every((id) => sim.node(id).leadership.current?.id === 'n2'),
    );
    expect(ms).toBeLessThan(8_000);
    await sim.run(60_000);
    expect(sim.node('n2').leadership.epoch).toBe(2);
    sim.resume('n1');
    await sim.run(30_000);
    expect(sim.node('n1').leadership.current?.id).toBe('n2');
  });

  it('B5: a waiter that stands still when the lock comes to it is passed over after a bounded wait', async () => {
    const sim = await led();
    sim.pause('n2');
    await sim.run(1_000);
    sim.leave('n1');
    const ms = await sim.runUntil(() => sim.node('n3').leadership.isSelf);
    expect(ms).toBeGreaterThan(4_000);
    expect(ms).toBeLessThan(10_000);
    sim.resume('n2');
    await sim.run(5_000);
    expect(sim.node('n2').leadership.current?.id).toBe('n3');
  });

  it('B5: slow timers do not hide from a leader that it stood still for long enough to be robbed', async () => {
    const sim = await led({ nodes: 1 });
    sim.throttle('n1', 60_000);
    // Alone, with a timer a minute, the last one ten seconds ago: such a gap is no stall to it.
    await sim.run(310_000 - sim.now);
    const other = sim.add('n2');
    await sim.runUntil(() => other.leadership.current?.id === 'n1');
    await sim.run(3_000);
    expect(sim.node('n1').leadership.isSelf).toBe(true);
    sim.pause('n1');
    await sim.runUntil(() => other.leadership.isSelf);
    expect(sim.node('n1').leadership.isSelf).toBe(false);
    const reads: boolean[] = [];
    sim.node('n1').addEventListener('membersuspect', () => {
      reads.push(sim.node('n1').leadership.isSelf);
    });
    sim.resume('n1');
    await sim.runUntil(() => sim.node('n1').leadership.current?.id === 'n2');
    expect(reads).not.toContain(true);
  });

  it('E13: who does not want to lead has no place in the queue, and the last one that does leads', async () => {
    const sim = await led();
    for (const id of ['n1', 'n2']) sim.node(id).leadership.setCandidacy(false);
    await sim.runUntil(() => sim.node('n3').leadership.isSelf, { withinMs: 100 });
    sim.node('n3').leadership.setCandidacy(false);
    await sim.run(30_000);
    expect(sim.node('n1').leadership.current).toBe(null);
    sim.node('n1').leadership.setCandidacy(true);
    await sim.runUntil(() => sim.node('n1').leadership.isSelf, { withinMs: 100 });
  });

  it('X2: who leads after a fence has refused a term counts on above what the fence has seen', async () => {
    const sim = await led({ nodes: 2 });
    const { leadership } = sim.node('n1');
    const refusal = Object.assign(new Error('refused'), { code: 'fenced', high: 40 });
    void leadership.lead(() => Promise.reject(refusal));
    await sim.runUntil(() => sim.node('n2').leadership.isSelf);
    expect(sim.node('n2').leadership.epoch).toBe(42);
  });
});
