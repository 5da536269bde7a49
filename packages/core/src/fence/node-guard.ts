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

/** What the guard needs of an `IncomingMessage` of `node:http`. */
export interface NodeRequest extends AsyncIterable<Uint8Array> {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** What the guard needs of a `ServerResponse` of `node:http`. */
export interface NodeResponse {
  statusCode: number;
  readonly headersSent: boolean;
  setHeader(name: string, value: string): unknown;
  end(body?: string | Uint8Array): unknown;
}

/** What a guarded handler is given beside the request and the response. */
export interface Guarded {
  readonly token: Token;
  /** The whole body: the stream of the request has been read. */
  readonly body: Uint8Array;
}

/**
 * Puts a fence before a listener of `node:http`: `createServer(nodeGuard({ fence }, handler))`.
 *
 * A request with a `Doyen-Fence` header is handled while nothing else happens to the resource, if
 * its token is admitted, and answered with 412 and `Doyen-Fence-High` if not; its body is read
 * before. What the handler changes must be changed when its promise resolves. Without the header,
 * `GET`, `HEAD` and `OPTIONS` are handled at any time, with `null`; others are answered with 428.
 * When the handler throws, the answer is 500 unless it has begun one, and the listener rejects.
 */
export function nodeGuard<Request extends NodeRequest, Response extends NodeResponse>(
  options: GuardOptions,
  handler: (request: Request, response: Response, guarded: Guarded | null) => unknown,
): (request: Request, response: Response) => Promise<void> {
  const guard = new HttpGuard(options);
  checkValue('handler', handler, FUNCTION);
  return async (request, response) => {
    const header = request.headers[FENCE_HEADER];
    try {
      if (header === undefined) {
        if (isReading(request.method)) await handler(request, response, null);
        else send(response, TOKEN_MISSING);
        return;
      }
      const answer = await guard.answer(
        String(header),
        (bytesMax) => readBody(request, bytesMax),
        (token, body) => handler(request, response, { token, body }),
      );
      if (!('result' in answer)) send(response, answer);
    } catch (error) {
      if (!response.headersSent) send(response, FAILED);
      throw error;
    }
  };
}

/** Reads on over the bound, keeping nothing: a client that is cut off would not hear the answer. */
async function readBody(request: NodeRequest, bytesMax: number): Promise<Uint8Array<ArrayBuffer>> {
  let chunks: Uint8Array<ArrayBuffer>[] = [];
  let sizeBytes = 0;
  try {
    for await (const chunk of request) {
      sizeBytes += chunk.byteLength;
      if (sizeBytes <= bytesMax) chunks.push(new Uint8Array(chunk));
      else chunks = [];
    }
  } catch (cause) {
    throw new BodyRefused(400, { cause });
  }
  if (sizeBytes > bytesMax) throw new BodyRefused(413);
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
}

function send(response: NodeResponse, { status, headers, text }: GuardAnswer): void {
  response.statusCode = status;
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  response.end(text);
}

const FAILED: GuardAnswer = { status: 500, headers: {}, text: '' };
