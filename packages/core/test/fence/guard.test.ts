import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import {
  fetchGuard,
  type Guarded,
  type GuardOptions,
  httpFence,
  memoryFence,
  nodeGuard,
  storeFence,
} from '../../src/fence/index.ts';
import { DoyenError } from '../../src/index.ts';
import { EPOCH_MAX } from '../../src/machine/claim.ts';
import { withResolvers } from '../../src/runtime/promise.ts';
import { memoryStore } from '../../src/store/index.ts';
import { token } from './token.ts';

/** What a handler does, said in a way that both kinds of handlers can be made of. */
type Act = (body: string, isGuarded: boolean) => Promise<string> | string;

interface Site {
  readonly url: string;
  fetch(request: Request): Promise<Response>;
  /** What the guard has rejected with. */
  readonly failures: unknown[];
}

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function nodeSite(options: GuardOptions, act: Act): Promise<Site> {
  const failures: unknown[] = [];
  const guard = nodeGuard(options, async (_request, response, guarded: Guarded | null) => {
    const body = guarded ? new TextDecoder().decode(guarded.body) : '';
    response.end(await act(body, guarded !== null));
  });
  const server = createServer((request, response) => {
    guard(request, response).catch((error) => failures.push(error));
  });
  const url = await listen(server);
  return { url, fetch: (request) => fetch(request), failures };
}

async function fetchSite(options: GuardOptions, act: Act): Promise<Site> {
  const failures: unknown[] = [];
  const guard = fetchGuard(options, async (request, guarded) => {
    const body = guarded ? await request.text() : '';
    return new Response(await act(body, guarded !== null));
  });
  const fetch = (request: Request) =>
    guard(request).catch((error) => {
      failures.push(error);
      return new Response(null, { status: 500 });
    });
  return { url: 'http://resource.test/', fetch, failures };
}

