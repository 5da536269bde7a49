import { StateSet } from './state-set.ts';
import type { World } from './world.ts';

/** One step of a trace. */
export interface Step {
  readonly actor: number;
  readonly input: number;
  readonly state: Int32Array;
}

export interface Finding {
  readonly breach: string;
  readonly steps: readonly Step[];
}

export interface Result {
  /** Distinct states, of those that differ in the names of voters alone one. */
  readonly states: number;
  /** Distinct states for which these stand. */
  readonly named: number;
  /** Steps to the state that is farthest. */
  readonly depth: number;
  readonly transitions: number;
  /** Whether there is no state beyond: nothing was found, and no limit met. */
  readonly isExhausted: boolean;
  /** By the shortest way; `null` when nothing ever breaks. */
  readonly finding: Finding | null;
}

export interface SearchOptions {
  /** @defaultValue no limit */
  readonly statesMax?: number;
  /** Told each state when its turn comes; it is lent. */
  readonly onVisit?: (state: Int32Array) => void;
}

/** Visits every state that can be reached, nearest first, until something breaks. */
export function search(world: World, options: SearchOptions = {}): Result {
  const { statesMax = Number.POSITIVE_INFINITY, onVisit } = options;
  const known = new StateSet(world.initial.length);
  known.add(world.initial, -1);
  const state = new Int32Array(world.initial.length);
  const least = new Int32Array(world.initial.length);
  let [at, depth, levelEnd, named, transitions, isSound] = [0, 0, 1, 1, 0, true];
  for (; at < known.size && isSound && known.size < statesMax; at += 1) {
    if (at === levelEnd) {
      depth += 1;
      levelEnd = known.size;
    }
    known.read(at, state);
    onVisit?.(state);
    world.forEachNext(state, (next, _actor, _input, breach) => {
      transitions += 1;
      if (breach !== null) isSound = false;
      least.set(next);
      world.reduce(least);
      if (known.add(least, at)) named += world.weight(least);
    });
  }
  const isExhausted = at === known.size && isSound;
  const finding = isSound ? null : findingAt(world, known, at - 1);
  return { states: known.size, named, depth, transitions, isExhausted, finding };
}

/** The way to a state after which something breaks. */
function findingAt(world: World, known: StateSet, last: number): Finding {
  const way: number[] = [];
  for (let number = last; number > 0; number = known.parent(number)) way.unshift(number);
  const steps: Step[] = [];
  const least = new Int32Array(world.initial.length);
  let state = world.initial;
  for (const number of way) {
    known.read(number, least);
    const step = stepTo(world, state, least);
    steps.push(step);
    state = step.state;
  }
  let finding: Finding | null = null;
  world.forEachNext(state, (next, actor, input, breach) => {
    if (breach === null) return;
    finding ??= { breach, steps: [...steps, { actor, input, state: next.slice() }] };
  });
  if (!finding) throw new Error('what was found is not there any more');
  return finding;
}

/** How one state led to another was not kept, and the names may differ: it is found again. */
function stepTo(world: World, before: Int32Array, least: Int32Array): Step {
  let step: Step | null = null;
  world.forEachNext(before, (next, actor, input) => {
    const reduced = next.slice();
    world.reduce(reduced);
    const isIt = reduced.every((part, index) => part === least[index]);
    if (isIt) step ??= { actor, input, state: next.slice() };
  });
  if (!step) throw new Error('a state of the trace does not follow from the one before');
  return step;
}
