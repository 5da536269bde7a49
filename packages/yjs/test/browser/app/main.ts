import { type DoyenNode, join, type Token } from '@doyen/core';
import { type TabsTransport, tabKey, tabs, webLock } from '@doyen/core/tabs';
import * as Y from 'yjs';
import { writeGuarded } from '../../../../core/test/fence/browser/guarded.ts';
import { countPlatform } from '../../../../core/test/tabs/browser/baseline.ts';
import { type DoyenProvider, doyenProvider } from '../../../src/index.ts';

/** Who opens which document. */
export interface Entry {
  readonly name: string;
  readonly room: string;
  /** Whoever holds the Web Lock leads, not the oldest. */
  readonly isLocked?: boolean;
  /** The node is called by the key of its tab, not by `name`. */
  readonly isKeyed?: boolean;
}

interface Opened {
  readonly transport: TabsTransport;
  readonly node: DoyenNode;
  readonly provider: DoyenProvider;
}

/** What a test does in a page, or in a worker: opens the document, and looks at it. */
class TestPage {
  readonly doc = new Y.Doc();
  readonly faults: string[] = [];
  /** Who has led since it has entered, and when terms of its own have ended. */
  readonly log: string[] = [];
  /** How often it has come back from the cache. */
  restored = 0;
  #opened: Opened | null = null;
  #token: Token | null = null;

  /** What to write when the page goes away. */
  bye = '';

  readonly countPlatform = countPlatform;

  constructor() {
    // Before the node has its say, and leaves.
    addEventListener('pagehide', () => this.bye && this.write(this.bye));
    addEventListener('pageshow', ({ persisted }) => {
      if (persisted) this.restored += 1;
    });
  }

  async enter({ name, room, isLocked = false, isKeyed = false }: Entry): Promise<void> {
    const transport = tabs();
    const node = await join({
      cluster: room,
      id: isKeyed ? await tabKey() : name,
      transport,
      ...(isLocked && { election: webLock(), detection: PATIENT }),
    });
    const url = location.origin.replace('http', 'ws');
    const provider = doyenProvider(this.doc, { node, room, url });
    provider.awareness.setLocalStateField('name', name);
    provider.on('fault', ({ code }) => this.faults.push(code));
    this.#opened = { transport, node, provider };
    this.#follow(node);
  }

  async leave(): Promise<void> {
    this.#opened?.provider.destroy();
    await this.#opened?.node.leave();
    this.#opened = null;
  }

  /** Has a timer as hidden pages have them: from a worker. */
  useWorker(): void {
    Object.defineProperty(document, 'visibilityState', { value: 'hidden', configurable: true });
    this.#opened?.transport.timer(() => undefined, 1);
    Reflect.deleteProperty(document, 'visibilityState');
  }

  write(text: string): void {
    this.doc.getText('text').insert(0, text);
  }

  /** What its work of the latest term here does to something that only the leader may write. */
  async writeAsLeader(): Promise<string> {
    return this.#token ? writeGuarded(this.#token) : 'no token';
  }

  /**
   * Lets nothing else run for so long, then writes, as if nothing had been; gives whether it leads,
   * in the same task.
   */
  hang(ms: number, text: string): boolean {
    const endMs = performance.now() + ms;
    while (performance.now() < endMs);
    this.write(text);
    return this.isLeader;
  }

  get text(): string {
    return this.doc.getText('text').toString();
  }

  get isLeader(): boolean {
    return this.#opened?.node.leadership.isSelf ?? false;
  }

  /** Of the node. */
  get id(): string {
    return this.#opened?.node.id ?? '';
  }

  get leader(): string {
    return this.#opened?.node.leadership.current?.id ?? '';
  }

  get epoch(): number {
    return this.#opened?.node.leadership.epoch ?? 0;
  }

  get memberCount(): number {
    return this.#opened?.node.members.length ?? 0;
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

  #follow(node: DoyenNode): void {
    node.leadership.addEventListener('change', ({ leader, epoch }) => {
      this.log.push(`leader ${leader?.id ?? null} ${epoch}`);
    });
    void node.leadership.lead(async ({ signal, token, epoch }) => {
      this.#token = token;
      signal.addEventListener('abort', () => this.log.push(`end ${epoch} ${this.isLeader}`));
    });
  }
}

/** On a busy machine a page may stand still for seconds, which must be no reason to lose the lead. */
const PATIENT = { leaderSuspicionMinMs: 5_000 };

export type { TestPage };

Object.assign(globalThis, { page: new TestPage() });
