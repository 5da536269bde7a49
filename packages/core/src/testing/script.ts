import { highestId, oldestNode, type Strategy } from '../machine/strategy.ts';
import type { SimClockFault, SimNodeOptions } from './sim-node.ts';
import { seededRandom } from './sim-random.ts';
import type { StoreFailure } from './sim-store.ts';
import type { Simulation } from './simulate.ts';

/**
 * Does what one line of a script says: a verb, then its words and `name=value` pairs. The verbs are
 * the methods of a simulation and of its network, and `expect`, which waits for agreement.
 * @throws TypeError for a line that makes no sense, SimulationError for what fails.
 */
export async function perform(sim: Simulation, line: string): Promise<void> {
  const [verb = '', ...rest] = line.trim().split(/\s+/);
  const command = COMMANDS.get(verb);
  if (command === undefined) throw new TypeError(`no such command in a script: ${line}`);
  const words = rest.filter((word) => !word.includes('='));
  const pairs = rest.filter((word) => word.includes('=')).map((word) => word.split('='));
  const values = new Map(pairs.map(([name = '', value = '']) => [name, value]));
  await command(sim, words, values);
}

/**
 * Whether all running nodes know exactly each other, and name one of them as the leader, in one
 * epoch, which it says too.
 */
export function agrees(sim: Simulation): boolean {
  const nodes = sim.running.map((id) => sim.node(id));
  const [first] = nodes;
  if (first === undefined) return true;
  const { current, epoch } = first.leadership;
  const leader = nodes.find(({ instance }) => instance === current?.instance);
  if (leader === undefined || !leader.leadership.isSelf) return false;
  const roster = instances(nodes);
  return nodes.every(({ leadership, members }) => {
    const isSame = leadership.current?.instance === leader.instance && leadership.epoch === epoch;
    return isSame && instances(members) === roster;
  });
}

function instances(list: readonly { readonly instance: string }[]): string {
  return list
    .map(({ instance }) => instance)
    .toSorted()
    .join();
}

/** What each running node believes, one line a node. */
export function views(sim: Simulation): string[] {
  return sim.running.map((id) => {
    const { leadership, members, state } = sim.node(id);
    const leader = `${leadership.current?.id ?? 'nobody'}${leadership.isSelf ? ' (itself)' : ''}`;
    const roster = members.map((member) => {
      const notes = [member.status, member.link].filter((note) => {
        return note === 'suspect' || note === 'relayed';
      });
      return [member.id, ...notes].join(':');
    });
    return `${id} ${state}, leader ${leader}, epoch ${leadership.epoch}, members ${roster.join(' ')}`;
  });
}

type Values = ReadonlyMap<string, string>;
type Command = (sim: Simulation, words: readonly string[], values: Values) => unknown;

const COMMANDS = new Map<string, Command>([
  ['run', (sim, [ms]) => sim.run(Number(ms))],
  ['expect', expectAgreement],
  ['add', add],
  ['leave', toAwake((sim, id) => sim.leave(id))],
  ['crash', toRunning((sim, id) => sim.crash(id))],
  ['restart', (sim, [id = '', how]) => sim.restart(id, { amnesia: how === 'amnesia' })],
  ['store', (sim, [id = '', fault]) => sim.store(id).fail(storeFailureOf(fault))],
  ['voters', toAwake(changeVoters)],
  ['pause', toRunning((sim, id) => sim.pause(id))],
  ['resume', toRunning((sim, id) => sim.resume(id))],
  ['freeze', toRunning((sim, id) => sim.freeze(id))],
  ['thaw', toRunning((sim, id) => sim.thaw(id))],
  ['hide', toRunning((sim, id) => sim.hide(id))],
  ['show', toRunning((sim, id) => sim.show(id))],
  ['proof', (sim, [id = '']) => sim.proof(id)],
  ['throttle', toRunning((sim, id, [ms]) => sim.throttle(id, Number(ms)))],
  ['clock', toRunning((sim, id, _, values) => sim.clock(id, clockOptions(values)))],
  [
    'cut',
    toRunning((sim, id, [to = '', how]) => sim.net.cut(id, to, { oneWay: how === 'one-way' })),
  ],
  ['join', (sim, [one = '', two = '']) => sim.net.join(one, two)],
  ['partition', (sim, words) => sim.net.partition(groups(words))],
  ['heal', (sim) => sim.net.heal()],
  ['loss', (sim, [rate]) => sim.net.loss(Number(rate))],
  ['duplicate', (sim, [rate]) => sim.net.duplicate(Number(rate))],
  ['reorder', (sim, [rate]) => sim.net.reorder(Number(rate))],
  ['latency', (sim, [low, high]) => sim.net.latency([Number(low), Number(high)])],
  ['calm', calm],
  ['candidacy', toAwake((sim, id, [on]) => sim.node(id).leadership.setCandidacy(on === 'on'))],
  ['meta', toAwake((sim, id, [meta]) => sim.node(id).setMeta(meta))],
  ['tiebreaker', toAwake(setTiebreaker)],
  ['resign', toAwake((sim, id) => void sim.node(id).leadership.resign().catch(ignore))],
  [
    'transfer',
    toAwake((sim, id, [to = '']) => void sim.node(id).leadership.transfer(to).catch(ignore)),
  ],
]);

