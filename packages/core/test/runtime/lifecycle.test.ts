import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { systemHost } from '../../src/runtime/system-host.ts';

// Node has no document: two event targets stand for the page and its window.
const page = Object.assign(new EventTarget(), { visibilityState: 'visible' });
let view: EventTarget;
let controller: AbortController;

beforeEach(() => {
  view = new EventTarget();
  controller = new AbortController();
  page.visibilityState = 'visible';
  vi.stubGlobal('document', page);
  vi.stubGlobal('addEventListener', view.addEventListener.bind(view));
});

afterEach(() => {
  controller.abort();
  vi.unstubAllGlobals();
});

function watched(): string[] {
  const seen: string[] = [];
  systemHost().watchLifecycle((kind) => seen.push(kind), controller.signal);
  return seen;
}

function transition(type: string, persisted: boolean): Event {
  return Object.assign(new Event(type), { persisted });
}

it('B2: pagehide is final, unless the page goes into the back/forward cache', () => {
  const seen = watched();
  view.dispatchEvent(transition('pageshow', false));
  view.dispatchEvent(transition('pagehide', true));
  view.dispatchEvent(transition('pageshow', true));
  view.dispatchEvent(transition('pagehide', false));
  expect(seen).toEqual(['freeze', 'pageshow', 'pagehide']);
});

it('B2: freeze, resume, visibility and the network are reported', () => {
  const seen = watched();
  page.visibilityState = 'hidden';
  for (const type of ['visibilitychange', 'freeze', 'resume']) page.dispatchEvent(new Event(type));
  page.visibilityState = 'visible';
  page.dispatchEvent(new Event('visibilitychange'));
  view.dispatchEvent(new Event('online'));
  expect(seen).toEqual(['hidden', 'freeze', 'resume', 'visible', 'online']);
});

it('a page that starts hidden says so', () => {
  page.visibilityState = 'hidden';
  expect(watched()).toEqual(['hidden']);
});

it('B2: neither unload nor beforeunload is listened to', () => {
  const types: string[] = [];
  vi.stubGlobal('addEventListener', (type: string) => types.push(type));
  watched();
  expect(types).toEqual(['online', 'pagehide', 'pageshow']);
});

it('nothing is reported once the signal has aborted', () => {
  const seen = watched();
  controller.abort();
  page.dispatchEvent(new Event('freeze'));
  view.dispatchEvent(transition('pagehide', false));
  expect(seen).toEqual([]);
});

it('a worker or a Node process has no page, and needs none', () => {
  vi.stubGlobal('document', undefined);
  const seen = watched();
  view.dispatchEvent(new Event('online'));
  expect(seen).toEqual(['online']);
  vi.stubGlobal('addEventListener', undefined);
  expect(watched()).toEqual([]);
});
