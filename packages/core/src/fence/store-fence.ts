import { checkValue, withMethods } from '../option-check.ts';
import type { Store } from '../store/store.ts';
import type { FunctionFence } from './fence.ts';
import {
  checkCluster,
  checkEffect,
  checkName,
  type FenceOptions,
  raised,
  storedMark,
} from './mark.ts';
import { Section } from './section.ts';
import { checkToken, type Token } from './token.ts';

/** Options of `storeFence()`. */
export interface StoreFenceOptions extends FenceOptions {
  /** Keeps the mark, for example in a file: `fileStore(path)`. */
  readonly store: Store;
  /** Under which key. Each resource has its own. @defaultValue `'fence'` */
  readonly key?: string;
}

/**
 * A fence for what this process alone writes, such as files: the mark is durable before the effect
 * begins, and effects run one at a time. An effect holds the resource until it has settled, so it
 * must not wait for another effect of the same fence.
 *
 * Where several processes write the same resource, let one of them guard it (`nodeGuard()`), or use
 * a fence inside the resource: a store can keep one mark for all of them, but not stop what another
 * process is in the middle of.
 */
export function storeFence(options: StoreFenceOptions): FunctionFence {
  checkCluster(options);
  const { key = 'fence' } = options;
  checkValue('store', options.store, withMethods('read', 'write'));
  checkName('key', key);
  return new StoreFence({ ...options, key });
}

class StoreFence implements FunctionFence {
  readonly #options: StoreFenceOptions & { readonly key: string };
  readonly #section = new Section();
  /** What is stored, as far as this process knows. */
  #stored: StoredMark | undefined;
  #reading: Promise<StoredMark> | undefined;

  constructor(options: StoreFenceOptions & { readonly key: string }) {
    this.#options = options;
  }

  async open(token: Token): Promise<void> {
    await this.admit(token, () => undefined);
  }

  async admit<Result>(token: Token, effect: () => Result | PromiseLike<Result>): Promise<Result> {
    const checked = checkToken(token);
    checkEffect(effect);
    return this.#section.run(async () => {
      await this.#raise(checked);
      return effect();
    });
  }

  async high(): Promise<number> {
    const { mark } = await this.#known();
    return mark?.epoch ?? 0;
  }

  /** Only inside of the section. */
  async #raise(token: Token): Promise<void> {
    const { store, key, cluster } = this.#options;
    const { mark, bytes: previous } = await this.#known();
    const next = raised({ mark, token, cluster });
    if (next.epoch === mark?.epoch) return;
    const bytes = encoded(next);
    try {
      await store.write(key, bytes, previous);
      this.#stored = { mark: next, bytes };
    } catch (error) {
      // A write that fails leaves open which of the two is stored.
      this.#stored = undefined;
      throw error;
    }
  }

  /** Reads once for all that ask meanwhile; never during a write, which begins with knowing. */
  async #known(): Promise<StoredMark> {
    if (this.#stored) return this.#stored;
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #read(): Promise<StoredMark> {
    const { store, key } = this.#options;
    const bytes = await store.read(key);
    this.#stored = { mark: bytes && storedMark(parsed(new TextDecoder().decode(bytes))), bytes };
    return this.#stored;
  }
}

/** A mark, and the bytes that a write has to replace. */
interface StoredMark {
  readonly mark: Token | null;
  readonly bytes: Uint8Array | null;
}

function encoded({ cluster, epoch, holder }: Token): Uint8Array {
  return new TextEncoder().encode(JSON.stringify({ cluster, epoch, holder }));
}

/** What is no JSON is no mark either. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
