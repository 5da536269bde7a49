import type { Lane, LinkDownReason, SendResult, TransportHandler } from '@doyen/core';
import { Alarm } from '@doyen/signaling';
import { Attempt, type AttemptOptions } from './attempt.ts';
import { Backoff } from './backoff.ts';
import type { Link, LinkEvents } from './link.ts';
import type { Signal } from './signal.ts';

/** What a contact needs of the transport that it belongs to. */
export interface ContactHost {
  /** Instance of this node. */
  readonly self: string;
  readonly handler: TransportHandler;
  /** Whether one more link may be made. */
  hasRoom(): boolean;
  mintKey(): string;
  connect(isOffer: boolean, events: LinkEvents): Link;
  post(route: string, signal: Signal): void;
  /** The contact is one link, or one wait for a link, richer or poorer. */
  changed(contact: Contact): void;
}

/** An open link under its key, and the route over which it was made. */
interface OpenLink {
  readonly key: string;
  readonly link: Link;
  readonly route: string;
  readonly openedAtMs: number;
}

/**
 * One other instance: how to reach it, the link to it, and the tries to get one. Of two instances
 * the greater offers. Instances are compared, not signaling ids: an end that lost the server comes
 * back under a new id, and both ends must still agree on who offers.
 */
export class Contact {
  readonly instance: string;
  /** Id of the node, as it says itself. */
  readonly id: string;
  readonly #host: ContactHost;
  /** Signaling ids under which the instance is known now, and whether each is away. */
  readonly #routes = new Map<string, boolean>();
  readonly #backoff = new Backoff();
  /** What the other end has started, oldest first: a late offer must not start the same again. */
  readonly #started: { readonly name: string; readonly atMs: number }[] = [];
  #open: OpenLink | null = null;
  #attempt: Attempt | null = null;
  #retry: Alarm | undefined;
  #calls = 0;
  /** Tries in a row that have brought no link. */
  #failures = 0;
  #gaveUp = false;

  constructor(host: ContactHost, instance: string, id: string) {
    this.#host = host;
    this.instance = instance;
    this.id = id;
  }

  get key(): string | undefined {
    return this.#open?.key;
  }

  /** Named by discovery, neither linked nor given up. */
  get isPending(): boolean {
    return !this.#open && !this.#gaveUp && this.#routes.size > 0;
  }

  /** In the room, and no try has brought a link. */
  get isUnreachable(): boolean {
    return this.#failures >= FAILURES_TO_TELL && [...this.#routes.values()].includes(false);
  }

  get isIdle(): boolean {
    return this.connectionCount === 0 && this.#routes.size === 0;
  }

