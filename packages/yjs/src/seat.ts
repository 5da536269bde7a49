import type { DoyenError, DoyenNode, Term } from '@doyen/core';
import { FencedError } from '@doyen/core/fence';
import type { Awareness } from 'y-protocols/awareness';
import type * as Y from 'yjs';
import type { ProviderFault } from './fault.ts';
import { CLOSE, decodeRefusal, PARAMS } from './gate-protocol.ts';
import type { ServerState } from './message.ts';
import { isParams, type ProviderOptions } from './options.ts';
import { Uplink, type UplinkListener } from './uplink.ts';

/** Who is told what happens to a seat. */
export interface SeatListener<Marks> extends Omit<UplinkListener<Marks>, 'closed' | 'malformed'> {
  fault(fault: ProviderFault): void;
}

/** The place of this node at the server: it has a connection there while it leads. */
export class Seat<Marks> {
  readonly #node: DoyenNode;
  readonly #target: ProviderOptions & { readonly url: string };
  readonly #content: { readonly doc: Y.Doc; readonly awareness: Awareness };
  readonly #listener: SeatListener<Marks>;
  #uplink: Uplink<Marks> | null = null;
  #isRefused = false;

  constructor(parts: {
    readonly target: ProviderOptions & { readonly url: string };
    readonly content: { readonly doc: Y.Doc; readonly awareness: Awareness };
    readonly listener: SeatListener<Marks>;
  }) {
    this.#node = parts.target.node;
    this.#target = parts.target;
    this.#content = parts.content;
    this.#listener = parts.listener;
  }

  /**
   * What it does while it leads: for `lead()`. Resolves when the term is over.
   * @throws FencedError when the gate knows a newer leader, which does not come to be known here.
   */
  async occupy(term: Term): Promise<void> {
    let isGuest = false;
    while (!term.signal.aborted) {
      const ending = await this.#connect(term, isGuest);
      if (term.signal.aborted) return;
      this.#isRefused = true;
      this.#listener.changed();
      try {
        isGuest = await this.#recover(term, ending, isGuest);
      } finally {
        this.#isRefused = false;
      }
    }
  }

  get server(): ServerState {
    const status = this.#isRefused ? 'disconnected' : 'connecting';
    return this.#uplink?.server ?? { status, isSynced: false };
  }

  /** Whether a transaction applied what the server sent. */
  isOrigin(origin: unknown): boolean {
    return this.#uplink !== null && origin === this.#uplink.origin;
  }

  unconfirmed(what: { readonly isInDocument: boolean }): void {
    this.#uplink?.unconfirmed(what);
  }

  /** Tells the server that these clients are gone. */
  forget(clients: readonly number[]): void {
    this.#uplink?.forget(clients);
  }

  /** Until the server closes the connection for good, or the term is over. */
  async #connect(term: Term, isGuest: boolean): Promise<Ending> {
    const { params = {} } = this.#target;
    try {
      const own = typeof params === 'function' ? await unlessOver(params(), term.signal) : params;
      if (!isParams(own)) throw new TypeError('params must give an object of strings');
      if (term.signal.aborted) return OVER;
      return await this.#converse(term, { ...own, ...seatParams(term, isGuest) });
    } catch (cause) {
      return { code: 0, reason: 'connecting failed', cause };
    }
  }

  #converse(term: Term, params: Readonly<Record<string, string>>): Promise<Ending> {
    const { url, room, WebSocket = globalThis.WebSocket } = this.#target;
    const { signal } = term;
    return new Promise((resolve, reject) => {
      const end = (ending: Ending): void => {
        signal.removeEventListener('abort', abort);
        this.#uplink = null;
        const isLeaving = ending === OVER && isLeave(signal.reason);
        const isLast = isLeaving && this.#node.members.length === 1;
        uplink.close({ isLeaving, isLast });
        resolve(ending);
      };
      // In this very turn: the page may be going away, and two sockets must not overlap.
      const abort = (): void => end(OVER);
      const uplink = new Uplink<Marks>(
        { ...this.#content, url, room, WebSocket, params },
        {
          ...this.#listener,
          closed: end,
          malformed: (cause) => this.#fault('malformed', 'what the server sent', { cause }),
        },
      );
      this.#uplink = uplink;
      signal.addEventListener('abort', abort, { once: true });
      try {
        uplink.open();
      } catch (error) {
        end(OVER);
        reject(error);
      }
    });
  }

  /** Waits until it makes sense to come back; gives whether as a guest. */
  async #recover(
    { token, signal }: Term,
    { code, reason, cause }: Ending,
    isGuest: boolean,
  ): Promise<boolean> {
    const refusal = code === CLOSE.fenced ? decodeRefusal(reason) : undefined;
    if (!refusal) {
      const message = `the server closed with ${code} ${JSON.stringify(reason)}`;
      this.#fault('refused', message, { closeCode: code, cause });
      await sleep(RETRY_MS, signal);
      return isGuest;
    }
    const { high, verdict, isHeld, forgetMs } = refusal;
    const error = new FencedError(token, { verdict, high });
    this.#fault('fenced', error.message, { high, closeCode: code, cause: error });
    if (!isHeld && forgetMs !== undefined) {
      await sleep(Math.min(forgetMs, RETRY_MS), signal);
      return false;
    }
    // The newer leader may only be slow to be heard of, and then this term ends by itself.
    await sleep(HEARSAY_MS, signal);
    if (signal.aborted || this.#target.fallback) return true;
    throw error;
  }

  #fault(
    code: ProviderFault['code'],
    message: string,
    more: Partial<Omit<ProviderFault, 'code' | 'message'>>,
  ): void {
    this.#listener.fault({ code, message, ...more });
  }
}

/** How a connection ended for good. */
interface Ending {
  readonly code: number;
  readonly reason: string;
  readonly cause?: unknown;
}

/** What `promise` gives, or nothing as soon as `signal` aborts: the next term must not wait. */
async function unlessOver<T>(promise: T | Promise<T>, signal: AbortSignal): Promise<T | object> {
  let abort: () => void = () => undefined;
  const over = new Promise<object>((resolve) => {
    abort = () => resolve({});
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
  });
  try {
    return await Promise.race([promise, over]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/** Whether the node leaves, or the provider ends. */
function isLeave(reason: unknown): boolean {
  return ((reason ?? {}) as Partial<DoyenError>).code === 'left';
}

function seatParams({ token }: Term, isGuest: boolean): Record<string, string> {
  return {
    [PARAMS.cluster]: token.cluster,
    [PARAMS.epoch]: String(token.epoch),
    [PARAMS.holder]: token.holder,
    ...(isGuest && { [PARAMS.guest]: '1' }),
  };
}

/** Resolves after `ms`, or as soon as `signal` aborts. */
function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done, { once: true });
    if (signal.aborted) done();
  });
}

/** The term is over. */
const OVER: Ending = { code: 0, reason: '' };
/** After which a newer leader that was not heard of is one that cannot be heard. */
const HEARSAY_MS = 5_000;
/** Who was sent away for good asks again now and then: what was wrong may have been set right. */
const RETRY_MS = 30_000;
