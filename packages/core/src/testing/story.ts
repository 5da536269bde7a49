import { type LockRule, lockRule } from '../machine/lock/lock.ts';
import { quorum } from '../machine/quorum/quorum.ts';
import type { Strategy } from '../machine/strategy.ts';
import type { Term } from '../runtime/term.ts';
import { Lineage } from './lineage.ts';
import { agrees, perform, strategyOf } from './script.ts';
import type { SimNode, SimNodeOptions } from './sim-node.ts';
import type { SimulateOptions } from './sim-options.ts';
import { type Simulation, SimulationError, simulate } from './simulate.ts';

/**
 * A simulated cluster, told line by line. The first line is `start`: nodes (`n1@200` names its
 * `startedAt`, `n1~-60000` has a wall clock that is so wrong), and `name=value` pairs: `seed`,
 * `latency=5-30`, `strategy=highest-id`, `quorum=n1,n2,n3` (who votes first), with `preVote=off`,
 * `lock=on` (who holds the lock leads), `jitter=on`, and `fence=on`, with which each node works on a
 * fence while it leads. `write n1` does so in its latest term, over or not. `settle` ends a story of
 * faults, and fails when the nodes do not agree in time (`within=5000`); everything else is as in
 * `perform`.
 */
export class Story {
  readonly sim: Simulation;
  readonly #lineage: Lineage;
  readonly #strategy: Strategy;
  /** Where voters decide, who they are in the beginning. */
  readonly #founders: readonly string[];
  readonly #isLocked: boolean;
  /** Instances whose applications do not want them to lead. */
  readonly #unwilling = new Set<string>();
  /** The latest term of each node that works on a fence. */
  readonly #terms = new Map<string, Term>();

  /** @throws TypeError when the line is no `start`. */
  constructor(line: string, options: Pick<SimulateOptions, 'trace' | 'replay'> = {}) {
    const [verb, ...words] = line.trim().split(/\s+/);
    if (verb !== 'start') throw new TypeError(`a story must begin with start, got ${line}`);
    const pairs = words.filter((word) => word.includes('=')).map((word) => word.split('='));
    const values = new Map(pairs.map(([name = '', value = '']) => [name, value]));
    const [low = 10, high = 10] = (values.get('latency') ?? '10-10').split('-').map(Number);
    const rank = strategyOf(values.get('strategy') ?? 'oldest-node');
    this.#founders = values.get('quorum')?.split(',') ?? [];
    const voters = this.#founders;
    this.#isLocked = values.get('lock') === 'on';
    const preVote = values.get('preVote') !== 'off';
    const voting = voters.length > 0 ? () => quorum({ voters, rankBy: rank(), preVote }) : rank;
    const election = this.#isLocked ? simLock : voting;
    this.#strategy = rank();
    this.#lineage = new Lineage(this.#strategy);
    this.sim = simulate({
      ...options,
      seed: Number(values.get('seed') ?? 1),
      nodes: words.filter((word) => !word.includes('=')).map(startOf),
      latencyMs: [low, high],
      jitter: values.get('jitter') === 'on',
      election,
      started: (node, sim) => {
        if (voters.length === 0 && !this.#isLocked) this.#lineage.follow(node);
        if (values.get('fence') === 'on') employ(node, sim, this.#terms);
      },
    });
  }

  async tell(line: string): Promise<void> {
    const [verb, within] = line.trim().split(/\s+/);
    if (verb === 'settle') return this.#settle(Number(within?.split('=')[1] ?? AGREEMENT_MS));
    await this.#perform(line);
    this.#fail(this.#lineage.complaint);
  }

  async #perform(line: string): Promise<void> {
    const [verb, id = '', on] = line.trim().split(/\s+/);
    const isDone = verb === 'candidacy' && this.sim.awake.includes(id);
    if (verb === 'write') this.#write(id);
    else await perform(this.sim, line);
    if (!isDone) return;
    const { instance } = this.sim.node(id);
    if (on === 'on') this.#unwilling.delete(instance);
    else this.#unwilling.add(instance);
  }

  /** What an application does that does not ask whether its term is valid. */
  #write(id: string): void {
    const term = this.#terms.get(id);
    if (term) this.sim.fence('work').admit(term.token);
  }

