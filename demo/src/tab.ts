import { type DoyenNode, join, type LeaderChangeEvent } from '@doyen/core';
import { type FaultyTransport, faults } from '@doyen/core/testing';
import { webrtc } from '@doyen/webrtc';
import type { Address } from './address.ts';
import { Computation } from './computation.ts';
import type { CheckpointListener } from './coordinator/checkpoint.ts';
import { WorkerRenderer } from './worker-renderer.ts';

/** Long enough to hear from a leader, if there is one. */
const STAND_BACK_MS = 5_000;

/** How this tab's node fares. All but `running` and `frozen` are final. */
export type Condition = 'running' | 'frozen' | 'crashed' | 'left' | 'failed';

/**
 * This tab as a member of the cluster: its node, its share in the computation, and the ways to make
 * it fail. Fires `change` whenever something that the page shows may have changed.
 */
export class Tab extends EventTarget {
  readonly node: DoyenNode;
  readonly computation: Computation;
  readonly #faults: FaultyTransport;
  readonly #renderer = new WorkerRenderer();
  readonly #cuts = new Set<string>();
  /** What the node complained of, and when; null once it has met somebody since. */
  complaint: string | null = null;

  static async join(address: Address, listener: CheckpointListener): Promise<Tab> {
    const transport = faults(webrtc({ signaling: address.signaling }));
    const node = await join({ cluster: address.cluster, transport });
    return new Tab(node, transport, address, listener);
  }

  private constructor(
    node: DoyenNode,
    transport: FaultyTransport,
    address: Address,
    listener: CheckpointListener,
  ) {
    super();
    this.node = node;
    this.#faults = transport;
    this.computation = new Computation({
      node,
      firstPicture: address.picture,
      render: (picture, tile) => this.#renderer.render(picture, tile),
      listener,
    });
    this.#listen();
  }

  get condition(): Condition {
    const { state } = this.node;
    return state === 'left' || state === 'failed' ? state : this.#faults.condition;
  }

  isCut(member: string): boolean {
    return this.#cuts.has(member);
  }

  /** Says goodbye; the others know at once. */
  async leave(): Promise<void> {
    this.#stop();
    await this.node.leave();
    this.#changed();
  }

  /** Stops to answer and tells nobody, as a process that is killed. */
  crash(): void {
    this.#faults.crash();
    this.#stop();
    // Nobody hears it. A dead process does no work either, so this node must not go on to lead.
    this.node.leadership.setCandidacy(false);
    this.#changed();
  }

  /** Drops everything on the direct link to a member, both ways. */
  cut(member: string): void {
    this.#faults.cut(member);
    this.#cuts.add(member);
    this.#changed();
  }

  mend(member: string): void {
    this.#faults.join(member);
    this.#cuts.delete(member);
    this.#changed();
  }

  /** Does what the browser does to a tab in the background: nothing runs, nothing is lost. */
  freeze(): void {
    this.#faults.freeze();
    this.#renderer.pause();
    this.#changed();
  }

  thaw(): void {
    this.#faults.thaw();
    this.#renderer.resume();
    void this.#standBack();
    this.#changed();
  }

  /**
   * The oldest node would take the lead back at once. A tab that was away leaves it to whoever
   * stood in, for as long as that one leads: one takeover is enough for one absence.
   */
  async #standBack(): Promise<void> {
    const { leadership } = this.node;
    leadership.setCandidacy(false);
    const signal = AbortSignal.timeout(STAND_BACK_MS);
    const standIn = await leadership.waitForLeader({ signal }).catch(() => null);
    if (!standIn || standIn.id === this.node.id) return leadership.setCandidacy(true);
    const returnAtVacancy = ({ leader }: LeaderChangeEvent) => {
      if (leader !== null) return;
      leadership.removeEventListener('change', returnAtVacancy);
      leadership.setCandidacy(true);
    };
    leadership.addEventListener('change', returnAtVacancy);
  }

  #stop(): void {
    this.computation.end();
    this.#renderer.close();
  }

  #listen(): void {
    const changed = () => this.#changed();
    const events = [
      'memberjoin',
      'membersuspect',
      'memberalive',
      'memberupdate',
      'memberleave',
      'linkchange',
    ] as const;
    for (const type of events) this.node.addEventListener(type, changed);
    this.node.leadership.addEventListener('change', changed);
    this.node.addEventListener('statechange', ({ state, error }) => {
      if (error) this.complaint = error.message;
      if (state === 'left' || state === 'failed') this.#stop();
      changed();
    });
    this.node.addEventListener('memberjoin', () => {
      this.complaint = null;
    });
    this.node.addEventListener('fault', ({ message }) => {
      this.complaint = `${new Date().toLocaleTimeString([], { hour12: false })}: ${message}`;
      changed();
    });
  }

  #changed(): void {
    this.dispatchEvent(new Event('change'));
  }
}
