import { checkValue, FUNCTION, type Rule } from '../option-check.ts';
import { DoyenError } from '../runtime/error.ts';
import { shown } from '../runtime/options.ts';
import type { Fence } from './fence.ts';
import { FencedError } from './fenced-error.ts';
import {
  FENCE_HEADER,
  type FenceRequest,
  fenceHeader,
  HIGH_HEADER,
  REFUSED_HEADER,
} from './http-header.ts';
import { checkToken, type Token } from './token.ts';
import type { FenceRefusal } from './verdict.ts';

/** Options of `httpFence()`. */
export interface HttpFenceOptions {
  /** Address of a resource behind `fetchGuard()`, `nodeGuard()`, or what speaks like them. */
  readonly url: string | URL;
  /** Makes the requests: the place for credentials and time limits. @defaultValue the global one */
  readonly fetch?: (request: Request) => Promise<Response>;
}

/**
 * The client of a fence behind HTTP. An effect is a request: what `fetch()` takes beside the
 * address, or a whole `Request` when it goes elsewhere than to `url`. It is sent with the token in
 * its `Doyen-Fence` header, and `admit` gives the response, whatever its status, unless the token
 * was refused. When no response comes, the effect may have happened.
 */
export function httpFence(options: HttpFenceOptions): Fence<RequestInit | Request, Response> {
  const { url, fetch } = options;
  checkValue('url', url, ADDRESS);
  if (fetch !== undefined) checkValue('fetch', fetch, FUNCTION);
  return new HttpFence(options);
}

class HttpFence implements Fence<RequestInit | Request, Response> {
  readonly #url: string;
  readonly #fetch: (request: Request) => Promise<Response>;

  constructor({ url, fetch }: HttpFenceOptions) {
    this.#url = String(url);
    this.#fetch = fetch ?? ((request) => globalThis.fetch(request));
  }

  async open(token: Token): Promise<void> {
    await this.#ask({ type: 'open', token: checkToken(token) });
  }

  async admit(token: Token, effect: RequestInit | Request): Promise<Response> {
    const request = { type: 'admit', token: checkToken(token) } as const;
    return this.#send(effect instanceof Request ? effect : this.#request(effect), request);
  }

  async high(): Promise<number> {
    return this.#ask({ type: 'high' });
  }

  /** A request to the guard itself, which answers with its mark. */
  async #ask(question: FenceRequest): Promise<number> {
    const response = await this.#send(this.#request({ method: 'POST' }), question);
    await response.body?.cancel();
    const high = highOf(response);
    if (response.ok && high !== undefined) return high;
    throw new DoyenError(
      'fence-failed',
      `${this.#url} must answer with ${HIGH_HEADER}, answered ${response.status} without it`,
    );
  }

  async #send(request: Request, question: FenceRequest): Promise<Response> {
    const headers = new Headers(request.headers);
    headers.set(FENCE_HEADER, fenceHeader(question));
    const response = await this.#fetch(new Request(request, { headers }));
    const refusal = refusalOf(response, question);
    if (refusal === undefined) return response;
    await response.body?.cancel();
    throw refusal;
  }

  #request(init: RequestInit): Request {
    return new Request(this.#url, init);
  }
}

/** Why the guard refused, or `undefined` when it did not: the response is the application's then. */
function refusalOf(response: Response, question: FenceRequest): Error | undefined {
  const refused = response.headers.get(REFUSED_HEADER);
  const high = highOf(response);
  if (question.type !== 'high' && response.status === 412 && high !== undefined) {
    const verdict = isVerdict(refused) ? refused : impliedVerdict(question.token, high);
    return new FencedError(question.token, { verdict, high });
  }
  if (refused === null) return undefined;
  const code = refused === 'bad-token' || refused === 'busy' ? refused : 'fence-failed';
  return new DoyenError(
    code,
    `the guard refused: ${shown(refused)}, status ${response.status}; nothing changed`,
  );
}

function highOf({ headers }: Response): number | undefined {
  const high = headers.get(HIGH_HEADER);
  return high !== null && /^\d{1,16}$/.test(high) ? Number(high) : undefined;
}

function isVerdict(text: string | null): text is FenceRefusal {
  return text === 'stale' || text === 'conflict' || text === 'foreign';
}

/** For servers that say no more than their mark. */
function impliedVerdict({ epoch }: Token, high: number): FenceRefusal {
  if (epoch < high) return 'stale';
  return epoch === high ? 'conflict' : 'foreign';
}

const ADDRESS: Rule = [
  'address',
  'a string or URL',
  (url) => typeof url === 'string' || url instanceof URL,
];
