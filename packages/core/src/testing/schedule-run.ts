import { type Fault, faultSchedule } from './fault-schedule.ts';
import { views } from './script.ts';
import { SimulationError } from './simulate.ts';
import { AGREEMENT_MS, Story } from './story.ts';

/** Options of {@link runSchedule}. */
export interface ScheduleRunOptions {
  readonly seed: number;
  readonly nodes: number;
  /** How long faults go on, in virtual milliseconds. */
  readonly forMs: number;
  readonly trace?: 'events' | 'messages';
  /** Kinds of faults to leave out. @defaultValue none */
  readonly without?: readonly Fault[];
  /** Voters decide. @defaultValue false */
  readonly voting?: boolean;
  /** Who holds the lock leads. @defaultValue false */
  readonly locking?: boolean;
  /** How soon they must agree once faults are over, in virtual milliseconds. @defaultValue 30 000 */
  readonly withinMs?: number;
  /** Another story than the random one: what is left of it when a failure is narrowed down. */
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

/** Runs a cluster through random faults, with all checkers on; once they are over it must settle. */
export async function runSchedule(options: ScheduleRunOptions): Promise<ScheduleRun> {
  const { trace = 'events' } = options;
  const replay = commandOf(options);
  const script = options.script ?? storyOf(options);
  const [first = '', ...lines] = script;
  const story = new Story(first, { trace, replay });
  const begun = performance.now();
  const error = await outcome(async () => {
    for (const line of lines) await story.tell(line);
  });
  const spent = (performance.now() - begun) / 1000;
  const { sim } = story;
  const summary = `${sim.now / 1000} virtual seconds in ${spent.toFixed(2)} s; repeat: ${replay}`;
  return { script, error, trace: sim.trace(), views: views(sim), summary };
}

/** The command that repeats a run. */
function commandOf(options: ScheduleRunOptions): string {
  const { seed, nodes, forMs, without = [], voting = false, withinMs } = options;
  const words = [`--seed ${seed} --nodes ${nodes} --seconds ${forMs / 1000}`];
  if (voting) words.push('--quorum');
  if (options.locking) words.push('--lock');
  for (const fault of without) words.push(`--without ${fault}`);
  if (isOwn(withinMs)) words.push(`--within ${withinMs / 1000}`);
  return `npm run sim -- ${words.join(' ')}`;
}

function storyOf(options: ScheduleRunOptions): readonly string[] {
  const { withinMs } = options;
  const lines = faultSchedule(options);
  return isOwn(withinMs) ? lines.with(-1, `${lines.at(-1)} within=${withinMs}`) : lines;
}

function isOwn(withinMs: number | undefined): withinMs is number {
  return withinMs !== undefined && withinMs !== AGREEMENT_MS;
}

/**
 * Leaves out nodes and lines of a failing story as long as it fails in the same way, so that what
 * matters remains. Its first line and its last, without which no cluster could settle, stay.
 */
export async function shrinkSchedule(
  failing: ScheduleRunOptions,
  run: ScheduleRun,
): Promise<ScheduleRun> {
  let best = run;
  const isShorter = async (script: readonly string[]) => {
    const shorter = await runSchedule({ ...failing, script }).catch(() => null);
    if (shorter === null || kindOf(shorter.error) !== kindOf(best.error)) return false;
    best = shorter;
    return true;
  };
  for (let count = Number.POSITIVE_INFINITY; best.script.length < count; ) {
    count = best.script.length;
    for (let chunk = Math.ceil(count / 2); chunk >= 1; chunk = Math.floor(chunk / 2)) {
      for (let at = 1; at < best.script.length - 1; ) {
        const most = Math.min(chunk, best.script.length - 1 - at);
        if (!(await isShorter(best.script.toSpliced(at, most)))) at += chunk;
      }
    }
    for (const id of idsOf(best.script)) await isShorter(withoutNode(best.script, id));
  }
  return best;
}

/** A story as a scenario file, which the tests replay. */
export function scenarioOf({ script, error }: ScheduleRun): string {
  const [what = 'all is well'] = error?.message.split('\n') ?? [];
  return `# ${what}\n# Found by random faults; what matters of them.\n\n${script.join('\n')}\nshow\n----\n`;
}

function idsOf([first = '']: readonly string[]): string[] {
  return first.split(' ').flatMap((word) => /^n\d+/.exec(word)?.[0] ?? []);
}

/** The story of a cluster in which there never was a node of this id. */
function withoutNode(script: readonly string[], id: string): string[] {
  const isOther = (word: string) => !new RegExp(`^${id}(?!\\d)`).test(word);
  const [first = '', ...lines] = script;
  const rest = lines.flatMap((line) => {
    if (line.startsWith('partition')) return [line.split(' ').filter(isOther).join(' ')];
    return line.split(' ').every(isOther) ? [line] : [];
  });
  return [first.split(' ').filter(isOther).join(' '), ...rest];
}

/** The rule that was violated, or what did not come about, without who and when. */
function kindOf(error: SimulationError | null): string | undefined {
  return /^(?:[A-Z]\d+:|not met within \d+ ms)/.exec(error?.message ?? '')?.[0];
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
