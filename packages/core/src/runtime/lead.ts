import type { Host } from './host.ts';
import { abortable, withResolvers } from './promise.ts';
import type { LeadTerm, Term, Token } from './term.ts';

/** What a leader does while it leads. */
export type Work = (term: Term) => Promise<void> | void;

/** What `lead()` needs of a fence. */
export interface LeadFence {
  open(token: Token): Promise<void>;
}

/** Options of `lead()`. */
export interface LeadOptions {
  /** Ends the call: it rejects with the signal's reason once the running work has settled. */
  readonly signal?: AbortSignal;
  /** How long work may go on after its term, in milliseconds. @defaultValue 5000 */
  readonly drainMs?: number;
  /**
   * Opened with `term.token` before the work of each term starts, so that nothing older gets
   * through from then on. @defaultValue none
   */
  readonly fences?: readonly LeadFence[];
}

/** How a `lead()` call tells of itself. */
export interface LeadHooks {
  readonly host: Host;
  /** The work still runs `drainMs` after its term ended. */
  overran(epoch: number): void;
  /** The work threw something else than the reason of its term's end. */
  failed(epoch: number): void;
  /** A fence refused this term, having admitted the epoch `high` (X2). */
  fenced(epoch: number, high: number): void;
  /** The call is over. */
  ended(lead: Lead): void;
}

/** One `lead()` call: runs its work once in each term, one run at a time. */
export class Lead {
  /** What the caller of `lead()` awaits. */
  readonly result: Promise<void>;
  readonly #result = withResolvers<void>();
  readonly #work: Work;
  readonly #drainMs: number;
  readonly #fences: readonly LeadFence[];
  readonly #hooks: LeadHooks;
  /** Set once the call is to end as soon as no work runs. */
  #ending: { readonly rejection?: { readonly error: unknown } } | null = null;
  /** The latest term; its signal is live until it ends, also when the work has returned. */
  #term: LeadTerm | null = null;
  #isRunning = false;
  #next: LeadTerm | null = null;
  #finishedEpoch = 0;
  #hasOverrun = false;
  #cancelOverrun: () => void = () => undefined;
  #drained: (() => void)[] = [];

  constructor(work: Work, options: Required<Omit<LeadOptions, 'signal'>>, hooks: LeadHooks) {
    this.#work = work;
    this.#drainMs = options.drainMs;
    this.#fences = options.fences;
    this.#hooks = hooks;
    this.result = this.#result.promise;
  }

  /** Runs the work in `term`, after the work of the term before, unless it is done in this one. */
  begin(term: LeadTerm): void {
    if (this.#ending || term.epoch === this.#finishedEpoch) return;
    if (!this.#isRunning) void this.#run(term);
    else if (this.#term?.signal.aborted) this.#next = term;
  }

  /** The term is over: the work is told, and has `drainMs` to come to its end. */
  interrupt(reason: unknown): void {
    this.#next?.end(reason);
    if (!this.#term || this.#term.signal.aborted) return;
    const { epoch } = this.#term;
    if (this.#isRunning) {
      this.#cancelOverrun = this.#hooks.host.timer(() => this.#overrun(epoch), this.#drainMs);
    }
    this.#term.end(reason);
  }

  /** Resolves when the work of an ended term has settled or overrun; `null` when none is awaited. */
  drained(): Promise<void> | null {
    if (!this.#isRunning || this.#hasOverrun) return null;
    return new Promise((resolve) => this.#drained.push(resolve));
  }

  /** Ends the call once its work has settled: well, or with `rejection.error`. */
  stop(reason: unknown, rejection?: { readonly error: unknown }): void {
    if (this.#ending) return;
    this.#ending = rejection ? { rejection } : {};
    this.interrupt(reason);
    if (!this.#isRunning) this.#end();
  }

  async #run(term: LeadTerm): Promise<void> {
    this.#term = term;
    this.#isRunning = true;
    this.#hasOverrun = false;
    let hasFailed = false;
    try {
      const isAtOnce = this.#fences.length === 0 && term.isHeld();
      if (isAtOnce || (await this.#isReady(term))) await this.#work(term);
      if (!term.signal.aborted) this.#finishedEpoch = term.epoch;
    } catch (error) {
      const high = highOf(error);
      // That others are further is how terms end, and no failure of the work.
      if (high !== null) this.#hooks.fenced(term.epoch, high);
      hasFailed = high === null && !term.isOwnReason(error);
      // An abort by the caller stays the reason of the rejection.
      if (hasFailed && !this.#ending?.rejection) this.#ending = { rejection: { error } };
    }
    this.#isRunning = false;
    this.#cancelOverrun();
    this.#tellDrained();
    if (hasFailed) this.#hooks.failed(term.epoch);
    if (this.#ending) this.#end();
    else this.#proceed();
  }

  /** Work starts only while this node leads, and with older terms shut out (Q7, X2). */
  async #isReady(term: LeadTerm): Promise<boolean> {
    if (this.#fences.length > 0) {
      const opened = Promise.all(this.#fences.map((fence) => fence.open(term.token)));
      // One that does not answer holds up nothing that comes after this term.
      await abortable(opened, term.signal);
    }
    while (!term.signal.aborted && !term.isHeld()) {
      await term.confirm().catch(() => undefined);
      // Refusals can come at once; asked anew without a pause, nothing else on the page would run.
      if (!term.isHeld()) await this.#pause(term.signal);
    }
    return !term.signal.aborted;
  }

  #pause(signal: AbortSignal): Promise<void> {
    const { promise, resolve } = withResolvers<void>();
    const cancel = this.#hooks.host.timer(resolve, RETRY_MS);
    const end = () => {
      cancel();
      resolve();
    };
    signal.addEventListener('abort', end, { once: true });
    return promise.finally(() => signal.removeEventListener('abort', end));
  }

  #proceed(): void {
    const next = this.#next;
    this.#next = null;
    if (next && !next.signal.aborted) void this.#run(next);
  }

  #overrun(epoch: number): void {
    this.#hasOverrun = true;
    this.#tellDrained();
    this.#hooks.overran(epoch);
  }

  #tellDrained(): void {
    for (const resolve of this.#drained.splice(0)) resolve();
  }

  #end(): void {
    this.#hooks.ended(this);
    const rejection = this.#ending?.rejection;
    if (rejection) this.#result.reject(rejection.error);
    else this.#result.resolve();
  }
}

/** Two frames: how late work may start once a term is valid again. */
const RETRY_MS = 33;

/** The mark of the fence that refused, `null` for any other error. By shape: fences come with users. */
function highOf(error: unknown): number | null {
  const { code, high } = (error ?? {}) as { readonly code?: unknown; readonly high?: unknown };
  if (code !== 'fenced' || !Number.isSafeInteger(high)) return null;
  return (high as number) > 0 ? (high as number) : null;
}
