import { type Fault, faultSchedule } from './fault-schedule.ts';
import { agrees, perform, views } from './script.ts';
import { type Simulation, SimulationError, simulate } from './simulate.ts';

/** Options of {@link runSchedule}. */
export interface ScheduleRunOptions {
  readonly seed: number;
  readonly nodes: number;
  /** How long faults go on, in virtual milliseconds. */
  readonly forMs: number;
  readonly trace?: 'events' | 'messages';
  /** Kinds of faults to leave out. @defaultValue none */
  readonly without?: readonly Fault[];
  /** Another script than the random one: what is left of it when a failure is narrowed down. */
  readonly script?: readonly string[];
}

/** How a run went. */
export interface ScheduleRun {
  readonly script: readonly string[];
  /** A violated rule, or that the nodes did not agree in the end; `null` when all was well. */
  readonly error: SimulationError | null;
  readonly trace: string;
  readonly views: readonly string[];
  readonly summary: string;
}

/**
 * Runs a cluster through random faults; once they are over, all running nodes must agree on one
 * leader, one epoch and one roster within 30 virtual seconds, see each other directly and alive, and
 * soon
 * change no leader any more (E10).
 */
export async function runSchedule(options: ScheduleRunOptions): Promise<ScheduleRun> {
  const { seed, nodes, forMs, trace = 'events', without = [] } = options;
  const replay = `npm run sim -- --seed ${seed} --nodes ${nodes} --seconds ${forMs / 1000}${without.map((fault) => ` --without ${fault}`).join('')}`;
  const sim = simulate({ seed, nodes, trace, replay });
  const script = options.script ?? faultSchedule({ seed, ids: sim.ids, forMs, without });
  const begun = performance.now();
  const error = await outcome(async () => {
    for (const line of script) await perform(sim, line);
    await sim.runUntil(() => agrees(sim) && isWhole(sim), { withinMs: AGREEMENT_MS });
    await sim.run(RESIGNED_MS);
    // What was queued in a pause may still have told of somebody who has ended meanwhile.
    await sim.runUntil(() => agrees(sim) && isWhole(sim), { withinMs: AGREEMENT_MS });
    const counts = sim.running.map((id) => changeCount(sim, id)).join();
    await sim.run(CALM_MS);
    const isCalm = () => counts === sim.running.map((id) => changeCount(sim, id)).join();
    await sim.runUntil(() => isCalm() && agrees(sim), { withinMs: 0 });
  });
  const spent = (performance.now() - begun) / 1000;
  const summary = `${sim.now / 1000} virtual seconds in ${spent.toFixed(2)} s; repeat: ${replay}`;
  return { script, error, trace: sim.trace(), views: views(sim), summary };
}

/**
 * Leaves out lines of a failing script as long as it fails in the same way, so that what matters
 * remains.
 */
export async function shrinkSchedule(failing: ScheduleRunOptions, run: ScheduleRun) {
  let best = run;
  for (let chunk = Math.ceil(run.script.length / 2); chunk >= 1; chunk = Math.floor(chunk / 2)) {
    // The last line ends all faults: without it no cluster could agree.
    for (let at = 0; at < best.script.length - 1; ) {
      const script = best.script.toSpliced(at, Math.min(chunk, best.script.length - 1 - at));
      const shorter = await runSchedule({ ...failing, script }).catch(() => null);
      if (shorter !== null && kindOf(shorter.error) === kindOf(best.error)) best = shorter;
      else at += chunk;
    }
  }
  return best;
}

/** Whether every node sees all others alive, each over its own link. */
function isWhole(sim: Simulation): boolean {
  return sim.running.every((id) => {
    return sim.node(id).members.every(({ status, link }) => {
      return status === 'alive' && link !== 'relayed';
    });
  });
}

function changeCount(sim: Simulation, id: string): number {
  return sim.node(id).events.filter(({ type }) => type === 'change').length;
}

/** The rule that was violated, without who and when. */
function kindOf(error: SimulationError | null): string | undefined {
  return error?.message.slice(0, 3);
}

async function outcome(body: () => Promise<void>): Promise<SimulationError | null> {
  try {
    await body();
    return null;
  } catch (error) {
    if (error instanceof SimulationError) return error;
    throw error;
  }
}

/** A suspicion window of 20 s, and time to hear of each other again. */
const AGREEMENT_MS = 30_000;
/** Who has lost the lead stands back for up to 20 s (E8), and then takes what is its own. */
const RESIGNED_MS = 21_000;
/** Longer than everything that could still be on its way. */
const CALM_MS = 10_000;
