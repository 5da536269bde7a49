import './virtual-platform.ts';
import { randomUUID } from 'node:crypto';
import { type SimulateOptions, type Simulation, simulate } from '@doyen/core/testing';
import { docs, setupWSConnection } from '@y/websocket-server/utils';
import { WebsocketProvider } from 'y-websocket';
import * as Y from 'yjs';
import { type DoyenProvider, doyenProvider, type ProviderFault } from '../src/index.ts';
import { type Gate, gate } from '../src/server.ts';
import { enter, exit, own, runAs } from './virtual-platform.ts';
import { Wires } from './wire.ts';

/** One tab: a document, and a provider on a simulated node. */
export interface Tab {
  readonly id: string;
  readonly doc: Y.Doc;
  readonly provider: DoyenProvider;
  readonly faults: ProviderFault[];
}

/** Somebody who is connected by plain y-websocket. */
export interface Outsider {
  readonly doc: Y.Doc;
  readonly provider: WebsocketProvider;
  close(): void;
}

export interface LabOptions extends Omit<SimulateOptions, 'started'> {
  /** Without one, tabs are peers only. @defaultValue true */
  readonly hasServer?: boolean;
  /** @defaultValue true */
  readonly hasGate?: boolean;
  readonly fallback?: boolean;
}

/** A cluster of tabs around a real y-websocket server, in virtual time. */
export class Lab {
  readonly sim: Simulation;
  readonly gate: Gate | null;
  readonly wires: Wires;
  /** Of nodes that run or have crashed, by id; the last one started. */
  readonly tabs = new Map<string, Tab>();
  readonly #options: LabOptions;
  readonly #room = `room-${randomUUID()}`;
  readonly #opened: Tab[] = [];
  readonly #guests: (() => void)[] = [];
  readonly #contents = new Map<string, (doc: Y.Doc) => void>();

  constructor(options: LabOptions) {
    const { hasServer: _server, hasGate = true, fallback: _fallback, ...simulation } = options;
    this.#options = options;
    this.gate = hasGate ? gate() : null;
    this.wires = new Wires((socket, request) => {
      if (this.gate?.admit(socket, request) === false) return;
      setupWSConnection(socket as never, request as never);
    }, seededLatency(options.seed));
    this.sim = simulate({
      ...simulation,
      started: (node) => {
        own(node);
        // The application of a page comes to it once the page has loaded.
        queueMicrotask(() => this.#open(node.id));
      },
    });
    enter(this.sim);
  }

  /** The user of a tab does something. */
  act(id: string, what: (tab: Tab) => void): void {
    runAs(id, () => what(this.tab(id)));
  }

  tab(id: string): Tab {
    const tab = this.tabs.get(id);
    if (!tab) throw new Error(`no tab ${id}`);
    return tab;
  }

  /** Tabs whose nodes run. */
  get running(): Tab[] {
    return this.sim.running.map((id) => this.tab(id));
  }

  get leader(): Tab | undefined {
    return this.running.find(({ id }) => this.sim.node(id).leadership.isSelf);
  }

  get followers(): Tab[] {
    return this.running.filter(({ id }) => !this.sim.node(id).leadership.isSelf);
  }

  /** The document at the server. */
  get serverDoc(): Y.Doc & { awareness: DoyenProvider['awareness'] } {
    const doc = docs.get(this.#room);
    if (!doc) throw new Error('nobody has connected yet');
    return doc;
  }

  /** Connects somebody who knows nothing of Doyen. */
  enter(): Outsider {
    const doc = new Y.Doc();
    const provider = new WebsocketProvider('ws://server', this.#room, doc, {
      WebSocketPolyfill: this.wires.socketClass('outsider') as typeof WebSocket,
      disableBc: true,
    });
    const close = (): void => {
      provider.destroy();
      doc.destroy();
    };
    this.#guests.push(close);
    return { doc, provider, close };
  }

  /** What a tab that will start brings with it. */
  prepare(id: string, fill: (doc: Y.Doc) => void): void {
    this.#contents.set(id, fill);
  }

  /** The process of a tab is killed. */
  crash(id: string): void {
    this.sim.crash(id);
    for (const wire of this.wires.of(id)) wire.cut();
  }

  /** A tab stands still without a word. */
  pause(id: string): void {
    this.sim.pause(id);
    for (const wire of this.wires.of(id)) wire.hold();
  }

  /** The browser freezes a tab, which is told so. */
  freeze(id: string): void {
    this.sim.freeze(id);
    for (const wire of this.wires.of(id)) wire.hold();
  }

  resume(id: string): void {
    this.sim.resume(id);
    for (const wire of this.wires.of(id)) wire.release();
  }

  /** Everybody loses the server. */
  stopServer(): void {
    this.wires.isReachable = () => false;
    for (const wire of [...this.wires.all]) wire.server.terminate();
  }

  startServer(): void {
    this.wires.isReachable = (id) => id === 'outsider' || this.sim.running.includes(id);
  }

  /** Whether all documents, that of the server included, are the same. */
  get isConverged(): boolean {
    const all = this.running.map(({ doc }) => doc);
    if (this.#options.hasServer !== false) all.push(this.serverDoc);
    const [first = '', ...others] = all.map(shown);
    return others.every((other) => other === first);
  }

  shown(): string {
    const all = this.running.map(({ id, doc }) => `${id}: ${shown(doc)}`);
    if (this.#options.hasServer !== false) all.push(`server: ${shown(this.serverDoc)}`);
    return all.join('\n');
  }

  /** Ends everything, crashed tabs included: their timers would run on. */
  close(): void {
    for (const { provider, doc } of this.#opened) {
      provider.destroy();
      doc.destroy();
    }
    for (const close of this.#guests) close();
    for (const wire of [...this.wires.all]) wire.server.terminate();
    docs.get(this.#room)?.destroy();
    docs.delete(this.#room);
    exit();
  }

  #open(id: string): void {
    if (!this.sim.running.includes(id)) return;
    const doc = new Y.Doc();
    // A seed is to repeat everything, and Yjs orders what is written at once by client.
    doc.clientID = 1 + ((this.#opened.length * 2_654_435_761 + this.sim.seed) % 2 ** 31);
    this.#contents.get(id)?.(doc);
    const { hasServer = true, fallback = false } = this.#options;
    const provider = runAs(id, () =>
      doyenProvider(doc, {
        node: this.sim.node(id),
        room: this.#room,
        fallback,
        ...(hasServer && { url: 'ws://server', WebSocket: this.wires.socketClass(id) }),
      }),
    );
    const tab: Tab = { id, doc, provider, faults: [] };
    provider.on('fault', (fault) => tab.faults.push(fault));
    this.tabs.set(id, tab);
    this.#opened.push(tab);
  }
}

/** Everything that a test puts into a document. */
export function shown(doc: Y.Doc): string {
  return JSON.stringify({
    text: doc.getText('text').toString(),
    scratch: doc.getText('scratch').toString(),
    map: Object.fromEntries([...doc.getMap('map')].sort()),
  });
}

function seededLatency(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return 5 + (state % 20);
  };
}
