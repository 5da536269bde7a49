import { createServer } from 'node:http';
import { expectTypeOf, it } from 'vitest';
import {
  type Fence,
  type FunctionFence,
  floorOf,
  httpFence,
  indexedDbFence,
  memoryFence,
  nodeGuard,
  redisFence,
} from '../../src/fence/index.ts';
import type { DoyenNode, JoinOptions } from '../../src/index.ts';
import { token } from './token.ts';

// Checked by the compiler: nothing here runs but the empty shells of the tests.

it('admit() gives what its kind of effect gives', () => {
  const use = async (database: IDBDatabase): Promise<void> => {
    const memory = memoryFence();
    expectTypeOf(await memory.admit(token(1), () => 7)).toEqualTypeOf<number>();
    expectTypeOf(await memory.admit(token(1), async () => 'x')).toEqualTypeOf<string>();
    const indexed = indexedDbFence({ database, stores: ['list'] });
    const count = await indexed.admit(token(1), (transaction) => {
      expectTypeOf(transaction).toEqualTypeOf<IDBTransaction>();
      return 7;
    });
    expectTypeOf(count).toEqualTypeOf<number>();
    const http = httpFence({ url: 'http://resource.test/' });
    expectTypeOf(await http.admit(token(1), { method: 'PUT' })).toEqualTypeOf<Response>();
    const redis = redisFence({ client: { sendCommand: async () => [] }, key: 'k' });
    expectTypeOf(await redis.admit(token(1), [['INCR', 'n']])).toEqualTypeOf<readonly unknown[]>();
    // @ts-expect-error Redis runs commands, not functions.
    await redis.admit(token(1), () => 7);
  };
  expectTypeOf(use).toBeFunction();
});

it('every fence can be opened, and asked for its mark', () => {
  const fences = (database: IDBDatabase): readonly Fence[] => [
    memoryFence(),
    indexedDbFence({ database, stores: [] }),
    httpFence({ url: 'http://resource.test/' }),
    redisFence({ client: { call: async () => [] }, key: 'k' }),
  ];
  expectTypeOf(fences).toBeFunction();
  expectTypeOf(floorOf(memoryFence())).toExtend<NonNullable<JoinOptions['floor']>>();
});

it('a fence takes the token of a term', () => {
  const lead = (node: DoyenNode, fence: FunctionFence) =>
    node.leadership.lead(async ({ token }) => {
      await fence.open(token);
      await fence.admit(token, () => undefined);
    });
  expectTypeOf(lead).toBeFunction();
});

it('a guard is a listener of node:http', () => {
  const serve = () =>
    createServer(
      nodeGuard({ fence: memoryFence() }, async (request, response, guarded) => {
        expectTypeOf(request.url).toEqualTypeOf<string | undefined>();
        response.statusCode = guarded ? 201 : 200;
        response.end(guarded?.body);
      }),
    );
  expectTypeOf(serve).toBeFunction();
});
