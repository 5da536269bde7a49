import { AsyncLocalStorage } from 'node:async_hooks';
import type { DoyenNode } from '@doyen/core';
import type { Simulation } from '@doyen/core/testing';

// To be imported before anything that keeps the platform's clock to itself, as lib0 does.

const tab = new AsyncLocalStorage<string>();
const { setTimeout, clearTimeout, setInterval, clearInterval } = globalThis;
const dateNow = Date.now;
const performanceNow = performance.now.bind(performance);

let current: Simulation | null = null;
Date.now = () => (current ? EPOCH + Math.floor(current.now) : dateNow());
performance.now = () => (current ? current.now : performanceNow());

/**
 * From now on timers run in the virtual time of a simulation; those that code of a tab sets run on
 * its node: late when that is throttled, not at all while it stands still or after it has crashed.
 */
export function enter(sim: Simulation): void {
  current = sim;
  Object.assign(globalThis, {
    setTimeout: (callback: () => void, ms = 0, ...values: unknown[]) =>
      new Timer(sim, callback.bind(null, ...(values as [])), ms, false),
    setInterval: (callback: () => void, ms: number) => new Timer(sim, callback, ms, true),
    clearTimeout: clear,
    clearInterval: clear,
  });
}

export function exit(): void {
  current = null;
  Object.assign(globalThis, { setTimeout, clearTimeout, setInterval, clearInterval });
}

/** How many timers code of this tab has set that have neither rung nor been cleared. */
export function timerCount(id: string): number {
  return [...pending].filter((timer) => timer.tab === id).length;
}

/** Runs code as that of a tab; the empty id is nobody's. */
export function runAs<Result>(id: string, code: () => Result): Result {
  return tab.run(id, code);
}

/** What a node calls is code of its tab. */
export function own(node: DoyenNode): void {
  const { id, leadership } = node;
  for (const target of [node, leadership]) adopt(id, target);
  const channel = node.channel.bind(node);
  const adopted = new Set<string>();
  node.channel = (name) => {
    const known = channel(name);
    if (!adopted.has(name)) adopt(id, known);
    adopted.add(name);
    return known;
  };
  const lead = leadership.lead.bind(leadership);
  leadership.lead = (work, options) => lead((term) => runAs(id, () => work(term)), options);
}

function adopt(id: string, target: { dispatchEvent(event: Event): boolean }): void {
  const dispatch = target.dispatchEvent.bind(target);
  target.dispatchEvent = (event) => runAs(id, () => dispatch(event));
}

const pending = new Set<Timer>();

class Timer {
  readonly tab = tab.getStore();
  readonly #stop = new AbortController();

  constructor(sim: Simulation, callback: () => void, ms: number, isRepeated: boolean) {
    const node = this.tab || undefined;
    pending.add(this);
    const { signal } = this.#stop;
    const ring = (): void => {
      sim.sleep(Math.max(0, ms), { signal, ...(node !== undefined && { node }) }).then(
        () => {
          if (signal.aborted) return;
          if (isRepeated) ring();
          else pending.delete(this);
          callback();
        },
        () => undefined,
      );
    };
    ring();
  }

  stop(): void {
    pending.delete(this);
    this.#stop.abort();
  }

  unref(): void {
    // Nothing here keeps a process alive.
  }
}

function clear(timer: Timer | undefined): void {
  timer?.stop();
}

const EPOCH = Date.UTC(2026, 0, 1);
