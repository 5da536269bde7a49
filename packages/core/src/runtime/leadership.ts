import type { MachineEvent, TermEndReason } from '../machine/effect.ts';
import type { Tiebreak } from '../machine/machine.ts';
import type { Member } from '../machine/member.ts';
import { checkOptions, DURATION, hasMethods, type Rules, SIGNAL } from '../option-check.ts';
import type { Channels } from './channel.ts';
import type { Driver } from './driver.ts';
import { DoyenError } from './error.ts';
import { LeaderChangeEvent, OverrunEvent, TypedEventTarget } from './event.ts';
import { Lead, type LeadOptions, type Work } from './lead.ts';
import { shown } from './options.ts';
import { abortable, type Deferred, withResolvers } from './promise.ts';
import { LeadTerm, termEnd } from './term.ts';

/** Events of a {@link Leadership}. */
export interface LeadershipEventMap {
  /** Another member leads, or nobody does. Fires after `memberleave` where that was the cause. */
  change: LeaderChangeEvent;
  /** Work of `lead()` still runs `drainMs` after its term ended; the next term's work waits. */
  overrun: OverrunEvent;
}

/** Who leads the cluster, and what this node does while it leads. */
export class Leadership extends TypedEventTarget<LeadershipEventMap> {
  readonly #driver: Driver;
  readonly #cluster: string;
  readonly #instance: string;
  readonly #channels: Channels;
  readonly #leads = new Set<Lead>();
  readonly #waiters = new Set<Deferred<Member>>();
  readonly #rounds = new Map<number, (isConfirmed: boolean) => void>();
  #roundCount = 0;
  #hasAsked = false;
  /** What calls of `confirm()` wait for whose round has not been sent yet. */
  #sharedRound: Promise<boolean> | null = null;
  /** Epoch of this node's own term; 0 when it has none. */
  #termEpoch = 0;
  /** The term that this node steps down from of its own will, before the machine knows of it. */
  #closingEpoch = 0;
  #stepDown: Promise<void> | null = null;
  #transferDone: (isDone: boolean) => void = () => undefined;
  #closed: DoyenError | null = null;

  /** @internal */
  constructor(parts: {
    readonly driver: Driver;
    readonly channels: Channels;
    readonly cluster: string;
    readonly instance: string;
  }) {
    super();
    this.#driver = parts.driver;
    this.#channels = parts.channels;
    this.#cluster = parts.cluster;
    this.#instance = parts.instance;
  }

  /** The member that leads, or `null` while nobody does: between two leaders there is a gap. */
  get current(): Member | null {
    return this.#driver.machine.leader;
  }

  /** Whether this node leads: computed at every read, so false at once after a freeze or stall. */
  get isSelf(): boolean {
    return this.#isOpen(this.#termEpoch) && this.#driver.machine.leads(this.#driver.host.now());
  }

  /** Number of the latest leadership known; 0 before the first. It never decreases. */
  get epoch(): number {
    return this.#driver.machine.epoch;
  }