  /**
   * Ends all faults. Then the nodes must agree in time, on who leads and on every member, and see each
   * other directly. Once also everybody who stood back has come forward, the leader must be the
   * right one, and then no leader may change any more (E10).
   */
  async #settle(withinMs: number): Promise<void> {
    const { sim } = this;
    await this.tell('calm');
    await sim.run(LEAVE_MS);
    await this.#reviveVoters();
    await this.#makeWilling();
    const isAgreed = () => agrees(sim) && isWhole(sim);
    await sim.runUntil(isAgreed, { withinMs });
    await sim.run(STANDING_BACK_MS);
    // What was queued in a pause may still have told of somebody who has ended meanwhile.
    await sim.runUntil(isAgreed, { withinMs });
    this.#fail(this.#lineage.complaint ?? this.#complaint());
    const counts = changeCounts(sim);
    await sim.run(CALM_MS);
    const isCalm = () => counts === changeCounts(sim);
    await sim.runUntil(() => isCalm() && agrees(sim), { withinMs: 0 });
  }

  #fail(complaint: string | null): void {
    if (complaint !== null) throw new SimulationError(`${complaint}\n${this.sim.where()}`);
  }

  /** A majority of the voters must be there again, each with what it has stored. */
  async #reviveVoters(): Promise<void> {
    const { sim } = this;
    if (this.#founders.length === 0) return;
    const named = sim.running.flatMap((id) => sim.node(id).voters.config?.voters ?? []);
    const voters = new Set([...this.#founders, ...named.map(({ id }) => id)]);
    for (const id of voters) {
      await this.tell(`store ${id} ok`);
      const isUp = sim.running.includes(id);
      if (!isUp || sim.node(id).voters.role === 'observer') await this.tell(`restart ${id}`);
    }
    await sim.run(LEAVE_MS);
  }

  /** Somebody must be able to lead. */
  async #makeWilling(): Promise<void> {
    const running = this.sim.running.map((id) => this.sim.node(id));
    const nodes = running.filter(
      ({ voters }) => this.#founders.length === 0 || voters.role === 'voter',
    );
    const [first] = nodes;
    const isAble = nodes.some(({ instance }) => !this.#unwilling.has(instance));
    if (first !== undefined && !isAble) await this.tell(`candidacy ${first.id} on`);
  }

  /** E1, E7: who should lead, if it is not who does. */
  #complaint(): string | null {
    const [first] = this.sim.running.map((id) => this.sim.node(id));
    if (first === undefined) return null;
    const { members, leadership } = first;
    const leader = members.find(({ instance }) => instance === leadership.current?.instance);
    if (leader === undefined) return 'E1: nobody leads';
    const able = members.filter(({ instance }) => !this.#unwilling.has(instance));
    if (!able.includes(leader)) return `E13: ${leader.id} leads, but is no candidate`;
    // Where voters or a lock decide, whoever leads does so until it fails.
    if (this.#founders.length > 0 || this.#isLocked) return null;
    const winner = able.toSorted((a, b) => this.#strategy.compare(a, b))[0];
    if (winner === undefined || winner.instance === leader.instance) return null;
    if (this.#lineage.mayDefend(leadership.epoch, leader.instance, winner)) return null;
    return `E1: ${leader.id} leads in epoch ${leadership.epoch}, but ${winner.id} ranks above it`;
  }
}

/** The rule of `webLock()`; what it opens is the simulator's own lock. */
function simLock(): LockRule {
  return lockRule(() => {
    throw new TypeError('a lock outside of a simulation');
  });
}

/** Work of a leader: while its term is valid, it does something at a resource, five times a second. */
function employ(node: SimNode, sim: Simulation, terms: Map<string, Term>): void {
  let latest: Term | null = null;
  node.leadership.addEventListener('change', (told) => {
    if (latest === null) return;
    const { epoch, signal } = latest;
    sim.observe({ type: 'term', node, epoch, isAborted: signal.aborted, told });
  });
  const work = async (term: Term) => {
    latest = term;
    terms.set(node.id, term);
    const { signal, token } = term;
    while (!signal.aborted) {
      if (term.isValid()) sim.fence('work').admit(token);
      await sim.sleep(WORK_MS, { signal, node: node.id });
    }
  };
  // It ends with its node, however that ends.
  void node.leadership.lead(work).catch(() => undefined);
}

/** Whether every node sees all others alive, each over its own link, and as they see themselves. */
function isWhole(sim: Simulation): boolean {
  const rosters = sim.running.map((id) => {
    const { members } = sim.node(id);
    const isNear = members.every(({ status, link }) => status === 'alive' && link !== 'relayed');
    return isNear && JSON.stringify(members.map((member) => ({ ...member, link: '' })));
  });
  return rosters.every((roster) => roster !== false && roster === rosters[0]);
}

function changeCounts(sim: Simulation): string {
  const counts = sim.running.map((id) => {
    return sim.node(id).events.filter(({ type }) => type === 'change').length;
  });
  return counts.join();
}

function startOf(word: string): { readonly id: string } & SimNodeOptions {
  const [, id = '', mark, value] = /^([^@~]+)(?:([@~])(-?\d+))?$/.exec(word) ?? [];
  if (id === '') throw new TypeError(`no such node in a story: ${word}`);
  if (mark === undefined) return { id };
  return mark === '@' ? { id, startedAt: Number(value) } : { id, clock: { jumpMs: Number(value) } };
}

/** Who was about to leave has done so by then. */
const LEAVE_MS = 1_500;
/** A suspicion window of 20 s, and time to hear of each other again. */
export const AGREEMENT_MS = 30_000;
/** Who has lost the lead stands back for up to 20 s (E8), on a clock that may be slow by a tenth. */
const STANDING_BACK_MS = 23_000;
/** Longer than everything that could still be on its way. */
const CALM_MS = 10_000;
const WORK_MS = 200;
