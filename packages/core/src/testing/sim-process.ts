import type { Observation } from './checkers.ts';
import type { SimHost } from './sim-host.ts';
import type { SimLocks } from './sim-locks.ts';
import type { SimTransport } from './sim-network.ts';
import { type SimNode, type SimNodeOptions, type SimNodeWatcher, startNode } from './sim-node.ts';
import type { SimStore } from './sim-store.ts';

/** One start of a node: the node, and what it runs on. */
export class SimProcess {
  readonly id: string;
  /** Its own options, with which it is started again. */
  readonly options: SimNodeOptions;
  readonly host: SimHost;
  readonly transport: SimTransport;
  readonly node: SimNode;
  readonly #locks: SimLocks;
  readonly #observe: (observation: Observation) => void;
  #stalledAt = 0;
  #isFrozen = false;

  constructor(parts: {
    readonly id: string;
    readonly cluster: string;
    readonly options: SimNodeOptions;
    /** Options of all nodes; its own take precedence. */
    readonly common: SimNodeOptions;
    readonly host: SimHost;
    readonly transport: SimTransport;
    readonly store: SimStore;
    readonly locks: SimLocks;
    readonly watcher: SimNodeWatcher;
  }) {
    const { id, cluster, common, host, transport, store, locks, watcher } = parts;
    const options = { ...common, ...parts.options };
    if (options.clock !== undefined) host.setClock(options.clock);
    this.id = id;
    this.options = parts.options;
    this.host = host;
    this.transport = transport;
    this.#locks = locks;
    this.#observe = watcher.observed;
    this.node = startNode({ id, cluster, options, host, transport, store, locks, watcher });
  }

  /** Whether it has neither crashed nor left nor failed; also while it is paused. */
  get isUp(): boolean {
    const { state } = this.node;
    return this.host.condition !== 'stopped' && state !== 'left' && state !== 'failed';
  }

  /** Final, and without a word. */
  crash(): void {
    this.host.stop();
    this.transport.crash();
    this.#locks.ended(this.host);
    this.#observe({ type: 'ended', node: this.node, how: 'crashed' });
  }

  pause(): void {
    if (this.host.condition !== 'running') return;
    this.host.pause();
    this.#stalledAt = this.host.now();
  }

  freeze(): void {
    if (this.host.condition !== 'running') return;
    this.host.lifecycle('freeze');
    this.#observe({ type: 'frozen', node: this.node, isSelf: this.node.leadership.isSelf });
    this.pause();
    this.#isFrozen = true;
  }

  /** Its page is covered, or shown again. */
  show(isVisible: boolean): void {
    this.host.arrive(() => this.host.lifecycle(isVisible ? 'visible' : 'hidden'));
  }

  /** Ends a pause or a freeze, as it began. */
  resume(): void {
    if (this.host.condition !== 'paused') return;
    const { node, host } = this;
    // Read before anything of the node has run: it must know by itself that time has passed.
    const { isSelf } = node.leadership;
    this.#observe({ type: 'stalled', node, isSelf, stalledMs: host.now() - this.#stalledAt });
    const wasFrozen = this.#isFrozen;
    if (wasFrozen) this.#observe({ type: 'frozen', node, isSelf });
    this.#isFrozen = false;
    host.resume(() => {
      if (wasFrozen) host.lifecycle('resume');
      this.transport.resumed();
    });
  }
}