  get connectionCount(): number {
    return Number(this.#open !== null) + Number(this.#attempt !== null);
  }

  /** The instance is in the room as `route`. Dials at once. */
  addRoute(route: string, isAway: boolean): void {
    const isNews = this.#routes.get(route) !== isAway;
    this.#routes.set(route, isAway);
    if (!isNews) return;
    if (isAway) this.#lost();
    else this.nudge();
    const { key, route: openRoute } = this.#open ?? {};
    if (key && openRoute === route) this.#host.handler.hint(key, isAway ? 'away' : 'present');
  }

  /** The route is no more, which says nothing about an open link. */
  removeRoute(route: string): void {
    if (!this.#routes.delete(route)) return;
    if (this.#attempt?.route === route) this.#endAttempt();
    this.#lost();
  }

  /** The server knows nobody behind the route. */
  routeFailed(route: string): void {
    if (this.#attempt?.route === route) this.#attemptFailed();
  }

  /** Something has changed for the better: dials without waiting. */
  nudge(): void {
    this.#backoff.reset();
    this.#calls = 0;
    this.#gaveUp = false;
    this.#dial();
    this.#host.changed(this);
  }

  send(bytes: Uint8Array, lane: Lane): SendResult {
    return this.#open ? this.#open.link.send(bytes, lane) : 'dropped';
  }

  /** A signal that came in over one of the routes. */
  receive(route: string, signal: Signal): void {
    if (signal.from !== this.instance || signal.to !== this.#host.self) return;
    if (signal.kind === 'call') this.#answerCall(route);
    else if (signal.kind === 'offer' && signal.attempt !== this.#attempt?.id) {
      this.#answerOffer(route, signal);
    } else this.#attempt?.receive(route, signal);
  }

  /** Ends everything and reports nothing. */
  async close(lingerMs: number): Promise<void> {
    this.#retry?.cancel();
    const links = [this.#attempt?.link, this.#open?.link];
    this.#attempt?.end();
    this.#attempt = null;
    this.#open = null;
    await Promise.all(links.map((link) => link?.close(lingerMs)));
  }

  get #offers(): boolean {
    return this.#host.self > this.instance;
  }

  /** The newest route whose socket is there. */
  get #route(): string | undefined {
    return [...this.#routes].findLast(([, isAway]) => !isAway)?.[0];
  }

  #dial(): void {
    this.#retry?.cancel();
    const route = this.#route;
    if (this.#open || this.#attempt || route === undefined) return;
    if (this.#offers) this.#offer(route);
    else this.#retry = new Alarm(() => this.#call(), CALL_AFTER_MS + this.#backoff.nextDelayMs());
  }

  #offer(route: string): void {
    if (this.#host.hasRoom()) this.#begin(randomName(), route);
    else this.#tryLater();
  }

  /** No offer has come. The first time that may be chance, after that it is not to be waited for. */
  #call(): void {
    const route = this.#route;
    if (route === undefined) return;
    this.#calls += 1;
    if (this.#calls > 1) this.#giveUp();
    const header = { attempt: randomName(), from: this.#host.self, to: this.instance, seq: 0 };
    this.#host.post(route, { ...header, kind: 'call' });
    this.#dial();
  }

  #answerCall(route: string): void {
    if (!this.#offers || this.#attempt || !this.#maySupersede(route)) return;
    if (this.#mayStart(randomName())) this.#offer(route);
  }

  #answerOffer(route: string, signal: Signal): void {
    if (this.#offers || signal.seq !== 0) return;
    if (!this.#maySupersede(route) || !this.#mayRestart(route)) return;
    if (!this.#mayStart(signal.attempt)) return;
    this.#endAttempt();
    if (this.#host.hasRoom()) this.#begin(signal.attempt, route).receive(route, signal);
  }

  /**
   * Whether the end behind `route` may have a second link beside the open one, which then takes its
   * place: it says so itself from where that link was made, or the link seems dead.
   */
  #maySupersede(route: string): boolean {
    return !this.#open || this.#open.route === route || this.#open.link.isStale;
  }

  /** Whether an offer over `route` ends the current try: only from the same place, or a lost one. */
  #mayRestart(route: string): boolean {
    const current = this.#attempt?.route;
    return current === undefined || current === route || !this.#routes.has(current);
  }

  /** Once a name, and not without end: browsers run out of connections. */
  #mayStart(name: string): boolean {
    const nowMs = performance.now();
    const oldest = this.#started.length < STARTS_MAX ? undefined : this.#started[0];
    if (oldest && nowMs - oldest.atMs < STARTS_MS) return false;
    if (this.#started.some((start) => start.name === name)) return false;
    if (oldest) this.#started.shift();
    this.#started.push({ name, atMs: nowMs });
    return true;
  }

  #begin(id: string, route: string): Attempt {
    this.#retry?.cancel();
    const host = this.#host;
    const options: AttemptOptions = {
      id,
      route,
      isOffer: this.#offers,
      self: host.self,
      other: this.instance,
      post: (to, signal) => host.post(to, signal),
    };
    const attempt: Attempt = new Attempt(options, (signal) => {
      const key = this.#host.mintKey();
      return this.#host.connect(this.#offers, {
        signal,
        open: () => this.#opened(attempt, key),
        message: (bytes) => this.#host.handler.message(key, bytes),
        unreachable: () => this.#host.handler.hint(key, 'unreachable'),
        down: (why) => (this.#attempt === attempt ? this.#failed() : this.#down(key, why)),
      });
    });
    this.#attempt = attempt;
    this.#host.changed(this);
    return attempt;
  }

  #opened(attempt: Attempt, key: string): void {
    const replaced = this.#open;
    attempt.end();
    this.#attempt = null;
    const { link, route } = attempt;
    this.#open = { key, link, route, openedAtMs: performance.now() };
    this.#calls = 0;
    this.#failures = 0;
    this.#gaveUp = false;
    this.#host.handler.linkUp(key, { id: this.id });
    if (replaced) {
      void replaced.link.close(0);
      this.#host.handler.linkDown(replaced.key, 'replaced');
    }
    this.#host.changed(this);
  }

  #down(key: string, why: LinkDownReason): void {
    if (this.#open?.key !== key) return;
    if (performance.now() - this.#open.openedAtMs > SETTLED_MS) this.#backoff.reset();
    this.#open = null;
    if (why === 'closed') this.#host.handler.hint(key, 'closed-cleanly');
    this.#host.handler.linkDown(key, why);
    this.#tryLater();
    this.#host.changed(this);
  }

  #failed(): void {
    this.#failures += 1;
    this.#attemptFailed();
  }

  #attemptFailed(): void {
    this.#endAttempt();
    this.#tryLater();
  }

  #endAttempt(): void {
    const attempt = this.#attempt;
    if (!attempt) return;
    this.#attempt = null;
    attempt.end();
    void attempt.link.close(0);
    this.#giveUp();
  }

  /** A route is away or gone: others may be left. */
  #lost(): void {
    if (this.#route === undefined) this.#giveUp();
    else this.#dial();
  }

  #giveUp(): void {
    this.#gaveUp = true;
    this.#host.changed(this);
  }

  #tryLater(): void {
    this.#retry?.cancel();
    this.#retry = new Alarm(() => this.#dial(), this.#offers ? this.#backoff.nextDelayMs() : 0);
  }
}

function randomName(): string {
  return crypto.getRandomValues(new Uint32Array(4)).join('-');
}

/** One failure may be a lost packet; two say something about the network. */
const FAILURES_TO_TELL = 2;

/** An offer takes one round over the signaling server; this is far beyond it. */
const CALL_AFTER_MS = 2_000;

/** A link that stood this long was a good one: the next failure is the first again. */
const SETTLED_MS = 30_000;

/** More starts than the back-off of an honest end makes, few enough to be no burden. */
const STARTS_MAX = 16;
const STARTS_MS = 10_000;
