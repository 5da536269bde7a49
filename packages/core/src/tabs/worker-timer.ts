/** What is used of a worker. */
export type TimerWorker = Pick<Worker, 'postMessage' | 'terminate' | 'onmessage' | 'onerror'>;

/**
 * What the worker runs: `[number, milliseconds]` is answered with the number after so long. A file
 * with this line serves where a page may not make a worker from a `blob:` address.
 */
export const WORKER_SCRIPT =
  'onmessage = ({ data: [id, ms] }) => setTimeout(() => postMessage(id), ms);';

/**
 * Timers that go on in a hidden page. Browsers slow the timers of hidden pages down to one a second,
 * later to one a minute, but neither those of workers nor messages. So while the page is hidden each
 * timer is set twice, here and in a worker; whichever fires first counts. Where no worker can be had
 * the plain timer remains, and messages of others still wake the node.
 */
export class WorkerTimer {
  readonly #make: (() => TimerWorker) | false;
  readonly #blocked: (why: string) => void;
  readonly #callbacks = new Map<number, () => void>();
  #worker: TimerWorker | null = null;
  #isBlocked = false;
  #count = 0;

  /** `make` may throw. `blocked` is called once when no worker can be had. */
  constructor(make: (() => TimerWorker) | false, blocked: (why: string) => void) {
    this.#make = make;
    this.#blocked = blocked;
  }

  /** Calls back once after at least `delayMs`; returns how to cancel. */
  set(callback: () => void, delayMs: number): () => void {
    const id = this.#count++;
    const worker = isHidden() ? this.#ready() : null;
    const ms = Math.min(Math.ceil(delayMs), TIMER_MS_MAX);
    const plain = setTimeout(() => fire(), ms);
    const cancel = () => {
      clearTimeout(plain);
      this.#callbacks.delete(id);
    };
    const fire = () => {
      cancel();
      callback();
    };
    if (worker) {
      this.#callbacks.set(id, fire);
      worker.postMessage([id, ms]);
    }
    return cancel;
  }

  /** Ends the worker; what is set, and will be, is left to plain timers. */
  close(): void {
    this.#isBlocked = true;
    this.#worker?.terminate();
    this.#worker = null;
    this.#callbacks.clear();
  }

  #ready(): TimerWorker | null {
    if (this.#worker || this.#isBlocked || !this.#make) return this.#worker;
    try {
      this.#worker = this.#make();
    } catch (error) {
      this.#fail(String(error));
      return null;
    }
    this.#worker.onmessage = ({ data }) => this.#callbacks.get(data)?.();
    this.#worker.onerror = (event) => {
      // It is dealt with here; otherwise it would be an error of the page as well.
      event.preventDefault();
      this.#fail(event.message || 'the worker did not start');
    };
    return this.#worker;
  }

  #fail(why: string): void {
    if (this.#isBlocked) return;
    this.close();
    this.#blocked(`${why}. While hidden, this page has slow timers. ${REMEDY}`);
  }
}

/** A worker from a `blob:` address, so that it needs no file. */
export function blobWorker(): TimerWorker {
  const address = URL.createObjectURL(new Blob([WORKER_SCRIPT], { type: 'text/javascript' }));
  try {
    return new Worker(address, { name: 'doyen timers' });
  } finally {
    URL.revokeObjectURL(address);
  }
}

function isHidden(): boolean {
  return typeof document !== 'undefined' && document.visibilityState === 'hidden';
}

const REMEDY = 'Allow worker-src blob:, or give the option worker.';

// Longer delays overflow, and fire at once.
const TIMER_MS_MAX = 2 ** 31 - 1;
