import type { Lifecycle } from '../machine/input.ts';
import type { Host } from '../runtime/host.ts';
import { sleepAwareClock } from '../runtime/system-host.ts';
import type { Scheduler, Task } from './scheduler.ts';
import type { SimClock } from './sim-clock.ts';
import type { SimClockFault } from './sim-node.ts';
import { checkNumber } from './sim-options.ts';

/**
 * The computer, or the page, that one started node runs on: its clocks, its timers, and whether it
 * runs at all. While it is paused, what happens to it is queued.
 */
export class SimHost implements Host {
  readonly clock: SimClock;
  readonly random: () => number;
  readonly startAt: number;
  readonly #scheduler: Scheduler;
  readonly #timers = new Set<Timer>();
  readonly #listeners = new Set<(kind: Lifecycle) => void>();
  readonly #ran: () => void;
  #now: (() => number) | null = null;
  #condition: 'running' | 'paused' | 'stopped' = 'running';
  #held: (() => void)[] = [];
  #throttleMs = 0;
  #phaseMs = 0;

  constructor(parts: {
    readonly scheduler: Scheduler;
    readonly clock: SimClock;
    readonly random: () => number;
    readonly startAt: number;
    /** Called whenever code of the host is about to run. */
    readonly ran: () => void;
  }) {
    this.#ran = parts.ran;
    this.#scheduler = parts.scheduler;
    this.clock = parts.clock;
    this.random = parts.random;
    this.startAt = parts.startAt;
  }

  get condition(): 'running' | 'paused' | 'stopped' {
    return this.#condition;
  }

  /** As the shipped clock reads the two: a wall clock that jumps ahead is taken for sleep. */
  now(): number {
    this.#now ??= sleepAwareClock(
      () => this.clock.now(),
      () => this.clock.wallNow(),
      () => this.#scheduler.schedule(this.#scheduler.now, () => this.#slept()),
    );
    return this.#now();
  }

  wallNow(): number {
    return this.clock.wallNow();
  }

  timer(callback: () => void, delayMs: number): () => void {
    if (this.#condition === 'stopped') return () => undefined;
    // Platform timers count whole milliseconds and never fire in the same task.
    const due = this.clock.now() + Math.max(1, Math.ceil(delayMs));
    const timer: Timer = { due, callback, task: null };
    this.#timers.add(timer);
    this.#set(timer);
    return () => this.#clear(timer);
  }

  watchLifecycle(listener: (kind: Lifecycle) => void, signal: AbortSignal): void {
    if (signal.aborted) return;
    this.#listeners.add(listener);
    signal.addEventListener('abort', () => this.#listeners.delete(listener), { once: true });
  }

  lifecycle(kind: Lifecycle): void {
    for (const listener of [...this.#listeners]) listener(kind);
  }

  /** Something comes from outside: it happens now, when the host resumes, or never. */
  arrive(happen: () => void): void {
    if (this.#condition === 'running') {
      this.#ran();
      happen();
    } else if (this.#condition === 'paused' && this.#held.length < HELD_MAX_COUNT) {
      this.#held.push(happen);
    }
  }

  get heldCount(): number {
    return this.#held.length;
  }

  pause(): void {
    if (this.#condition === 'running') this.#condition = 'paused';
  }

  /** After `first`, what was queued happens, each in its own task; then the overdue timers fire. */
  resume(first: () => void): void {
    if (this.#condition !== 'paused') return;
    this.#condition = 'running';
    first();
    const held = this.#held;
    this.#held = [];
    const { now } = this.#scheduler;
    for (const happen of held) this.#scheduler.schedule(now, () => this.arrive(happen));
    this.#resetTimers();
  }

  /** Final. */
  stop(): void {
    this.#condition = 'stopped';
    this.#held = [];
    this.#listeners.clear();
    for (const timer of [...this.#timers]) this.#clear(timer);
  }

  /** From now on timers fire on a grid of so many milliseconds only; 0 ends it. */
  throttle(intervalMs: number, phaseMs = 0): void {
    this.#throttleMs = intervalMs;
    this.#phaseMs = phaseMs;
    this.#resetTimers();
  }

  /** @throws TypeError or RangeError that names what is wrong. */
  setClock({ jumpMs = 0, rate }: SimClockFault): void {
    checkNumber('jumpMs', jumpMs, -Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);
    if (rate !== undefined) checkNumber('rate', rate, 1e-3, 1e3);
    this.clock.jump(jumpMs);
    if (rate === undefined) return;
    this.clock.rate = rate;
    this.#resetTimers();
  }

  #slept(): void {
    this.arrive(() => this.lifecycle('resume'));
  }

  #set(timer: Timer): void {
    if (timer.task !== null) timer.task.cancelled = true;
    const at = Math.max(this.clock.virtualAt(timer.due), this.#scheduler.now);
    timer.task = this.#scheduler.schedule(this.#onGrid(at), () => this.#fire(timer));
  }

  #onGrid(at: number): number {
    if (this.#throttleMs === 0) return at;
    const slots = Math.ceil((at - this.#phaseMs) / this.#throttleMs);
    return slots * this.#throttleMs + this.#phaseMs;
  }

  #fire(timer: Timer): void {
    // An overdue timer of a paused host is set again when it resumes.
    if (this.#condition !== 'running') return;
    this.#timers.delete(timer);
    this.#ran();
    timer.callback();
  }

  #clear(timer: Timer): void {
    this.#timers.delete(timer);
    if (timer.task !== null) timer.task.cancelled = true;
  }

  #resetTimers(): void {
    const byDue = [...this.#timers].sort((one, two) => one.due - two.due);
    for (const timer of byDue) this.#set(timer);
  }
}

interface Timer {
  /** In the host's own monotonic time. */
  readonly due: number;
  readonly callback: () => void;
  task: Task | null;
}

/** More than a network buffers for a process that does not read; the rest is lost. */
const HELD_MAX_COUNT = 65_536;
