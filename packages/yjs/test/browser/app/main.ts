import { type DoyenNode, join } from '@doyen/core';
import { tabs } from '@doyen/core/tabs';
import * as Y from 'yjs';
import { type DoyenProvider, doyenProvider } from '../../../src/index.ts';

/** What a test does in a page: opens the document, and looks at it. */
class TestPage {
  readonly doc = new Y.Doc();
  readonly faults: string[] = [];
  #opened: { readonly node: DoyenNode; readonly provider: DoyenProvider } | null = null;

  /** What to write when the page goes away. */
  bye = '';

  constructor() {
    // Before the node has its say, and leaves.
    addEventListener('pagehide', () => this.bye && this.write(this.bye));
  }

  async enter(name: string, room: string): Promise<void> {
    const node = await join({ cluster: room, id: name, transport: tabs() });
    const url = location.origin.replace('http', 'ws');
    const provider = doyenProvider(this.doc, { node, room, url });
    provider.awareness.setLocalStateField('name', name);
    provider.on('fault', ({ code }) => this.faults.push(code));
    this.#opened = { node, provider };
  }

  write(text: string): void {
    this.doc.getText('text').insert(0, text);
  }

  get text(): string {
    return this.doc.getText('text').toString();
  }

  get isLeader(): boolean {
    return this.#opened?.node.leadership.isSelf ?? false;
  }

  get isSaved(): boolean {
    const { provider } = this.#opened ?? {};
    return provider?.synced === true && provider.unsynced === 0;
  }

  get status(): string {
    return this.#opened?.provider.status ?? 'none';
  }

  get names(): string[] {
    const states = this.#opened?.provider.awareness.getStates().values() ?? [];
    return [...states].map((state) => String(state['name'])).sort();
  }
}

export type { TestPage };

Object.assign(globalThis, { page: new TestPage() });
