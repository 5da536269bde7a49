import { describe, expect, test } from 'vitest';
import {
  fetchGuard,
  httpFence,
  memoryFence,
  nodeGuard,
  redisFence,
  storeFence,
} from '../../src/fence/index.ts';
import { memoryStore } from '../../src/store/index.ts';
import { token } from './token.ts';

const fence = memoryFence();
const handler = () => new Response();

describe('what fences are told', () => {
  test.each<[string, () => unknown, string]>([
    ['no options', () => memoryFence(null as never), 'options must be an object, got null'],
    ['no store', () => storeFence({} as never), 'store must be an object with read, write'],
    ['no address', () => httpFence({} as never), 'url must be a string or URL, got undefined'],
    [
      'no fetch',
      () => httpFence({ url: 'http://a', fetch: 5 as never }),
      'fetch must be a function, got 5',
    ],
    [
      'no client',
      () => redisFence({ key: 'a' } as never),
      'client must be an object with call or sendCommand',
    ],
    [
      'nothing to guard with',
      () => fetchGuard({} as never, handler),
      'fence must be an object with open, admit, high',
    ],
    [
      'no handler of the fetch kind',
      () => fetchGuard({ fence }, undefined as never),
      'handler must be a function, got undefined',
    ],
    [
      'no handler of node:http',
      () => nodeGuard({ fence }, 'GET' as never),
      'handler must be a function, got "GET"',
    ],
  ])('X3: %s is refused by name when the fence is made', (_what, make, message) => {
    expect(make).toThrow(TypeError);
    expect(make).toThrow(message);
  });

  test.each([
    ['in memory', () => memoryFence()],
    ['over a store', () => storeFence({ store: memoryStore() })],
  ])('X1, X2: what is no effect is refused, and raises no mark %s', async (_kind, make) => {
    const untouched = make();
    await expect(untouched.admit(token(7), 'write' as never)).rejects.toThrow(
      'effect must be a function, got "write"',
    );
    expect(await untouched.high()).toBe(0);
  });
});
