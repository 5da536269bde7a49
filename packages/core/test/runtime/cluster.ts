import type { Lifecycle } from '../../src/machine/input.ts';
import { createNode, type DoyenNode } from '../../src/runtime/node.ts';
import type { JoinOptions } from '../../src/runtime/options.ts';
import { type FaultyTransport, faults } from '../../src/testing/faults.ts';
import { MemoryNetwork, memory } from '../../src/transport/memory.ts';
import { VirtualHost } from './virtual-host.ts';

/** A node, and what a test needs to act on it. */
export interface Seat {
  readonly node: DoyenNode;
  readonly transport: FaultyTransport;
  /** The page of this node reports its lifecycle. */
  report(kind: Lifecycle): void;
}

/** Real nodes on one memory network and one virtual clock. */
export class Cluster {
  readonly host = new VirtualHost();
  readonly #network = new MemoryNetwork();

  add(id: string, options: Partial<JoinOptions> = {}): Seat {
    const transport = faults(memory({ network: this.#network }));
    const { host } = this;
    const page = new VirtualHost();
    const node = createNode(
      { cluster: 'test', id, transport, ...options },
      {
        now: () => host.now(),
        wallNow: () => host.wallNow(),
        random: () => host.random(),
        timer: (callback, delayMs) => host.timer(callback, delayMs),
        watchLifecycle: (listener, signal) => page.watchLifecycle(listener, signal),
      },
    );
    return { node, transport, report: (kind) => page.report(kind) };
  }

  pass(ms: number): Promise<void> {
    return this.host.pass(ms);
  }

  /** Starts nodes one second after another, so that the first is the oldest, and lets them meet. */
  async of(...ids: string[]): Promise<Seat[]> {
    const seats: Seat[] = [];
    for (const id of ids) {
      seats.push(this.add(id));
      await this.pass(1000);
    }
    await this.pass(1000);
    return seats;
  }
}
