/** What is connected to a text, as its server counts it. */
export interface SocketCounts {
  /** Open ones, and those that are only closing. */
  readonly sockets: number;
  readonly leaders: number;
  readonly guests: number;
}

/** A request a tab and second is little, and no tab keeps a connection for it. */
const ASK_MS = 1_000;
/** A server that takes longer is one that does not answer. */
const ANSWER_MS = 3_000;

/**
 * Asks the server again and again. Not an event stream: a browser opens six connections to a server,
 * and the seventh tab would get none.
 */
export class SocketCounter {
  readonly #url: string;
  readonly #changed: () => void;
  #counts: SocketCounts | null = null;
  #hasAsked = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #round = 0;

  constructor(url: string, changed: () => void) {
    this.#url = url;
    this.#changed = changed;
    void this.ask();
  }

  /** Null as long as the server does not answer. */
  get counts(): SocketCounts | null {
    return this.#counts;
  }

  get isUnanswered(): boolean {
    return this.#hasAsked && this.#counts === null;
  }

  /** At once, for there is reason to think that it has changed. */
  async ask(): Promise<void> {
    clearTimeout(this.#timer);
    this.#round += 1;
    const round = this.#round;
    const counts = await fetchCounts(this.#url);
    // An older answer must not replace a newer one.
    if (round !== this.#round) return;
    this.#timer = setTimeout(() => void this.ask(), ASK_MS);
    this.#counts = counts;
    this.#hasAsked = true;
    this.#changed();
  }
}

async function fetchCounts(url: string): Promise<SocketCounts | null> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(ANSWER_MS) });
    if (!response.ok) return null;
    const { sockets, leaders, guests } = (await response.json()) as Partial<SocketCounts>;
    const isCount = [sockets, leaders, guests].every((value) => Number.isInteger(value));
    return isCount ? ({ sockets, leaders, guests } as SocketCounts) : null;
  } catch (_noAnswer) {
    return null;
  }
}
