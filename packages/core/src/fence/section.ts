import { DoyenError } from '../runtime/error.ts';

/** Lets one piece of work run at a time, in the order in which they came; the first at once. */
export class Section {
  readonly #waiting: (() => void)[] = [];
  #isHeld = false;

  /** @throws DoyenError `busy` when too many wait; the work was not begun. */
  async run<Result>(work: () => Result | PromiseLike<Result>): Promise<Result> {
    if (this.#isHeld) await this.#turn();
    this.#isHeld = true;
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#isHeld = false;
    }
  }

  #turn(): Promise<void> {
    if (this.#waiting.length >= EFFECTS_WAITING_MAX) {
      const message = `${EFFECTS_WAITING_MAX} effects wait for this resource; nothing changed`;
      throw new DoyenError('busy', message);
    }
    // Between this call and its turn the section stays held, so nobody else gets in.
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}

// More than any leader has in flight; what waits may hold a request body each.
const EFFECTS_WAITING_MAX = 1024;
