import type { Token } from '../fence/token.ts';
import type { TermEndReason } from '../machine/effect.ts';
import type { ChannelSender } from './channel.ts';
import type { Driver } from './driver.ts';
import { DoyenError } from './error.ts';
import { checkMs } from './options.ts';

export type { Token };

/**
 * One leadership, from election to loss, as `lead()` hands it to its work.
 *
 * Four grades of certainty: `signal` is advice, `validUntil` probable, `confirm()` checked at that
 * moment, and a fence that sees `token` enforced.
 */
export interface Term {
  /** Number of this leadership: above that of each one before it. */
  readonly epoch: number;
  readonly token: Token;
  /**
   * Aborts when the term is over, before any other event of Doyen tells of it, or when the `signal`
   * of this `lead()` aborts. Its reason is a {@link DoyenError} whose `code` says why, or that
   * signal's own reason.
   */
  readonly signal: AbortSignal;
  /**
   * Until when this node probably leads, were nothing more heard; 0 once it does not. Milliseconds
   * on the node's own monotonic clock, to compare with each other: to decide, ask `isValid(ms)`.
   */
  readonly validUntil: number;
  /**
   * The newest `evidence()` among the voters that elected this leader: how far its work has to
   * catch up. `undefined` without any, and in elections without votes.
   */
  readonly evidence: unknown;

  /**
   * Whether this node leads in this term, probably for `ms` more milliseconds. Computed at each
   * call: false at once after a freeze or a stall. @defaultValue ms 0
   */
  isValid(ms?: number): boolean;

  /**
   * Asks anew, and resolves when most voters confirm this term, or, in elections without votes,
   * most members.
   * @throws DoyenError `leadership-lost`; its cause is `signal.reason` once the term is over.
   */
  confirm(): Promise<void>;

  /**
   * Resolves when the term is valid for `ms` more milliseconds, confirming it if need be.
   * @throws DoyenError `leadership-lost` when it is not.
   */
  ensure(ms: number): Promise<void>;

  /**
   * Sends on a channel, stamped with this epoch. Receivers that know of a newer term drop such
   * messages and tell so in a `stale` event.
   */
  channel(name: string): ChannelSender;
}

/** What a term needs of its node. */
export interface TermContext {
  readonly driver: Driver;
  readonly token: Token;
  /** False while the node steps down, before the machine knows of it. */
  isOpen(): boolean;
  confirm(): Promise<boolean>;
  sender(name: string, epoch: number): ChannelSender;
}

/** The term of one `lead()` call. */
export class LeadTerm implements Term {
  readonly epoch: number;
  readonly token: Token;
  readonly signal: AbortSignal;
  readonly evidence: unknown;
  readonly #context: TermContext;
  readonly #controller = new AbortController();

  constructor(context: TermContext) {
    this.#context = context;
    this.token = context.token;
    this.epoch = context.token.epoch;
    this.evidence = context.driver.machine.voting?.evidence;
    this.signal = this.#controller.signal;
  }

  get validUntil(): number {
    const { machine, host } = this.#context.driver;
    return this.isValid() ? machine.validUntil(host.now()) : 0;
  }

  isValid(ms = 0): boolean {
    checkMs('ms', ms);
    if (!this.isHeld()) return false;
    const { machine, host } = this.#context.driver;
    const now = host.now();
    return machine.validUntil(now) - now >= ms;
  }

  /** Whether this node says that it leads in this term: what work needs to begin. */
  isHeld(): boolean {
    if (this.signal.aborted || !this.#context.isOpen()) return false;
    const { machine, host } = this.#context.driver;
    return machine.epoch === this.epoch && machine.leads(host.now());
  }

  async confirm(): Promise<void> {
    const isConfirmed = !this.signal.aborted && (await this.#context.confirm());
    if (!isConfirmed || this.signal.aborted) throw this.#lost();
  }

  async ensure(ms: number): Promise<void> {
    if (this.isValid(ms)) return;
    await this.confirm();
    if (!this.isValid(ms)) throw this.#lost();
  }

  channel(name: string): ChannelSender {
    return this.#context.sender(name, this.epoch);
  }

  /** Aborts the signal; the first reason stays. */
  end(reason: unknown): void {
    this.#controller.abort(reason);
  }

  /** Whether `error` only passes on that the term is over. */
  isOwnReason(error: unknown): boolean {
    if (!this.signal.aborted) return false;
    const { reason } = this.signal;
    // Promises of the platform wrap the reason in an AbortError of their own, as its cause.
    return error === reason || (error instanceof Error && error.cause === reason);
  }

  #lost(): DoyenError {
    return new DoyenError(
      'leadership-lost',
      `term ${this.epoch} is over or could not be confirmed`,
      this.signal.aborted ? { cause: this.signal.reason } : undefined,
    );
  }
}

/** The reason that `term.signal` aborts with. */
export function termEnd(epoch: number, reason: TermEndReason): DoyenError {
  return new DoyenError(reason, `term ${epoch} is over: ${reason}`);
}
