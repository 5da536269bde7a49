/** How a simulated store fails; `null`: it works. `torn`: a write stops in the middle. */
export type StoreFailure = 'read' | 'write' | 'torn' | null;

/**
 * The durable store of one simulated node. Takes effect in elections that store something; those
 * by seniority or id store nothing.
 */
export class SimStore {
  readonly #act: (what: string) => void;
  #failure: StoreFailure = null;

  /** @internal */
  constructor(act: (what: string) => void) {
    this.#act = act;
  }

  /** How the store fails at present. */
  get failure(): StoreFailure {
    return this.#failure;
  }

  /** From now on it fails like this; `null` repairs it. */
  fail(failure: StoreFailure): void {
    this.#act(`${failure === null ? 'works' : `fails: ${failure}`}`);
    this.#failure = failure;
  }
}
