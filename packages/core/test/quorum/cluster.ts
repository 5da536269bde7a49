import { type QuorumOptions, quorum } from '../../src/machine/quorum/quorum.ts';
import type { Term } from '../../src/runtime/term.ts';
import type { SimNode } from '../../src/testing/sim-node.ts';
import { type SimulateOptions, type Simulation, simulate } from '../../src/testing/simulate.ts';

/** What the test knows better than the node: its own options of `quorum()`, and those of the rest. */
export interface VotingOptions extends Partial<SimulateOptions> {
  /** Of `quorum()`; voters are n1 to n3 unless given. */
  readonly vote?: Partial<QuorumOptions>;
}

/** A simulated cluster whose voters decide, not yet begun. */
export function voting({ vote, ...options }: VotingOptions = {}): Simulation {
  const voters = ['n1', 'n2', 'n3'];
  return simulate({
    seed: 1,
    nodes: vote?.voters ?? voters,
    election: () => quorum({ voters, ...vote }),
    ...options,
  });
}

/** The same, led by whoever was elected, and everybody has heard of it. */
export async function led(options: VotingOptions = {}): Promise<Simulation> {
  const sim = voting(options);
  await sim.runUntil(() => isLed(sim), { withinMs: 20_000 });
  await sim.run(1000);
  return sim;
}

/** Whether all that run, or `ids`, follow one leader at one epoch, and it says that it leads. */
export function isLed(sim: Simulation, ids: readonly string[] = sim.running): boolean {
  const leader = leaderOf(sim, ids);
  if (leader === null) return false;
  const { epoch } = sim.node(leader).leadership;
  return ids.every((id) => {
    const { current, epoch: known } = sim.node(id).leadership;
    return current?.id === leader && known === epoch;
  });
}

/** Whoever of `ids` says that it leads; `null` when nobody does. */
export function leaderOf(sim: Simulation, ids: readonly string[] = sim.running): string | null {
  return ids.find((id) => sim.node(id).leadership.isSelf) ?? null;
}

/** Somebody leads; gives who. */
export async function nextLeader(
  sim: Simulation,
  ids?: readonly string[],
  withinMs = 15_000,
): Promise<string> {
  await sim.runUntil(() => isLed(sim, ids), { withinMs });
  return leaderOf(sim, ids) as string;
}

/** All but `ids`, among those that run. */
export function others(sim: Simulation, ...ids: readonly string[]): string[] {
  return sim.running.filter((id) => !ids.includes(id));
}

/** The term of a node that leads, or will; its work ends with it. */
export async function termOf(sim: Simulation, id: string): Promise<Term> {
  let term: Term | undefined;
  const work = (given: Term) => {
    term = given;
    return sim.sleep(1e9, { signal: given.signal });
  };
  void sim
    .node(id)
    .leadership.lead(work)
    .catch(() => undefined);
  await sim.runUntil(() => term !== undefined, { withinMs: 30_000 });
  return term as Term;
}

/** How a promise ended: `done`, the rule or the code of its error; `null` while it is open. */
export function outcomeOf(promise: Promise<unknown>): { readonly value: string | null } {
  const outcome: { value: string | null } = { value: null };
  promise.then(
    () => {
      outcome.value = 'done';
    },
    (error: { rule?: string; code?: string; name: string }) => {
      outcome.value = error.rule ?? error.code ?? error.name;
    },
  );
  return outcome;
}

/** Lets time pass until a promise has ended; gives how, as in `outcomeOf`. */
export async function settle(
  sim: Simulation,
  promise: Promise<unknown>,
  withinMs = 30_000,
): Promise<string> {
  const outcome = outcomeOf(promise);
  await sim.runUntil(() => outcome.value !== null, { withinMs });
  return outcome.value as string;
}

/** A node's events of one type since `at`. */
export function eventsOf(sim: Simulation, id: string, type: string, at = 0) {
  return sim.node(id).events.filter((event) => event.type === type && event.at >= at);
}

/** Ids of the voters as a node knows them. */
export function votersOf(node: SimNode): string {
  return node.voters.config?.voters.map(({ id }) => id).join(' ') ?? 'unknown';
}

/** Lets time pass while nobody but at most one node holds a lease: by a perfect observer. */
export async function runWatched(sim: Simulation, ms: number): Promise<void> {
  const until = sim.now + ms;
  const isOverlapping = () => leadersOf(sim).length > 1;
  await sim.runUntil(
    () => {
      if (isOverlapping())
        throw new Error(`two leases: ${leadersOf(sim).join(' ')}\n${sim.where()}`);
      return sim.now >= until;
    },
    { withinMs: ms },
  );
}

/** All that say that they lead, also while they stand still. */
export function leadersOf(sim: Simulation): string[] {
  return sim.running.filter((id) => sim.node(id).leadership.isSelf);
}
