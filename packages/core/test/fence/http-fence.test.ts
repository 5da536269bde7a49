import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fenceHeader, parseFenceHeader } from '../../src/fence/http-header.ts';
import { fetchGuard, httpFence, memoryFence } from '../../src/fence/index.ts';
import { EPOCH_MAX } from '../../src/machine/claim.ts';
import { fenceContract } from '../../src/testing/fence-contract.ts';
import { buildServer, HttpBench, httpClient } from './http-bench.ts';
import { token } from './token.ts';

const URL = 'http://resource.test/';

describe('X3: httpFence before nodeGuard, in processes that are killed', () => {
  let server: Awaited<ReturnType<typeof buildServer>>;
  beforeAll(async () => {
    server = await buildServer();
  });
  afterAll(() => server.remove());

  fenceContract({
    suite: { describe, it },
    setup: () => HttpBench.start(server.script),
    teardown: (bench) => bench.stop(),
  });
});

describe('X3: httpFence before fetchGuard', () => {
  fenceContract({
    suite: { describe, it },
    setup() {
      const texts: string[] = [];
      const fetch = fetchGuard({ fence: memoryFence() }, async (request) => {
        texts.push(await request.text());
        return new Response(null, { status: request.url === URL ? 200 : 500 });
      });
      const client = httpClient(httpFence({ url: URL, fetch }), `${URL}fails`);
      return { client: () => client, effects: async () => texts };
    },
    capabilities: { isDurable: false },
  });
});

describe('httpFence', () => {
  it('gives the response, whatever its status, and sends what it was given', async () => {
    const seen: Request[] = [];
    const fetch = async (request: Request) => {
      seen.push(request.clone());
      return new Response('gone', { status: 410, headers: { 'x-answer': '1' } });
    };
    const fence = httpFence({ url: URL, fetch });
    const init = { method: 'PUT', body: '{}', headers: { authorization: 'Bearer x' } };
    const response = await fence.admit(token(7), init);
    expect([response.status, response.headers.get('x-answer')]).toEqual([410, '1']);
    expect(await response.text()).toBe('gone');
    expect(seen[0]?.headers.get('doyen-fence')).toBe('cluster=c; epoch=7; holder=x');
    expect(seen[0]?.headers.get('authorization')).toBe('Bearer x');
    expect(seen[0]?.method).toBe('PUT');
    expect(await seen[0]?.text()).toBe('{}');
  });

  it('X2: 412 with a mark is a refusal, whoever wrote the server', async () => {
    const verdicts: unknown[] = [];
    for (const high of [34, 33, 0]) {
      const headers = { 'Doyen-Fence-High': String(high) };
      const fence = httpFence({
        url: URL,
        fetch: async () => new Response('', { status: 412, headers }),
      });
      for (const act of [fence.open(token(33)), fence.admit(token(33), {})]) {
        await act.catch((error) => verdicts.push([error.code, error.verdict, error.high]));
      }
    }
    expect(verdicts).toEqual([
      ...Array(2).fill(['fenced', 'stale', 34]),
      ...Array(2).fill(['fenced', 'conflict', 33]),
      ...Array(2).fill(['fenced', 'foreign', 0]),
    ]);
  });

  it('a 412 without a mark is the answer of the application', async () => {
    const fence = httpFence({ url: URL, fetch: async () => new Response('', { status: 412 }) });
    expect((await fence.admit(token(1), { method: 'PUT' })).status).toBe(412);
  });

  it('says so when what answers is no fence', async () => {
    for (const [status, high] of [
      [200, null],
      [404, null],
      [500, '3'],
      [200, 'x'],
    ] as const) {
      const headers = high === null ? {} : { 'doyen-fence-high': high };
      const fence = httpFence({
        url: URL,
        fetch: async () => new Response('', { status, headers }),
      });
      await expect(fence.high()).rejects.toMatchObject({ code: 'fence-failed' });
      await expect(fence.open(token(1))).rejects.toMatchObject({ code: 'fence-failed' });
    }
  });

  it('rejects as fetch does when there is no answer', async () => {
    const failure = new TypeError('fetch failed');
    const fence = httpFence({ url: URL, fetch: () => Promise.reject(failure) });
    await expect(fence.admit(token(1), {})).rejects.toBe(failure);
    const aborted = new Error('stop');
    const init = { signal: AbortSignal.abort(aborted) };
    await expect(httpFence({ url: 'http://127.0.0.1:1/' }).admit(token(1), init)).rejects.toBe(
      aborted,
    );
  });
});

describe('the Doyen-Fence header', () => {
  it('X1: carries every token unchanged', () => {
    const name = fc.string({ unit: 'binary', minLength: 1, maxLength: 30 }).filter(isName);
    const epoch = fc.integer({ min: 1, max: EPOCH_MAX });
    fc.assert(
      fc.property(fc.record({ cluster: name, epoch, holder: name }), fc.boolean(), (one, opens) => {
        const request = { type: opens ? 'open' : 'admit', token: one } as const;
        const header = fenceHeader(request);
        expect(header).toMatch(/^[\x20-\x7e]+$/);
        expect(new Headers([['doyen-fence', header]]).get('doyen-fence')).toBe(header);
        expect(parseFenceHeader(header)).toEqual(request);
      }),
    );
  });

  it.each([
    '',
    'epoch=7; cluster=c; holder=x',
    'cluster=c; epoch=7',
    'cluster=; epoch=7; holder=x',
    'cluster=c; epoch=0; holder=x',
    'cluster=c; epoch=-7; holder=x',
    'cluster=c; epoch=7.5; holder=x',
    'cluster=c; epoch=7e3; holder=x',
    'cluster=c; epoch=0x7; holder=x',
    'cluster=c; epoch=NaN; holder=x',
    'cluster=c; epoch=9007199254740991; holder=x',
    'cluster=c; epoch=99999999999999999999; holder=x',
    'cluster=%; epoch=7; holder=x',
    'cluster=%00; epoch=7; holder=x',
    'cluster=%ED%A0%80; epoch=7; holder=x',
    'cluster=c; epoch=7; holder=x; close',
    'cluster=c; epoch=7; holder=x, cluster=c; epoch=8; holder=x',
  ])('X1: is refused as a whole when it is malformed: %s', (header) => {
    const badToken = expect.objectContaining({ code: 'bad-token' });
    expect(() => parseFenceHeader(header)).toThrow(badToken);
  });

  it('M11: is refused when it is longer than any token', () => {
    const header = `cluster=c; epoch=7; holder=${'%78'.repeat(1000)}`;
    expect(() => parseFenceHeader(header)).toThrow(expect.objectContaining({ code: 'bad-token' }));
  });
});

function isName(text: string): boolean {
  return !/[\p{Cc}\p{Cs}]/u.test(text) && new TextEncoder().encode(text).length <= 128;
}
