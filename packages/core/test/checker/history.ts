import { judge } from '../../src/fence/verdict.ts';
import type { Ballot } from '../../src/machine/quorum/ballot.ts';
import { Interner } from './interner.ts';
import { GROUP } from './voter-state.ts';

/** What has happened and no voter knows. */
export interface History {
  /** By epoch: the instance that has won it. */
  readonly wonBy: readonly (string | null)[];
  /** Whose effect the fence has admitted last. */
  readonly mark: { readonly epoch: number; readonly holder: string } | null;
  readonly hasLost: boolean;
}

/** The history as it goes on, and what should not have happened. */
export interface Event {
  readonly history: number;
  readonly breach: string | null;
}

/** Every history that there was, and how one follows from another. */
export class Histories {
  readonly #values = new Interner<History>();
  readonly #events = new Map<number, Event>();
  readonly #instances = new Map<string, number>();
  readonly #epochs: number;

  constructor(epochs: number) {
    this.#epochs = epochs;
  }

  get size(): number {
    return this.#values.size;
  }

  get initial(): number {
    const wonBy = Array.from({ length: this.#epochs + 1 }, () => null);
    return this.#values.number({ wonBy, mark: null, hasLost: false });
  }

  value(number: number): History {
    return this.#values.value(number);
  }

  number(history: History): number {
    return this.#values.number(history);
  }

  /** An epoch is won; never twice, by whomever (Q8). */
  win(number: number, epoch: number, { self }: Ballot): Event {
    const { instance } = self;
    return this.#remember(number, 2 * epoch, instance, (history) => {
      const before = history.wonBy[epoch] ?? null;
      return {
        history: this.number({ ...history, wonBy: history.wonBy.with(epoch, instance) }),
        breach: before && `epoch ${epoch} is won by ${before} and by ${instance}`,
      };
    });
  }

  /** A leader uses what a fence guards: its mark never goes down, and has one holder an epoch. */
  act(number: number, { record, self }: Ballot): Event {
    const { epoch } = record;
    const holder = self.instance;
    return this.#remember(number, 2 * epoch + 1, holder, (history) => {
      const { mark } = history;
      const token = { cluster: GROUP, epoch, holder };
      const verdict = judge(mark && { cluster: GROUP, ...mark }, token);
      if (verdict === 'conflict') {
        return {
          history: number,
          breach: `fence: ${mark?.holder} and ${holder} in epoch ${epoch}`,
        };
      }
      if (verdict !== 'admitted') return { history: number, breach: null };
      const isLower = mark !== null && mark.epoch > epoch;
      const next = this.number({ ...history, mark: { epoch, holder } });
      return { history: next, breach: isLower ? 'fence: its mark goes down' : null };
    });
  }

  lose(number: number): number {
    return this.number({ ...this.value(number), hasLost: true });
  }

  #remember(
    number: number,
    kind: number,
    instance: string,
    compute: (history: History) => Event,
  ): Event {
    const who = this.#instances.get(instance) ?? this.#instances.size;
    this.#instances.set(instance, who);
    const key = (who * 2 * (this.#epochs + 1) + kind) * HISTORIES_MAX + number;
    const known = this.#events.get(key);
    if (known) return known;
    const event = compute(this.value(number));
    this.#events.set(key, event);
    return event;
  }
}

/** Far more than there are in any world that can be searched. */
const HISTORIES_MAX = 2 ** 24;
