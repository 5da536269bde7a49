import { checkValue, withMethods } from '../option-check.ts';
import { DoyenError } from '../runtime/error.ts';
import { shown } from '../runtime/options.ts';
import type { FunctionFence } from './fence.ts';
import { FencedError } from './fenced-error.ts';
import {
  FENCE_HEADER,
  type FenceRequest,
  HIGH_HEADER,
  parseFenceHeader,
  REFUSED_HEADER,
} from './http-header.ts';
import type { Token } from './token.ts';

/** Options of `fetchGuard()` and `nodeGuard()`. */
export interface GuardOptions {
  /**
   * The fence of the one resource behind this guard: `storeFence()`, or `memoryFence()` when the
   * resource ends with this process. Name its `cluster`, or the first to come decides.
   */
  readonly fence: FunctionFence;
  /**
   * A token whose epoch is further above the mark is not believed. A header can say anything, and
   * one poisoned epoch would shut out every true leader; only who trusts all that can send one
   * should raise this. @defaultValue 2^20
   */
  readonly epochJumpMax?: number;
  /** Largest body of a guarded request; over it the answer is 413. @defaultValue 1 MiB */
  readonly bodyBytesMax?: number;
}

/** What a guard says itself, instead of the application. */
export interface GuardAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** Reads the body of a request, up to so many bytes. @throws BodyRefused when it cannot. */
export type ReadBody = (bytesMax: number) => Promise<Uint8Array<ArrayBuffer>>;

/** The body of a guarded request is over its bound, or broke off. */
export class BodyRefused extends Error {
  readonly status: 400 | 413;

  constructor(status: 400 | 413, options?: { readonly cause: unknown }) {
    super(status === 413 ? 'the body is too large' : 'the body broke off', options);
    this.status = status;
  }
}

/** What the guards of all kinds of servers have in common. */
export class HttpGuard {
  readonly #fence: FunctionFence;
  readonly #epochJumpMax: number;
  readonly #bodyBytesMax: number;

  constructor({ fence, epochJumpMax = 2 ** 20, bodyBytesMax = 2 ** 20 }: GuardOptions) {
    checkValue('fence', fence, withMethods('open', 'admit', 'high'));
    checkBound('epochJumpMax', epochJumpMax);
    checkBound('bodyBytesMax', bodyBytesMax);
    this.#fence = fence;
    this.#epochJumpMax = epochJumpMax;
    this.#bodyBytesMax = bodyBytesMax;
  }

  /**
   * What to answer: this guard's own word, or what `effect` gives. The body is read before, so that
   * nobody holds the resource by sending slowly. Rejects only with what `effect` throws.
   */
  async answer<Result>(
    header: string,
    readBody: ReadBody,
    effect: (token: Token, body: Uint8Array<ArrayBuffer>) => Result | PromiseLike<Result>,
  ): Promise<GuardAnswer | { readonly result: Result }> {
    let thrown: { readonly reason: unknown } | undefined;
    try {
      const request = parseFenceHeader(header);
      if (request.type !== 'admit') return await this.#answerItself(request);
      await this.#checkJump(request.token);
      const body = await readBody(this.#bodyBytesMax);
      const result = await this.#fence.admit(request.token, async () => {
        try {
          return await effect(request.token, body);
        } catch (reason) {
          thrown = { reason };
          throw reason;
        }
      });
      return { result };
    } catch (error) {
      if (thrown) throw thrown.reason;
      return refusal(error);
    }
  }

  async #answerItself(request: FenceRequest): Promise<GuardAnswer> {
    if (request.type !== 'high') {
      await this.#checkJump(request.token);
      await this.#fence.open(request.token);
    }
    const high = await this.#fence.high();
    return { status: 204, headers: { [HIGH_HEADER]: String(high) }, text: '' };
  }

  async #checkJump({ epoch }: Token): Promise<void> {
    const high = await this.#fence.high();
    if (epoch - high <= this.#epochJumpMax) return;
    throw new DoyenError(
      'bad-token',
      `epoch must be at most ${this.#epochJumpMax} above ${high}, got ${epoch}; nothing changed`,
    );
  }
}

/** The answer to what changes something and shows no token. */
export const TOKEN_MISSING: GuardAnswer = {
  status: 428,
  headers: { [REFUSED_HEADER]: 'bad-token' },
  text: `a ${FENCE_HEADER} header is required; nothing changed`,
};

/** Whether a request without a token may pass: what only reads needs no fence. */
export function isReading(method: string | undefined): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS';
}

function refusal(error: unknown): GuardAnswer {
  if (error instanceof FencedError) {
    const headers = { [HIGH_HEADER]: String(error.high), [REFUSED_HEADER]: error.verdict };
    return { status: 412, headers, text: error.message };
  }
  if (error instanceof BodyRefused) {
    return { status: error.status, headers: { [REFUSED_HEADER]: 'body' }, text: error.message };
  }
  if (!(error instanceof DoyenError)) throw error;
  const status = error.code === 'bad-token' ? 400 : 503;
  return { status, headers: { [REFUSED_HEADER]: error.code }, text: error.message };
}

function checkBound(option: string, value: number): void {
  if (typeof value !== 'number') {
    throw new TypeError(`${option} must be a number, got ${shown(value)}`);
  }
  if (!(value >= 0)) throw new RangeError(`${option} must be 0 or more, got ${value}`);
}
