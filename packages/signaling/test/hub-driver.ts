import { createHash } from 'node:crypto';
import { type Effect, Hub, type Verdict } from '../src/hub.ts';
import { resolveLimits, type SignalingLimits } from '../src/limits.ts';

/** A decoded server message; tests look at whatever fields they expect. */
export interface Told {
  readonly type: string;
  readonly [field: string]: unknown;
}

export interface Entered {
  readonly peer: string;
  readonly resume: string;
}

export const ROOM = 'room-of-the-hub-tests-1';

/** Runs one hub in virtual time with sockets that are only names. */
export class HubDriver {
  readonly hub: Hub<string>;
  readonly limits: SignalingLimits;
  readonly told = new Map<string, Told[]>();
  readonly closed = new Map<string, number>();
  /** What `authorize` says; `undefined` never answers. */
  verdict: Verdict | undefined = { isAllowed: true };
  now = 1_000;
  #ids = 0;

  constructor(limits: Partial<SignalingLimits> = {}) {
    this.limits = resolveLimits(limits);
    this.hub = new Hub({
      limits: this.limits,
      randomId: () => `id-${++this.#ids}`,
      digest: (text) => createHash('sha256').update(text).digest('hex'),
    });
  }

  open(socket: string, { room = ROOM, address = 'here' } = {}): void {
    this.#apply(this.hub.open(socket, { room, address, now: this.now }));
  }

  say(socket: string, message: unknown): void {
    const text = typeof message === 'string' ? message : JSON.stringify(message);
    this.#apply(this.hub.message(socket, text, this.now));
  }

  /** Opens a socket and takes a place in the room. */
  enter(
    socket: string,
    { room = ROOM, address = 'here', ...hello }: Record<string, string> = {},
  ): Entered {
    this.open(socket, { room, address });
    this.say(socket, { type: 'hello', ...hello });
    const ready = this.of(socket).find(({ type }) => type === 'ready');
    if (ready === undefined) throw new Error(`${socket} was not let in`);
    return { peer: String(ready['peer']), resume: String(ready['resume']) };
  }

  drop(socket: string, code = 1006): void {
    this.#apply(this.hub.close(socket, code, this.now));
  }

  refuse(socket: string, code: number): void {
    this.#apply(this.hub.refuse(socket, { code, reason: '', now: this.now }));
  }

  /** Lets time pass with a sweep every second. */
  pass(ms: number): void {
    for (let left = ms; left > 0; left -= 1_000) {
      this.now += Math.min(1_000, left);
      this.#apply(this.hub.sweep(this.now));
    }
  }

  shutdown(spreadMs: number): void {
    this.#apply(this.hub.shutdown(spreadMs));
  }

  of(socket: string): Told[] {
    return this.told.get(socket) ?? [];
  }

  last(socket: string): Told | undefined {
    return this.of(socket).at(-1);
  }

  types(socket: string): string[] {
    return this.of(socket).map(({ type }) => type);
  }

  /** Forgets what was told so far. */
  clear(): void {
    this.told.clear();
  }

  #apply(effects: readonly Effect<string>[]): void {
    for (const effect of effects) {
      const { socket } = effect;
      if (effect.type === 'send')
        this.told.set(socket, [...this.of(socket), JSON.parse(effect.text) as Told]);
      else if (effect.type === 'close') this.closed.set(socket, effect.code);
      else if (this.verdict !== undefined)
        this.#apply(this.hub.authorized(socket, this.verdict, this.now));
    }
  }
}
