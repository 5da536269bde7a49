import { oldestNode } from '../../src/machine/strategy.ts';
import type { SimulateOptions, Simulation } from '../../src/testing/simulate.ts';
import { simulate } from '../../src/testing/simulate.ts';

/** A simulated cluster under `oldestNode()`, unless told otherwise. */
export function cluster(options: Partial<SimulateOptions> = {}): Simulation {
  return simulate({ seed: 1, nodes: 3, election: () => oldestNode(), ...options });
}

/** A cluster whose nodes all follow `leader`. */
export async function settled(
  options: Partial<SimulateOptions> = {},
  leader = 'n1',
): Promise<Simulation> {
  const sim = cluster(options);
  await sim.runUntil(() => follows(sim, leader), { withinMs: 10_000 });
  // One round of pings more, so that everybody knows that it is followed.
  await sim.run(2500);
  return sim;
}

/** Whether every running node (or each of `ids`) has `leader` at one and the same epoch. */
export function follows(
  sim: Simulation,
  leader: string | null,
  ids: readonly string[] = sim.running,
): boolean {
  const epochs = new Set(ids.map((id) => sim.node(id).leadership.epoch));
  const isAgreed = ids.every((id) => (sim.node(id).leadership.current?.id ?? null) === leader);
  return isAgreed && epochs.size === 1;
}

/** Whether everybody in `ids` has exactly `ids` in its roster, all alive. */
export function knowsAll(sim: Simulation, ids: readonly string[] = sim.running): boolean {
  return ids.every((id) => {
    const { members } = sim.node(id);
    return members.length === ids.length && members.every(({ status }) => status === 'alive');
  });
}

/** A node's events of one type since `at`. */
export function eventsOf(sim: Simulation, id: string, type: string, at = 0) {
  return sim.node(id).events.filter((event) => event.type === type && event.at >= at);
}