  /**
   * Tells Doyen what this side of a healed partition is worth. Read when two leaders of one epoch
   * meet: the larger `nodeCount` wins, then the smaller `createdAt`, and both go before a side that
   * gives none. A reading of `null` is none. One that throws, or is no pair of finite numbers from
   * 0, counts as none and shows as a `violation` event of the node with the rule `E6`.
   *
   * `setTiebreaker(null)` takes it back.
   */
  setTiebreaker(read: (() => Tiebreak | null) | null): void {
    if (read !== null && typeof read !== 'function') {
      throw new TypeError(`a tiebreaker must be a function or null, got ${shown(read)}`);
    }
    const checked = read && (() => this.#readTiebreak(read));
    this.#driver.input((machine) => machine.setTiebreaker(checked));
  }

  /** Whether this node may lead. Withdrawing ends its term at once (`resigned`). */
  setCandidacy(isCandidate: boolean): void {
    if (typeof isCandidate !== 'boolean') {
      throw new TypeError(`candidacy must be true or false, got ${shown(isCandidate)}`);
    }
    this.#driver.input((machine, now) => machine.setCandidacy(isCandidate, now));
  }

  /**
   * The member that leads, as soon as one does.
   * @throws the reason of `signal` when that aborts; DoyenError when the node has left or failed.
   */
  async waitForLeader(options: { readonly signal?: AbortSignal } = {}): Promise<Member> {
    checkOptions({ signal: SIGNAL }, options);
    const { signal } = options;
    signal?.throwIfAborted();
    if (this.#closed) throw this.#closed;
    if (this.current) return this.current;
    const waiter = withResolvers<Member>();
    this.#waiters.add(waiter);
    try {
      return await abortable(waiter.promise, signal);
    } finally {
      this.#waiters.delete(waiter);
    }
  }

  /**
   * Runs `work` in each term of this node, at once if it leads already. Several calls run
   * independently.
   *
   * - Work that returns keeps the leadership, and is not run again in this term.
   * - Work that throws makes the node resign, and the call rejects with that error. Throwing the
   *   reason of `term.signal` only says that the work stopped with its term.
   * - Work that throws a `FencedError` has learnt that its term is over: the node steps down
   *   (`fenced`), and the work is run again when this node leads again.
   * - Work of a new term waits until that of the old one has settled. After `drainMs` an `overrun`
   *   event fires.
   * - The call resolves when the node leaves, once its work has settled.
   *
   * @throws the reason of `signal` once that aborts and the work has settled; DoyenError `left`
   * when the node has left before; the node's own error when it failed.
   */
  async lead(work: Work, options: LeadOptions = {}): Promise<void> {
    if (typeof work !== 'function') {
      throw new TypeError(`work must be a function, got ${shown(work)}`);
    }
    checkOptions(LEAD_RULES, options);
    const { signal, drainMs = DRAIN_MS, fences = [] } = options;
    signal?.throwIfAborted();
    if (this.#closed) throw this.#closed;
    const lead = new Lead(
      work,
      { drainMs, fences },
      {
        host: this.#driver.host,
        overran: (epoch) => this.dispatchEvent(new OverrunEvent({ type: 'overrun', epoch })),
        // What an earlier term's work throws is no reason to give up a later one.
        failed: (epoch) => {
          if (epoch === this.#termEpoch) void this.resign();
        },
        fenced: (epoch, high) => {
          if (epoch !== this.#termEpoch) return;
          this.#driver.input((machine, now) => machine.fenced(high, now));
        },
        ended: () => this.#leads.delete(lead),
      },
    );
    this.#leads.add(lead);
    const abort = (): void => lead.stop(signal?.reason, { error: signal?.reason });
    signal?.addEventListener('abort', abort, { once: true });
    if (this.#isOpen(this.#termEpoch)) lead.begin(this.#openTerm());
    try {
      await lead.result;
    } finally {
      signal?.removeEventListener('abort', abort);
    }
  }

  /**
   * Gives up the leadership once the work of `lead()` has settled or its `drainMs` is over. This
   * node does not lead again before another has, or 10 s have passed. Does nothing when this node
   * does not lead.
   */
  async resign(): Promise<void> {
    while (this.#stepDown) await this.#stepDown;
    if (!this.#termEpoch) return;
    await this.#stepDownWith('resigned', () => {
      this.#driver.input((machine, now) => machine.resign(now));
    });
  }

  /**
   * Hands the leadership to a member, once the work of `lead()` has settled or its `drainMs` is
   * over. Resolves when that member leads.
   *
   * @throws RangeError when `memberId` names no other member; DoyenError `not-leading`; DoyenError
   * `transfer-failed` when it did not take over: then this node still leads, at the same epoch,
   * and interrupted work is run anew; DoyenError `leadership-lost` when the term ended meanwhile.
   */
  async transfer(memberId: string): Promise<void> {
    while (this.#stepDown) await this.#stepDown;
    if (!this.#termEpoch) {
      throw new DoyenError('not-leading', 'only the leader can transfer the leadership');
    }
    const target = this.#driver.machine.members.find(({ id }) => id === memberId);
    if (!target || target.link === 'self') {
      throw new RangeError(`memberId must name another member, got ${shown(memberId)}`);
    }
    let isTried = false;
    await this.#stepDownWith('transferred', () => {
      isTried = true;
      return this.#handOver(memberId);
    });
    if (!isTried) throw new DoyenError('leadership-lost', 'the term ended before the transfer');
  }

  /** @internal The machine began a term of this node. */
  termStarted(epoch: number): void {
    this.#termEpoch = epoch;
  }

  /** @internal The machine ended this node's term: nothing else may run before its signals abort. */
  termEnded(epoch: number, reason: TermEndReason): void {
    if (epoch !== this.#termEpoch) return;
    this.#termEpoch = 0;
    this.#interrupt(termEnd(epoch, reason));
    for (const end of this.#rounds.values()) end(false);
  }

  /** @internal Tells what the machine reported about leadership. */
  handle(event: MachineEvent): void {
    if (event.type === 'termstart') this.#begin(event.epoch);
    else if (event.type === 'confirmed') this.#rounds.get(event.ticket)?.(event.ok);
    else if (event.type === 'transferdone') this.#transferDone(event.ok);
    else if (event.type === 'change') {
      if (event.leader) for (const waiter of this.#waiters) waiter.resolve(event.leader);
      this.dispatchEvent(new LeaderChangeEvent(event));
    }
  }

  /** @internal The node has left, or failed with `error`. */
  close(error: DoyenError | null): void {
    this.#closed = error ?? new DoyenError('left', 'the node has left its cluster');
    this.termEnded(this.#termEpoch, 'left');
    for (const waiter of this.#waiters) waiter.reject(this.#closed);
    this.#transferDone(false);
    for (const lead of this.#leads) lead.stop(this.#closed, error ? { error } : undefined);
  }

  #isOpen(epoch: number): boolean {
    return epoch !== 0 && epoch === this.#termEpoch && epoch !== this.#closingEpoch;
  }

  #begin(epoch: number): void {
    // Between the machine's report and its turn here the term may have ended again.
    if (!this.#isOpen(epoch)) return;
    for (const lead of this.#leads) lead.begin(this.#openTerm());
  }

  #interrupt(reason: DoyenError): void {
    for (const lead of this.#leads) lead.interrupt(reason);
  }

  #openTerm(): LeadTerm {
    const epoch = this.#termEpoch;
    return new LeadTerm({
      driver: this.#driver,
      token: { cluster: this.#cluster, epoch, holder: this.#instance },
      isOpen: () => this.#isOpen(epoch),
      confirm: () => this.#confirm(),
      sender: (name, stamp) => this.#channels.sender(name, stamp),
    });
  }

  /**
   * The first of the calls that come in one go has a round at once, all others share the next: a
   * round proves nothing to who asks after it was sent (Q7).
   */
  #confirm(): Promise<boolean> {
    if (this.#sharedRound) return this.#sharedRound;
    if (!this.#hasAsked) {
      this.#hasAsked = true;
      queueMicrotask(() => {
        this.#hasAsked = false;
      });
      return this.#ask();
    }
    this.#sharedRound = Promise.resolve().then(() => {
      this.#sharedRound = null;
      return this.#termEpoch !== 0 && this.#ask();
    });
    return this.#sharedRound;
  }

  #ask(): Promise<boolean> {
    const ticket = ++this.#roundCount;
    return new Promise((resolve) => {
      this.#rounds.set(ticket, (isConfirmed) => {
        this.#rounds.delete(ticket);
        resolve(isConfirmed);
      });
      this.#driver.input((machine, now) => machine.confirm(ticket, now));
    });
  }

  /** Interrupts the work, waits for it, and acts if the term is still this node's. */
  async #stepDownWith(
    reason: 'resigned' | 'transferred',
    act: () => Promise<void> | void,
  ): Promise<void> {
    const epoch = this.#termEpoch;
    const { promise, resolve } = withResolvers<void>();
    this.#stepDown = promise;
    this.#closingEpoch = epoch;
    this.#interrupt(termEnd(epoch, reason));
    const drains = [...this.#leads].map((lead) => lead.drained()).filter((drain) => drain !== null);
    try {
      if (drains.length > 0) await Promise.all(drains);
      if (this.#termEpoch === epoch) await act();
    } finally {
      this.#stepDown = null;
      this.#closingEpoch = 0;
      resolve();
      // A transfer that failed leaves the term to this node: interrupted work goes on anew.
      this.#begin(epoch);
    }
  }

  async #handOver(memberId: string): Promise<void> {
    const isDone = await new Promise<boolean>((resolve) => {
      this.#transferDone = resolve;
      let isBegun = false;
      this.#driver.input((machine, now) => {
        isBegun = machine.transfer(memberId, now);
      });
      if (!isBegun) resolve(false);
    });
    if (isDone) return;
    throw new DoyenError('transfer-failed', `${memberId} did not take over`);
  }

  #readTiebreak(read: () => Tiebreak | null): Tiebreak | null {
    try {
      const reading = read();
      if (reading === null) return null;
      const { nodeCount, createdAt } = reading;
      if (isScalar(nodeCount) && isScalar(createdAt)) return { nodeCount, createdAt };
      this.#violate(`nodeCount ${shown(nodeCount)}, createdAt ${shown(createdAt)}`);
    } catch (error) {
      this.#violate(`threw ${error instanceof Error ? error.message : shown(error)}`);
    }
    return null;
  }

  #violate(what: string): void {
    this.#driver.post({ type: 'violation', peer: '', rule: 'E6', detail: `tiebreaker: ${what}` });
  }
}

function isScalar(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER;
}

const LEAD_RULES: Rules<LeadOptions> = {
  signal: SIGNAL,
  drainMs: DURATION,
  fences: [
    'array',
    'an array of fences',
    (value) => Array.isArray(value) && value.every((fence) => hasMethods(fence, 'open')),
  ],
};

// Long enough to finish a write, short enough that a resignation is no outage.
const DRAIN_MS = 5000;
