/**
 * A timer that is in time in hidden pages too. There browsers let the timers of a page come once a
 * second, and those that follow from one another once a minute; those of a worker come when they are
 * due. Where a page may have no worker, its own timers are all there is.
 *
 * @internal Shared with `@doyen/webrtc`.
 */
export class Alarm {
  readonly dueMs: number;
  readonly #ring: () => void;
  readonly #timer: ReturnType<typeof setTimeout>;
  readonly #number: number;

  constructor(ring: () => void, delayMs: number) {
    this.dueMs = performance.now() + delayMs;
    this.#ring = ring;
    this.#timer = setTimeout(() => this.ring(), delayMs);
    this.#number = typeof document === 'undefined' ? 0 : waker.add(this);
  }

  ring(): void {
    this.cancel();
    this.#ring();
  }

  cancel(): void {
    clearTimeout(this.#timer);
    waker.remove(this.#number);
  }

  /** Lets a Node process end before it. Browsers number their timers, and never wait for them. */
  unref(): void {
    if (typeof this.#timer === 'object') this.#timer.unref();
  }
}

/** Rings the alarms of a hidden page from a worker, which is there as long as it is needed. */
class Waker {
  readonly #alarms = new Map<number, Alarm>();
  readonly #visibilityChanged = (): void => this.#wakeAll();
  #count = 0;
  #worker: Worker | null = null;
  #isForbidden = false;

  add(alarm: Alarm): number {
    if (this.#alarms.size === 0)
      document.addEventListener('visibilitychange', this.#visibilityChanged);
    this.#count += 1;
    this.#alarms.set(this.#count, alarm);
    if (document.hidden) this.#wake(this.#count, alarm);
    return this.#count;
  }

  remove(number: number): void {
    const isLast = this.#alarms.delete(number) && this.#alarms.size === 0;
    // Later, since what has rung is often set anew.
    if (isLast) queueMicrotask(() => this.#rest());
  }

  #wakeAll(): void {
    if (document.hidden) for (const [number, alarm] of this.#alarms) this.#wake(number, alarm);
  }

  #wake(number: number, alarm: Alarm): void {
    this.#worker ??= this.#hire();
    this.#worker?.postMessage([number, alarm.dueMs - performance.now()]);
  }

  #rest(): void {
    if (this.#alarms.size > 0) return;
    document.removeEventListener('visibilitychange', this.#visibilityChanged);
    this.#worker?.terminate();
    this.#worker = null;
  }

  /** `null` where there are no workers; a policy of the page may also forbid them later, in silence. */
  #hire(): Worker | null {
    if (this.#isForbidden) return null;
    try {
      const url = URL.createObjectURL(new Blob([WORKER], { type: 'text/javascript' }));
      const worker = new Worker(url);
      URL.revokeObjectURL(url);
      worker.onmessage = ({ data }) => this.#alarms.get(data)?.ring();
      worker.onerror = () => this.#forbid();
      return worker;
    } catch {
      return this.#forbid();
    }
  }

  /** Trying again would only fill the console of the page. */
  #forbid(): null {
    this.#isForbidden = true;
    return null;
  }
}

const waker = /* @__PURE__ */ new Waker();

const WORKER = 'onmessage = ({ data: [id, ms] }) => setTimeout(() => postMessage(id), ms)';