async function listen(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

describe.each([
  { name: 'nodeGuard', open: nodeSite },
  { name: 'fetchGuard', open: fetchSite },
])('$name', ({ open }) => {
  const put = (header: string, body = 'x') => ({
    method: 'PUT',
    headers: { 'Doyen-Fence': header },
    body,
  });

  it('X2: answers a refused token with 412, the mark and the verdict, and changes nothing', async () => {
    const done: string[] = [];
    const { url, fetch } = await open({ fence: memoryFence() }, (body) => String(done.push(body)));
    await fetch(new Request(url, put('cluster=c; epoch=34; holder=x', 'first')));
    const answers = [];
    for (const header of [
      'cluster=c; epoch=33; holder=x',
      'cluster=c; epoch=34; holder=y',
      'cluster=d; epoch=35; holder=x',
    ]) {
      const { status, headers } = await fetch(new Request(url, put(header)));
      answers.push([status, headers.get('doyen-fence-high'), headers.get('doyen-fence-refused')]);
    }
    expect(answers).toEqual([
      [412, '34', 'stale'],
      [412, '34', 'conflict'],
      [412, '0', 'foreign'],
    ]);
    expect(done).toEqual(['first']);
  });

  it('X1: what changes something needs a token, what reads does not', async () => {
    const seen: boolean[] = [];
    const act: Act = (_body, isGuarded) => String(seen.push(isGuarded));
    const { url, fetch } = await open({ fence: memoryFence() }, act);
    for (const method of ['PUT', 'POST', 'PATCH', 'DELETE']) {
      const { status, headers } = await fetch(new Request(url, { method }));
      expect([status, headers.get('doyen-fence-refused')]).toEqual([428, 'bad-token']);
    }
    expect(seen).toEqual([]);
    for (const method of ['GET', 'HEAD', 'OPTIONS']) {
      expect((await fetch(new Request(url, { method }))).status).toBe(200);
    }
    const headers = { 'doyen-fence': 'cluster=c; epoch=1; holder=x' };
    expect((await fetch(new Request(url, { headers }))).status).toBe(200);
    expect(seen).toEqual([false, false, false, true]);
  });

  it('X1: a malformed token is answered with 400, and changes nothing', async () => {
    const done: string[] = [];
    const fence = memoryFence();
    const { url, fetch } = await open({ fence }, (body) => String(done.push(body)));
    for (const header of [
      '',
      'open',
      'cluster=c; epoch=1.5; holder=x',
      'cluster=c; epoch=-1; holder=x',
    ]) {
      const { status, headers } = await fetch(new Request(url, put(header)));
      expect([status, headers.get('doyen-fence-refused')]).toEqual([400, 'bad-token']);
    }
    expect([done, await fence.high()]).toEqual([[], 0]);
  });

  it('E11, X1: an epoch too far above the mark is not believed, unless the server says so', async () => {
    const [wary, trusting] = [memoryFence(), memoryFence()];
    const site = await open({ fence: wary }, () => '');
    const { url, fetch } = site;
    const client = httpFence({ url, fetch });
    const far = token(2 ** 20 + 1);
    await expect(client.open(far)).rejects.toMatchObject({ code: 'bad-token' });
    await expect(client.admit(far, { method: 'PUT' })).rejects.toMatchObject({ code: 'bad-token' });
    expect(await wary.high()).toBe(0);
    await client.open(token(2 ** 20));
    await client.open(token(2 ** 21));
    await expect(client.open(token(EPOCH_MAX))).rejects.toMatchObject({ code: 'bad-token' });
    const other = await open({ fence: trusting, epochJumpMax: Infinity }, () => '');
    await httpFence(other).open(token(EPOCH_MAX));
    expect(await trusting.high()).toBe(EPOCH_MAX);
  });

  it('X1: handles one guarded request at a time, and reads at any time', async () => {
    const { promise: isFirst, resolve: begin } = withResolvers<void>();
    const { promise: mayEnd, resolve: end } = withResolvers<void>();
    const order: string[] = [];
    const { url, fetch } = await open({ fence: memoryFence() }, async (body, isGuarded) => {
      if (!isGuarded) return order.join();
      order.push(`${body} begins`);
      begin();
      if (body === 'one') await mayEnd;
      order.push(`${body} ends`);
      return '';
    });
    const header = 'cluster=c; epoch=1; holder=x';
    const one = fetch(new Request(url, put(header, 'one')));
    await isFirst;
    const two = fetch(new Request(url, put(header, 'two')));
    expect(await (await fetch(new Request(url))).text()).toBe('one begins');
    end();
    await Promise.all([one, two]);
    expect(order).toEqual(['one begins', 'one ends', 'two begins', 'two ends']);
  });

  it('M11: a body over its bound is answered with 413, and nothing is done', async () => {
    const done: string[] = [];
    const options = { fence: memoryFence(), bodyBytesMax: 1000 };
    const { url, fetch } = await open(options, (body) => String(done.push(body)));
    const header = 'cluster=c; epoch=1; holder=x';
    const big = await fetch(new Request(url, put(header, 'x'.repeat(200_000))));
    expect([big.status, big.headers.get('doyen-fence-refused')]).toEqual([413, 'body']);
    expect((await fetch(new Request(url, put(header, 'x'.repeat(1000))))).status).toBe(200);
    expect(done).toEqual(['x'.repeat(1000)]);
  });

  it('X1: a mark that cannot be stored is answered with 503, and nothing is done', async () => {
    const done: string[] = [];
    const store = {
      ...memoryStore(),
      read: async () => null,
      write: () => Promise.reject(new DoyenError('storage-failed', 'the disk is full')),
    };
    const { url, fetch } = await open({ fence: storeFence({ store }) }, (body) =>
      String(done.push(body)),
    );
    const { status, headers } = await fetch(new Request(url, put('cluster=c; epoch=1; holder=x')));
    expect([status, headers.get('doyen-fence-refused')]).toEqual([503, 'storage-failed']);
    const client = httpFence({ url, fetch });
    await expect(client.open(token(1))).rejects.toMatchObject({ code: 'fence-failed' });
    expect(done).toEqual([]);
  });

  it('what the handler throws is its own, also when it looks like a refusal of this fence', async () => {
    const other = memoryFence();
    await other.open(token(9));
    const { url, fetch, failures } = await open({ fence: memoryFence() }, async () => {
      await other.open(token(1));
      return '';
    });
    const response = await fetch(new Request(url, put('cluster=c; epoch=1; holder=x')));
    expect([response.status, response.headers.get('doyen-fence-high')]).toEqual([500, null]);
    expect(failures).toEqual([expect.objectContaining({ code: 'fenced', high: 9 })]);
  });

  it('refuses wrong options by name', async () => {
    const fence = memoryFence();
    await expect(open({ fence, epochJumpMax: -1 }, () => '')).rejects.toThrow(
      /^epochJumpMax must be 0/,
    );
    await expect(open({ fence, bodyBytesMax: Number.NaN }, () => '')).rejects.toThrow(RangeError);
    const text = '7' as unknown as number;
    await expect(open({ fence, bodyBytesMax: text }, () => '')).rejects.toThrow(TypeError);
  });
});

describe('nodeGuard', () => {
  it('X1: a sender that stops in the middle holds nothing up, and its request is not done', async () => {
    const done: string[] = [];
    const { url, fetch, failures } = await nodeSite({ fence: memoryFence() }, (body) =>
      String(done.push(body)),
    );
    const { hostname, port } = new globalThis.URL(url);
    const slow = connect(Number(port), hostname);
    await once(slow, 'connect');
    slow.write(
      'PUT / HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n' +
        'doyen-fence: cluster=c; epoch=1; holder=x\r\n\r\nhalf',
    );
    const client = httpFence({ url, fetch });
    await client.open(token(2));
    await (await client.admit(token(2), { method: 'PUT', body: 'next' })).text();
    slow.destroy();
    await once(slow, 'close');
    await (await client.admit(token(2), { method: 'PUT', body: 'last' })).text();
    expect(done).toEqual(['next', 'last']);
    expect(failures).toEqual([]);
  });

  it('leaves an answer alone that the handler has begun before it threw', async () => {
    const failure = new Error('later');
    const guard = nodeGuard(
      { fence: memoryFence() },
      async (_request: IncomingMessage, response: ServerResponse) => {
        response.writeHead(202).end('begun');
        throw failure;
      },
    );
    const caught: unknown[] = [];
    const url = await listen(
      createServer((request, response) => {
        guard(request, response).catch((error) => caught.push(error));
      }),
    );
    const response = await httpFence({ url }).admit(token(1), { method: 'PUT' });
    expect([response.status, await response.text()]).toEqual([202, 'begun']);
    expect(caught).toEqual([failure]);
  });
});
