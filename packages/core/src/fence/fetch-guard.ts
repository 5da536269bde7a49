import { checkValue, FUNCTION } from '../option-check.ts';
import {
  BodyRefused,
  type GuardAnswer,
  type GuardOptions,
  HttpGuard,
  isReading,
  TOKEN_MISSING,
} from './http-guard.ts';
import { FENCE_HEADER } from './http-header.ts';
import type { Token } from './token.ts';

/**
 * Puts a fence before a handler of requests, as servers of the fetch kind have them.
 *
 * A request with a `Doyen-Fence` header is handled while nothing else happens to the resource, if
 * its token is admitted, and answered with 412 and `Doyen-Fence-High` if not; its body is read
 * before. What the handler changes must be changed when its promise resolves. Without the header,
 * `GET`, `HEAD` and `OPTIONS` are handled at any time, with no token; others are answered with 428.
 */
export function fetchGuard(
  options: GuardOptions,
  handler: (request: Request, token: Token | null) => Response | PromiseLike<Response>,
): (request: Request) => Promise<Response> {
  const guard = new HttpGuard(options);
  checkValue('handler', handler, FUNCTION);
  return async (request) => {
    const header = request.headers.get(FENCE_HEADER);
    if (header === null) {
      return isReading(request.method) ? handler(request, null) : answered(TOKEN_MISSING);
    }
    const answer = await guard.answer(
      header,
      (bytesMax) => readBody(request, bytesMax),
      (token, body) => handler(withBody(request, body), token),
    );
    return 'result' in answer ? answer.result : answered(answer);
  };
}

async function readBody(request: Request, bytesMax: number): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let sizeBytes = 0;
  const reader = request.body?.getReader();
  for (;;) {
    const { done, value } = (await reader?.read().catch(brokeOff)) ?? { done: true };
    if (done) break;
    sizeBytes += value.byteLength;
    if (sizeBytes > bytesMax) {
      await reader?.cancel();
      throw new BodyRefused(413);
    }
    chunks.push(value);
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
}

function brokeOff(cause: unknown): never {
  throw new BodyRefused(400, { cause });
}

/** The same request once more: its own body has been read. */
function withBody(request: Request, body: Uint8Array<ArrayBuffer>): Request {
  const { url, method, headers, signal } = request;
  const hasBody = method !== 'GET' && method !== 'HEAD';
  return new Request(url, { method, headers, signal, ...(hasBody && { body }) });
}

function answered({ status, headers, text }: GuardAnswer): Response {
  return new Response(status === 204 ? null : text, { status, headers });
}
