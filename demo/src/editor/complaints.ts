/** Something that did not work. */
export interface Complaint {
  readonly at: Date;
  readonly code: string;
  readonly message: string;
  /** How often it was said, one time after the other. */
  readonly times: number;
}

/** The latest are enough: one cause can complain for ever. */
const COMPLAINTS_MAX = 5;

/** What did not work, newest first. */
export class Complaints {
  #all: readonly Complaint[] = [];

  add(code: string, message: string): void {
    const [latest, ...rest] = this.#all;
    const isAgain = latest?.code === code && latest.message === message;
    const complaint = { at: new Date(), code, message, times: isAgain ? latest.times + 1 : 1 };
    this.#all = [complaint, ...(isAgain ? rest : this.#all)].slice(0, COMPLAINTS_MAX);
  }

  get all(): readonly Complaint[] {
    return this.#all;
  }
}
