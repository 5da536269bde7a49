import type { Kernel } from '../kernel.ts';
import type { Voter } from './config.ts';

export interface EvidenceOptions {
  /** What this node has seen of the application's state; `null`: nothing is compared. */
  readonly read: (() => unknown) | null;
  /** Negative when `a` is older than `b`. */
  readonly compare: (a: never, b: never) => number;
}

/** How recent the application's state is at each voter (Q3), as JSON; '' is older than anything. */
export class Evidence {
  readonly #kernel: Kernel;
  readonly #options: EvidenceOptions;
  /** What the voters have said of late, by id; of the voters only. */
  readonly #heard = new Map<string, string>();
  #newest = '';

  constructor(kernel: Kernel, options: EvidenceOptions) {
    this.#kernel = kernel;
    this.#options = options;
  }

  /** The newest among those who elected this node; `undefined` without any (Q11). */
  get newest(): unknown {
    return this.#newest === '' ? undefined : JSON.parse(this.#newest);
  }

  /** This node's own, now. One that throws or is too large counts as none. */
  read(): string {
    if (!this.#options.read) return '';
    try {
      const json = JSON.stringify(this.#options.read()) ?? '';
      if (json.length <= EVIDENCE_LENGTH_MAX) return json;
      this.#violate(`${json.length} characters of evidence`);
    } catch (error) {
      this.#violate(`evidence() ${thrown(error)}`);
    }
    return '';
  }

  /**
   * Negative when `a` is older than `b`. What the application cannot compare, also not with itself,
   * is older than what it can.
   */
  compare(a: string, b: string): number {
    if (a === b || !this.#options.read) return 0;
    if (a === '' || b === '') return a === '' ? -1 : 1;
    const order = this.#order(a, b);
    if (typeof order === 'number') return order;
    this.#violate(`the comparison ${order}`);
    const [isA, isB] = [this.#isComparable(a), this.#isComparable(b)];
    if (isA !== isB) return isA ? 1 : -1;
    return isA ? -1 : 0;
  }

  /** A candidacy is won: the newest evidence of those who granted it is the term's. */
  elected(granted: readonly string[]): void {
    const usable = granted.filter((json) => json !== '' && this.#isComparable(json));
    this.#newest = usable.reduce((one, other) => (this.compare(one, other) < 0 ? other : one), '');
  }

  heard({ id }: Voter, evidence: string): void {
    if (this.#options.read) this.#heard.set(id, evidence);
  }

  /** Whether a voter has said that it knows as much as this node. */
  isCaughtUp(id: string): boolean {
    if (!this.#options.read) return true;
    return this.compare(this.#heard.get(id) ?? '', this.read()) >= 0;
  }

  #isComparable(json: string): boolean {
    return typeof this.#order(json, json) === 'number';
  }

  /** Or what the comparison did instead. */
  #order(a: string, b: string): number | string {
    try {
      const order = this.#options.compare(JSON.parse(a) as never, JSON.parse(b) as never);
      return typeof order === 'number' && !Number.isNaN(order) ? order : `gave ${String(order)}`;
    } catch (error) {
      return thrown(error);
    }
  }

  #violate(what: string): void {
    this.#kernel.outbox.violation('', 'Q3', what);
  }
}

function thrown(error: unknown): string {
  return `threw ${error instanceof Error ? error.message : typeof error}`;
}

/** Evidence is a position in a log, not the log. Characters of JSON, at most three bytes each. */
const EVIDENCE_LENGTH_MAX = 160;
