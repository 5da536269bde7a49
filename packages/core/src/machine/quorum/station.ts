import type { Kernel } from '../kernel.ts';
import { encodeBallot } from './ballot-codec.ts';
import type { BallotMessage } from './ballot-message.ts';
import type { Voter } from './config.ts';

/** How voters reach each other: by id, whatever instance lives under it now. */
export class Station {
  readonly #kernel: Kernel;

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
  }

  send(instance: string, message: BallotMessage): void {
    this.#kernel.router.post(instance, { type: 'ballot', payload: encodeBallot(message) });
  }

  /** False when no member has this id, or it is this node's own. */
  sendTo({ id }: Pick<Voter, 'id'>, message: BallotMessage): boolean {
    const entry = this.#kernel.roster.byId(id);
    if (!entry || entry === this.#kernel.roster.self) return false;
    this.send(entry.record.instance, message);
    return true;
  }

  tellAll(message: BallotMessage): void {
    this.#kernel.router.broadcast({ type: 'ballot', payload: encodeBallot(message) });
  }
}
