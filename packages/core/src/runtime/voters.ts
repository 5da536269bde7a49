import type { ChangeRefusal, MachineEvent } from '../machine/effect.ts';
import type { VoterRole, VotersChange } from '../machine/election.ts';
import type { VoterConfig } from '../machine/quorum/config.ts';
import type { Driver } from './driver.ts';
import { DoyenError } from './error.ts';
import { TypedEventTarget } from './event.ts';
import { isText, shown } from './options.ts';

/** Events of {@link Voters}. */
export interface VotersEventMap {
  /** `config` or `role` is another. */
  change: Event;
}

/** A change of the voters was refused; `rule` says why. Nothing has changed, but with `lost`. */
export class VotersRefusedError extends DoyenError {
  static {
    VotersRefusedError.prototype.name = 'VotersRefusedError';
  }

  /** The rule that forbids the change. */
  readonly rule: ChangeRefusal;

  constructor(rule: ChangeRefusal, change: VotersChange) {
    super('voters-refused', `cannot ${change.kind} ${change.id}: ${rule}`);
    this.rule = rule;
  }
}

/** Who votes in an election by `quorum()`, and how that is changed: by the leader, one at a time. */
export class Voters extends TypedEventTarget<VotersEventMap> {
  readonly #driver: Driver;
  readonly #open = new Map<number, (refusal: ChangeRefusal | null) => void>();
  #closed: DoyenError | null = null;
  #ticket = 0;

  /** @internal */
  constructor(driver: Driver) {
    super();
    this.#driver = driver;
  }

  /** The voters as this node knows them; `null` before it does, and in elections without votes. */
  get config(): VoterConfig | null {
    return this.#driver.machine.voting?.config ?? null;
  }

  /**
   * What this node is: `voter`; `observer`, which follows and never votes; `founding` while the
   * first voters wait for each other; `starting` until the store has answered.
   */
  get role(): VoterRole {
    return this.#driver.machine.voting?.role ?? 'observer';
  }

  /**
   * Makes a member a voter, once it has answered some beats and has stored who votes. Resolves when
   * most voters have stored the change.
   * @throws VotersRefusedError; DoyenError `left`. Nothing changed then.
   */
  add(id: string): Promise<void> {
    return this.#change({ kind: 'add', id });
  }

  /**
   * Takes the vote of a node, whether it lives or not.
   * @throws VotersRefusedError; DoyenError `left`. Nothing changed then.
   */
  remove(id: string): Promise<void> {
    return this.#change({ kind: 'remove', id });
  }

  /**
   * Removes `old`, then adds `id`, which may be the same with another storage: for a voter that is
   * gone. In between there is one voter less.
   * @throws VotersRefusedError; when it is about adding `id`, `old` is removed.
   */
  async replace(old: string, id: string): Promise<void> {
    checkId(id);
    await this.remove(old);
    await this.add(id);
  }

  /** @internal */
  handle(event: MachineEvent): void {
    if (event.type === 'voterschange') this.dispatchEvent(new Event('change'));
    else if (event.type === 'voterschanged') this.#open.get(event.ticket)?.(event.refusal);
  }

  /** @internal The node has left or failed. */
  close(error: DoyenError): void {
    this.#closed = error;
    for (const end of this.#open.values()) end('lost');
  }

  async #change(change: VotersChange): Promise<void> {
    checkId(change.id);
    if (this.#closed) throw this.#closed;
    if (!this.#driver.machine.voting) {
      throw new TypeError('voters can be changed only where election is quorum()');
    }
    const ticket = ++this.#ticket;
    const refusal = await new Promise<ChangeRefusal | null>((resolve) => {
      this.#open.set(ticket, resolve);
      this.#driver.input((machine, now) => machine.changeVoters(change, ticket, now));
    });
    this.#open.delete(ticket);
    if (refusal) throw new VotersRefusedError(refusal, change);
  }
}

function checkId(id: string): void {
  if (typeof id !== 'string') throw new TypeError(`id must be a string, got ${shown(id)}`);
  if (!isText(id)) throw new RangeError(`id must be an id, got ${shown(id)}`);
}
