import { BOOLEAN, checkOptions } from '../option-check.ts';
import type { SimNetwork } from './sim-network.ts';
import { checkNumber, checkRange } from './sim-options.ts';

/** The faults of a simulated network. All of them are silent: no node is told. */
export class SimNet {
  readonly #network: SimNetwork;
  readonly #ids: () => readonly string[];
  readonly #act: (what: string) => void;

  /** @internal */
  constructor(network: SimNetwork, ids: () => readonly string[], act: (what: string) => void) {
    this.#network = network;
    this.#ids = ids;
    this.#act = act;
  }

  /** Nothing passes between two nodes; with `oneWay`, nothing from the first to the second. */
  cut(from: string, to: string, options: { readonly oneWay?: boolean } = {}): void {
    checkOptions({ oneWay: BOOLEAN }, options);
    const { oneWay = false } = options;
    this.#check(from, to);
    this.#act(`cut ${from} ${oneWay ? '->' : '--'} ${to}`);
    this.#network.cut(from, to, oneWay);
  }

  /** Takes back the cuts between two nodes, in both directions. */
  join(one: string, two: string): void {
    this.#check(one, two);
    this.#act(`join ${one} -- ${two}`);
    this.#network.join(one, two);
  }

  /**
   * Nothing passes between nodes of different groups, and nothing else is cut. Nodes that are in no
   * group are one group more; nodes that are added later hear everybody.
   */
  partition(groups: readonly (readonly string[])[]): void {
    this.#check(...groups.flat());
    this.#act(`partition ${groups.map((group) => group.join(' ')).join(' | ')}`);
    const groupOf = (id: string) => groups.findIndex((group) => group.includes(id));
    this.#network.uncut();
    for (const [index, one] of this.#ids().entries()) {
      for (const two of this.#ids().slice(index + 1)) {
        if (groupOf(one) !== groupOf(two)) this.#network.cut(one, two, false);
      }
    }
    this.#network.redial();
  }

  /** Takes back all cuts and partitions. */
  heal(): void {
    this.#act('heal');
    this.#network.uncut();
    this.#network.redial();
  }

  /** Each message is lost with this probability. */
  loss(rate: number): void {
    checkNumber('rate', rate, 0, 1);
    this.#act(`loss ${rate}`);
    this.#network.lossRate = rate;
  }

  /** From now on messages take from `low` to `high` milliseconds. */
  latency(range: readonly [low: number, high: number]): void {
    checkRange('latency', range);
    this.#act(`latency ${range.join('-')}`);
    this.#network.latencyMs = range;
  }

  /** Each message arrives twice with this probability. */
  duplicate(rate: number): void {
    checkNumber('rate', rate, 0, 1);
    this.#act(`duplicate ${rate}`);
    this.#network.duplicateRate = rate;
  }

  /** Each message is late with this probability, so that later ones overtake it. */
  reorder(rate: number): void {
    checkNumber('rate', rate, 0, 1);
    this.#act(`reorder ${rate}`);
    this.#network.reorderRate = rate;
  }

  #check(...ids: readonly string[]): void {
    const stranger = ids.find((id) => !this.#ids().includes(id));
    if (stranger === undefined) return;
    throw new RangeError(`id must be one of ${this.#ids().join(', ')}, got ${stranger}`);
  }
}
