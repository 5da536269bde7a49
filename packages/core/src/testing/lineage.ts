import type { ChangeReason } from '../machine/effect.ts';
import type { Candidate, Strategy } from '../machine/strategy.ts';
import type { SimNode } from './sim-node.ts';

/** One claim, as its leader's own events tell of it. */
interface Ancestor {
  readonly epoch: number;
  readonly instance: string;
  readonly reason: ChangeReason;
  readonly previous: string | null;
  /** Under which ranks it was held: a record changes when a newcomer is stamped anew (E2). */
  readonly keys: Candidate[];
  hasResigned: boolean;
}

/**
 * Who led, and how each lead came from the one before, by nothing but public events. Says whom a
 * leader may hold its lead against (E7): at most those named here. And says when one that must hold
 * has not held: a lead that was transferred is preempted only by who ranks above its giver.
 */
export class Lineage {
  readonly #byEpoch = new Map<number, Ancestor[]>();
  readonly #strategy: Strategy;
  #complaint: string | null = null;

  constructor(strategy: Strategy) {
    this.#strategy = strategy;
  }

  /** Listens to a node from its start on. */
  follow(node: SimNode): void {
    node.leadership.addEventListener('change', ({ leader, epoch, previous, reason }) => {
      if (leader?.instance === node.instance) {
        const ancestor = {
          epoch,
          instance: node.instance,
          reason,
          previous: previous?.instance ?? null,
          keys: [keyOf(leader)],
          hasResigned: false,
        };
        this.#byEpoch.set(epoch, [...this.#of(epoch), ancestor]);
        if (reason === 'preempted') this.#checkPreemption(ancestor);
      } else if (reason === 'resigned' && previous?.instance === node.instance) {
        const own = this.#of(epoch).find(({ instance }) => instance === node.instance);
        if (own === undefined) return;
        own.hasResigned = true;
        own.keys.push(keyOf(previous));
      }
    });
  }

  /** E7: which lead was taken that should have held. */
  get complaint(): string | null {
    return this.#complaint;
  }

  /** Whether the claim that `instance` leads under may stand against a candidate that ranks above. */
  mayDefend(epoch: number, instance: string, against: Candidate): boolean {
    const claim = this.#of(epoch).find((one) => one.instance === instance);
    if (claim === undefined) return false;
    return this.#defended(claim).some((key) => this.#strategy.compare(against, key) >= 0);
  }

  #defended(claim: Ancestor): readonly Candidate[] {
    // A claim is made one above the highest that its leader has seen.
    const before = this.#of(claim.epoch - 1);
    switch (claim.reason) {
      case 'merged':
        return before.flatMap((one) => [...one.keys, ...this.#defended(one)]);
      case 'transferred':
        return before
          .filter(({ instance }) => instance === claim.previous)
          .flatMap((one) => [...one.keys, ...this.#defended(one)]);
      case 'elected':
        return before.flatMap((one) => {
          return [...(one.hasResigned ? one.keys : []), ...this.#defended(one)];
        });
      default:
        return [];
    }
  }

  #checkPreemption({ epoch, previous, keys: [own] }: Ancestor): void {
    const taken = this.#of(epoch - 1).find(({ instance }) => instance === previous);
    if (taken?.reason !== 'transferred' || own === undefined) return;
    const giver = this.#of(epoch - 2).find(({ instance }) => instance === taken.previous);
    if (!giver?.keys.every((key) => this.#strategy.compare(own, key) >= 0)) return;
    const [{ id } = own] = giver.keys;
    this.#complaint ??= `E7: ${own.id} preempts in epoch ${epoch}, but ${id}, who gave the lead, ranks above`;
  }

  #of(epoch: number): readonly Ancestor[] {
    return this.#byEpoch.get(epoch) ?? [];
  }
}

function keyOf({ id, startedAt }: Candidate): Candidate {
  return { id, startedAt };
}
