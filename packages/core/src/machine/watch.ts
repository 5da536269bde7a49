interface Ping {
  readonly sequence: number;
  readonly at: number;
}

/**
 * Measures the answers to this node's pings over one path: when to ping, how long an answer may
 * take, how many in a row were missed. Knows nothing of what travels.
 */
export class Watch {
  readonly #health: { readonly factor: number };
  /** Answers missed in a row. */
  misses = 0;
  /** Send time of the last ping that was answered. */
  answeredSentAt = Number.NEGATIVE_INFINITY;
  /** Smoothed round trip, `undefined` before the first answer. */
  rttMs: number | undefined;

  #nextPingAt: number;
  /** The last ping while its answer is awaited. */
  #pending: Ping | null = null;
  /** Pings whose answers may still come: late is not lost, and teaches the time that it takes. */
  #sent: Ping[] = [];
  #variationMs = 0;

  constructor(firstPingAt: number, health: { readonly factor: number }) {
    this.#nextPingAt = firstPingAt;
    this.#health = health;
  }

  /** When `poll` has something to do. */
  get dueAt(): number {
    return this.#pending ? this.#pending.at + this.timeoutMs : this.#nextPingAt;
  }

  /** Counts a miss that is due; true when a ping should go out now. One is under way at a time. */
  poll(now: number): boolean {
    if (this.#pending && now >= this.#pending.at + this.timeoutMs) {
      this.#pending = null;
      this.misses++;
      // A burst after a miss tells loss from silence in a second instead of three.
      const spacingMs = Math.max(BURST_SPACING_MIN_MS, this.timeoutMs / 2);
      if (this.misses < MISSES_MAX) this.#nextPingAt = Math.min(this.#nextPingAt, now + spacingMs);
    }
    return this.#pending === null && now >= this.#nextPingAt;
  }

  sent(sequence: number, now: number, intervalMs: number): void {
    this.#pending = { sequence, at: now };
    this.#sent.push(this.#pending);
    if (this.#sent.length > AWAITED_MAX) this.#sent.shift();
    this.#nextPingAt = now + intervalMs;
  }

  /** Takes an answer; false when it answers nothing that was asked of late. */
  answered(sequence: number, now: number): boolean {
    const index = this.#sent.findIndex((ping) => ping.sequence === sequence);
    const ping = this.#sent[index];
    if (!ping) return false;
    this.#sent.splice(0, index + 1);
    this.answeredSentAt = ping.at;
    this.#learn(now - ping.at);
    if (this.#pending === ping) this.#pending = null;
    this.misses = 0;
    return true;
  }

  /** Forgets what is half counted and asks again at once: after a stall, or a hint. */
  restart(now: number): void {
    this.#pending = null;
    this.#sent = [];
    this.misses = 0;
    this.#nextPingAt = now;
  }

  /** Asks again at `at` at the latest, or once the ping under way is settled. */
  hurry(at: number): void {
    this.#nextPingAt = Math.min(this.#nextPingAt, at);
  }

  /** How long an answer may take: RFC 6298's estimate inside fixed bounds, times this node's health. */
  get timeoutMs(): number {
    const { factor } = this.#health;
    if (this.rttMs === undefined) return TIMEOUT_INITIAL_MS * factor;
    const estimate = this.rttMs + 4 * this.#variationMs;
    return Math.min(Math.max(estimate, TIMEOUT_MIN_MS), TIMEOUT_MAX_MS) * factor;
  }

  #learn(sampleMs: number): void {
    if (this.rttMs === undefined) {
      this.rttMs = sampleMs;
      this.#variationMs = sampleMs / 2;
      return;
    }
    const error = Math.abs(this.rttMs - sampleMs);
    this.#variationMs += (error - this.#variationMs) / 4;
    this.rttMs += (sampleMs - this.rttMs) / 8;
  }
}

/** So many misses in a row make a path quiet (M5). */
export const MISSES_MAX = 3;
/** At a burst's spacing some seconds: an answer that comes later is no news any more. */
const AWAITED_MAX = 8;
/** Below it a browser's event loop looks like loss. */
const TIMEOUT_MIN_MS = 250;
/** Above it a member would be suspected later than its silence allows (M5: 1.5 s). */
export const TIMEOUT_MAX_MS = 1500;
/** Before the first answer: generous for a mobile network. */
const TIMEOUT_INITIAL_MS = 750;
/** Closer re-pings would meet the same burst of loss. */
const BURST_SPACING_MIN_MS = 200;