type NodeCommand = (
  sim: Simulation,
  id: string,
  words: readonly string[],
  values: Values,
) => unknown;

/**
 * What is done to the node that the first word names, or to `leader`: the first that says it leads.
 * Nothing, when there is none, or when it has ended.
 */
function toRunning(act: NodeCommand): Command {
  return (sim, [name = '', ...words], values) => {
    const leading = () => sim.awake.find((id) => sim.node(id).leadership.isSelf);
    const id = name === 'leader' ? leading() : sim.node(name).id;
    if (id === undefined || !sim.running.includes(id)) return undefined;
    return act(sim, id, words, values);
  };
}

/** What an application does: nothing, while its node stands still. */
function toAwake(act: NodeCommand): Command {
  return toRunning((sim, id, words, values) => {
    return sim.awake.includes(id) ? act(sim, id, words, values) : undefined;
  });
}

async function expectAgreement(sim: Simulation, words: readonly string[], values: Values) {
  const [leader] = words;
  const isMet = () => {
    return agrees(sim) && (!leader || sim.node(leader).leadership.isSelf);
  };
  await sim.runUntil(isMet, { withinMs: Number(values.get('within') ?? 30_000) });
}

/** A page that is still about to leave is closed by the next one of its id. */
function add(sim: Simulation, [id = '']: readonly string[], values: Values): void {
  if (sim.running.includes(id)) sim.crash(id);
  sim.add(id, nodeOptions(values));
}

/** Ends all faults. */
function calm(sim: Simulation): void {
  sim.net.heal();
  sim.net.loss(0);
  sim.net.duplicate(0);
  sim.net.reorder(0);
  sim.net.latency([5, 30]);
  for (const id of sim.running) {
    sim.throttle(id, 0);
    sim.resume(id);
  }
}

/** `live=7` makes a reading that differs each time, by that seed. */
function setTiebreaker(sim: Simulation, id: string, _: readonly string[], values: Values): void {
  const live = values.get('live');
  if (live !== undefined) {
    const random = seededRandom(Number(live), 1_000_033);
    const scalar = () => Math.floor(random() * 5);
    return sim.node(id).leadership.setTiebreaker(() => {
      return { nodeCount: scalar(), createdAt: scalar() };
    });
  }
  const reading = {
    nodeCount: Number(values.get('nodeCount')),
    createdAt: Number(values.get('createdAt')),
  };
  sim.node(id).leadership.setTiebreaker(() => reading);
}

/** `voters leader add n4`: what comes of it shows in the trace. */
function changeVoters(sim: Simulation, id: string, [verb, other = '']: readonly string[]): void {
  const { voters } = sim.node(id);
  if (verb !== 'add' && verb !== 'remove') throw new TypeError(`no such change: ${verb}`);
  void voters[verb](other).catch(ignore);
}

/** @throws TypeError for a word that is no fault of a store. */
function storeFailureOf(word = ''): StoreFailure {
  if (word === 'ok') return null;
  if (word === 'read' || word === 'write' || word === 'torn') return word;
  throw new TypeError(`a store fails by read, write or torn, or is ok, got ${word}`);
}

/** What a resignation or a transfer came to shows in the trace, as events. */
function ignore(): void {
  return undefined;
}

function nodeOptions(values: Values): SimNodeOptions {
  const startedAt = values.get('startedAt');
  const strategy = values.get('strategy');
  return {
    clock: clockOptions(values),
    ...(strategy !== undefined && { election: strategyOf(strategy) }),
    ...(startedAt !== undefined && { startedAt: Number(startedAt) }),
  };
}

/** @throws TypeError for a name that is none. */
export function strategyOf(name: string): () => Strategy {
  const found = [oldestNode, highestId].find((make) => make().name === name);
  if (found === undefined) throw new TypeError(`no such strategy: ${name}`);
  return found;
}

function clockOptions(values: Values): SimClockFault {
  const [jump, rate] = [values.get('jump'), values.get('rate')];
  return {
    ...(jump !== undefined && { jumpMs: Number(jump) }),
    ...(rate !== undefined && { rate: Number(rate) }),
  };
}

/** `n1 n2 | n3` gives [n1, n2] and [n3]. */
function groups(words: readonly string[]): string[][] {
  const text = words.join(' ').split('|');
  return text.map((group) => group.split(' ').filter((id) => id !== ''));
}
