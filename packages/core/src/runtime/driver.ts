import type {
  Effect,
  LockEffect,
  MachineEvent,
  SendEffect,
  StoreEffect,
  TermEndReason,
} from '../machine/effect.ts';
import type { Lifecycle } from '../machine/input.ts';
import type { Machine } from '../machine/machine.ts';
import type { SendResult, Transport } from '../transport/transport.ts';
import { DoyenError } from './error.ts';
import type { Host } from './host.ts';

/** Whom the driver tells. Terms are told before anything else of the same drain. */
export interface DriverSink {
  termStarted(epoch: number): void;
  termEnded(epoch: number, reason: TermEndReason): void;
  event(event: MachineEvent): void;
  /** To be stored; the machine waits for `stored(ticket)`. */
  store(effect: StoreEffect): void;
  /** To be done with the lock; the machine is told by `locked()`. */
  lock(effect: LockEffect): void;
  fault(code: string, message: string): void;
}

/**
 * The loop around the machine: one input, then its effects, then one timer for its next deadline.
 *
 * Sends go out at once and in order. Events go through one queue, so that a listener that calls
 * back into the node causes no event inside another. The ends of terms overtake both: their signals
 * abort before anything else can run.
 */
export class Driver {
  readonly host: Host;
  readonly machine: Machine;
  readonly #transport: Transport;
  readonly #sink: DriverSink;
  readonly #sends: SendEffect[] = [];
  readonly #events: MachineEvent[] = [];
  readonly #held: (() => void)[] = [];
  #heldBytes = 0;
  #overflowed = false;
  #running = false;
  #sending = false;
  #dispatching = false;
  #frozen = false;
  #stopped = false;
  #timerAt = Number.POSITIVE_INFINITY;
  #cancelTimer: () => void = nothing;

  constructor(parts: {
    readonly host: Host;
    readonly machine: Machine;
    readonly transport: Transport;
    readonly sink: DriverSink;
  }) {
    this.host = parts.host;
    this.machine = parts.machine;
    this.#transport = parts.transport;
    this.#sink = parts.sink;
  }

  /** Gives the machine one input and carries out what follows. Nothing happens once stopped. */
  input(run: (machine: Machine, now: number) => void): SendResult {
    if (this.#stopped) return 'dropped';
    if (this.#running) {
      throw new DoyenError('reentrant', 'a tiebreaker or strategy must not call into its node');
    }
    this.#running = true;
    try {
      run(this.machine, this.host.now());
    } finally {
      this.#running = false;
    }
    return this.#settle();
  }

  /** An input from the transport: while the page is frozen it waits. */
  arrive(run: (machine: Machine, now: number) => void, sizeBytes = 0): void {
    if (!this.#frozen) this.input(run);
    else this.#hold(() => this.input(run), sizeBytes);
  }

  lifecycle(kind: Lifecycle): void {
    if (kind === 'freeze' && this.#frozen) return;
    if (kind === 'resume' || kind === 'pageshow') this.#frozen = false;
    this.input((machine, now) => machine.lifecycle(kind, now));
    if (kind === 'freeze') this.#freeze();
    else if (!this.#frozen) this.#release();
  }

  /** Queues an event of the runtime's own; it is told once the running input has settled. */
  post(event: MachineEvent): void {
    this.#events.push(event);
    if (!this.#running) this.#dispatch();
  }

  /** Ends a freeze without telling the machine: a node that leaves needs its timers. */
  thaw(): void {
    this.#frozen = false;
    this.#release();
    this.#arm();
  }

  /** No input, send or timer from here on; what is queued is still told. */
  stop(): void {
    this.#stopped = true;
    this.#held.length = 0;
    this.#disarm();
  }

  #settle(): SendResult {
    const effects = this.machine.drain();
    for (const effect of effects) {
      if (effect.type === 'send') this.#sends.push(effect);
      else if (effect.type === 'event') this.#events.push(effect.event);
      else if (effect.type === 'store') this.#sink.store(effect);
    }
    this.#tellTerms(effects);
    const result = this.#flush();
    // A lock is let go of once the term that rested on it is over, and the others know.
    for (const effect of effects) if (effect.type === 'lock') this.#sink.lock(effect);
    this.#dispatch();
    this.#arm();
    return result;
  }

  #tellTerms(effects: readonly Effect[]): void {
    const wasDispatching = this.#dispatching;
    // What an abort listener causes is told only after every signal has aborted.
    this.#dispatching = true;
    for (const effect of effects) {
      if (effect.type !== 'event') continue;
      const { event } = effect;
      if (event.type === 'termend') this.#sink.termEnded(event.epoch, event.reason);
      else if (event.type === 'termstart') this.#sink.termStarted(event.epoch);
    }
    this.#dispatching = wasDispatching;
  }

  /** Gives the worst result among the messages of applications. */
  #flush(): SendResult {
    if (this.#sending) return 'queued';
    this.#sending = true;
    let worst: SendResult = 'sent';
    for (let send = this.#sends.shift(); send; send = this.#sends.shift()) {
      const result = this.#transport.send(send.peer, send.bytes, send.lane);
      if (send.lane === 'data' && worst !== 'dropped' && result !== 'sent') worst = result;
    }
    this.#sending = false;
    return worst;
  }

  #dispatch(): void {
    if (this.#dispatching) return;
    this.#dispatching = true;
    for (let event = this.#events.shift(); event; event = this.#events.shift()) {
      this.#sink.event(event);
    }
    this.#dispatching = false;
  }

  #hold(input: () => void, sizeBytes: number): void {
    const isFull =
      this.#held.length >= HELD_COUNT_MAX || this.#heldBytes + sizeBytes > HELD_BYTES_MAX;
    if (!isFull) {
      this.#held.push(input);
      this.#heldBytes += sizeBytes;
    } else if (!this.#overflowed) {
      this.#overflowed = true;
      this.#sink.fault('frozen-overflow', 'more input came while frozen than is held; it is lost');
    }
  }

  #freeze(): void {
    this.#frozen = true;
    this.#overflowed = false;
    this.#disarm();
  }

  #release(): void {
    this.#heldBytes = 0;
    for (const input of this.#held.splice(0)) input();
  }

  #arm(): void {
    if (this.#stopped || this.#frozen) return;
    const deadline = this.machine.nextDeadline();
    // A timer that is due sooner looks again by itself: most inputs only move the deadline away.
    if (deadline >= this.#timerAt) return;
    this.#disarm();
    this.#timerAt = deadline;
    const delayMs = Math.max(0, deadline - this.host.now());
    const fire = () => this.#fire();
    // Those of the transport go on in hidden pages (B3).
    const cancel = this.#transport.timer?.(fire, delayMs);
    this.#cancelTimer = cancel ?? this.host.timer(fire, delayMs);
  }

  #disarm(): void {
    this.#cancelTimer();
    this.#cancelTimer = nothing;
    this.#timerAt = Number.POSITIVE_INFINITY;
  }

  #fire(): void {
    this.#disarm();
    if (this.host.now() < this.machine.nextDeadline()) this.#arm();
    else this.input((machine, now) => machine.advance(now));
  }
}

const nothing = (): void => undefined;

// A frozen page runs no code, so little can come; these bound what fault injection lets in.
const HELD_COUNT_MAX = 1024;
const HELD_BYTES_MAX = 4 * 1024 * 1024;
