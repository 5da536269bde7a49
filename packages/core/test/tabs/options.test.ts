import { expect, it, vi } from 'vitest';
import { join } from '../../src/index.ts';
import { type TabsOptions, tabKey, tabs } from '../../src/tabs/index.ts';

function problemOf(options: unknown): string {
  try {
    tabs(options as TabsOptions);
    return 'none';
  } catch (error) {
    return String(error);
  }
}

it('wrong options are refused by name', () => {
  expect(problemOf(undefined)).toBe('none');
  expect(problemOf({ name: 'my-app.v2', linksMax: 3, worker: false, locks: null })).toBe('none');
  expect(problemOf(null)).toBe('TypeError: options must be an object, got null');
  expect(problemOf({ nam: 'x' })).toBe('TypeError: nam is no option');
  expect(problemOf({ name: 7 })).toMatch(/^TypeError: name must be 1 to 64 letters.*, got 7$/);
  for (const name of ['', '-x', 'a/b', 'x'.repeat(65)]) {
    expect(problemOf({ name })).toMatch(/^RangeError: name must be/);
  }
  for (const linksMax of [0, 1.5, Number.NaN]) {
    expect(problemOf({ linksMax })).toMatch(/^RangeError: linksMax must be a positive integer/);
  }
  expect(problemOf({ worker: true })).toMatch(/^TypeError: worker must be false or a function/);
  expect(problemOf({ BroadcastChannel: {} })).toMatch(/^TypeError: BroadcastChannel must be/);
  expect(problemOf({ locks: {} })).toMatch(/^TypeError: locks must be null or an object/);
});

it('B6: without BroadcastChannel joining fails with a code', async () => {
  vi.stubGlobal('BroadcastChannel', undefined);
  try {
    const joining = join({ cluster: 'c', transport: tabs() });
    await expect(joining).rejects.toMatchObject({ name: 'DoyenError', code: 'unsupported' });
  } finally {
    vi.unstubAllGlobals();
  }
});

it('a tabs transport serves one node once', () => {
  const transport = tabs();
  const start = () => {
    const handler = {} as Parameters<typeof transport.start>[0];
    const signal = AbortSignal.abort();
    transport.start(handler, { cluster: 'c', id: 'a', instance: 'i', signal });
  };
  start();
  expect(start).toThrow(TypeError);
});

it('B4, B6: where there are no Web Locks, a tab key is refused with a code', async () => {
  vi.stubGlobal('navigator', {});
  try {
    await expect(tabKey()).rejects.toMatchObject({ name: 'DoyenError', code: 'unsupported' });
    // And asked again, it tries again.
    await expect(tabKey()).rejects.toMatchObject({ code: 'unsupported' });
  } finally {
    vi.unstubAllGlobals();
  }
});
