import type { Locks } from '../../src/tabs/index.ts';

interface Request {
  readonly name: string;
  readonly mode: LockMode;
  readonly tab: object;
  run(): void;
  end(error?: Error): void;
}

/**
 * Web Locks of one browser, which Node has not: exclusive and shared locks, `steal`, and tabs that
 * die. Grants are quick: they may overtake messages that were sent before, as in a busy browser.
 */
export class VirtualLocks {
  readonly #held = new Map<string, Request[]>();
  #pending: Request[] = [];

  /** Locks as one tab has them, and how that dies. */
  tab(): Locks & { die(): void } {
    const tab = {};
    const request = (name: string, ...rest: unknown[]) => this.#request(tab, name, rest);
    return {
      request: request as LockManager['request'],
      query: async () => this.#snapshot(),
      die: () => this.#die(tab),
    };
  }

  get heldCount(): number {
    return [...this.#held.values()].flat().length;
  }

  get pendingCount(): number {
    return this.#pending.length;
  }

  async #request(tab: object, name: string, rest: unknown[]): Promise<unknown> {
    const callback = rest.at(-1) as LockGrantedCallback<unknown>;
    const {
      mode = 'exclusive',
      signal,
      steal,
    }: LockOptions = rest.length > 1 ? (rest[0] as LockOptions) : {};
    signal?.throwIfAborted();
    if (steal)
      for (const holder of this.#held.get(name) ?? [])
        holder.end(new DOMException('stolen', 'AbortError'));
    return new Promise((resolve, reject) => {
      const item: Request = {
        name,
        mode,
        tab,
        run: async () => {
          signal?.removeEventListener('abort', abort);
          const result = await callback({ name, mode } as Lock);
          item.end();
          resolve(result);
        },
        end: (error) => {
          this.#remove(item);
          if (error) reject(error);
        },
      };
      const abort = () => item.end(signal?.reason);
      signal?.addEventListener('abort', abort);
      if (steal) this.#grant(item);
      else this.#pending.push(item);
      this.#look();
    });
  }

  #die(tab: object): void {
    this.#pending = this.#pending.filter((item) => item.tab !== tab);
    for (const [name, items] of this.#held) {
      this.#held.set(
        name,
        items.filter((item) => item.tab !== tab),
      );
    }
    this.#look();
  }

  #remove(item: Request): void {
    this.#pending = this.#pending.filter((other) => other !== item);
    this.#held.set(
      item.name,
      (this.#held.get(item.name) ?? []).filter((other) => other !== item),
    );
    this.#look();
  }

  #look(): void {
    queueMicrotask(() => {
      for (const item of [...this.#pending]) {
        const holders = this.#held.get(item.name) ?? [];
        const isFree = holders.every(({ mode }) => mode === 'shared' && item.mode === 'shared');
        if (!isFree || !this.#pending.includes(item)) continue;
        this.#pending = this.#pending.filter((other) => other !== item);
        this.#grant(item);
      }
    });
  }

  #grant(item: Request): void {
    this.#held.set(item.name, [...(this.#held.get(item.name) ?? []), item]);
    item.run();
  }

  #snapshot(): LockManagerSnapshot {
    const info = ({ name, mode }: Request): LockInfo => ({ name, mode });
    return { held: [...this.#held.values()].flat().map(info), pending: this.#pending.map(info) };
  }
}
