import { Alarm } from '@doyen/signaling';
import type { Link, LinkEvents, LinkSignal } from './link.ts';
import { CANDIDATES_MAX, type Candidate, type Signal } from './signal.ts';

export interface AttemptOptions {
  /** Name of this try, the same at both ends, chosen by the end that offers. */
  readonly id: string;
  /** Signaling id of the other end: signals of this try come from there and from nowhere else. */
  readonly route: string;
  readonly isOffer: boolean;
  /** Own instance, and the other end's. */
  readonly self: string;
  readonly other: string;
  readonly post: (route: string, signal: Signal) => void;
}

/**
 * One try to make a link: numbers and batches the signals that go out, and is the gate before the
 * connection for those that come in.
 */
export class Attempt {
  readonly id: string;
  readonly route: string;
  readonly link: Link;
  readonly #options: AttemptOptions;
  #sent = 0;
  #highestSeq = -1;
  #isDescribed = false;
  #candidatesHeard = 0;
  #batch: Candidate[] = [];
  #batchTimer: Alarm | undefined;
  #isOver = false;

  /** `connect` makes the link; its `signal` events are for this attempt, the others pass through. */
  constructor(options: AttemptOptions, connect: (onSignal: LinkEvents['signal']) => Link) {
    this.id = options.id;
    this.route = options.route;
    this.#options = options;
    this.link = connect((signal) => this.#emit(signal));
  }

  /**
   * Takes a signal only if it is the next thing that an honest other end can have sent: of this
   * try, from its route, to and from these instances, newer than all before; one description, of
   * the right kind, before any candidate. Everything else is dropped.
   */
  receive(route: string, signal: Signal): void {
    const { id, self, other, isOffer } = this.#options;
    if (this.#isOver || route !== this.route || signal.attempt !== id) return;
    if (signal.from !== other || signal.to !== self || signal.seq <= this.#highestSeq) return;
    this.#highestSeq = signal.seq;
    if (signal.kind === 'ice') this.#takeCandidates(signal.candidates);
    else if (signal.kind === (isOffer ? 'answer' : 'offer') && !this.#isDescribed) {
      this.#isDescribed = true;
      this.link.signal({ type: signal.kind, sdp: signal.sdp });
    }
  }

  /** Nothing goes out or in any more: the link is open, or the try has failed. */
  end(): void {
    this.#isOver = true;
    this.#batchTimer?.cancel();
  }

  #takeCandidates(candidates: readonly Candidate[]): void {
    if (!this.#isDescribed) return;
    for (const candidate of candidates) {
      this.#candidatesHeard += 1;
      if (this.#candidatesHeard > CANDIDATES_HEARD_MAX) return;
      this.link.signal({ type: 'candidate', candidate });
    }
  }

  #emit(signal: LinkSignal): void {
    if (this.#isOver) return;
    if (signal.type === 'candidate') {
      this.#batch.push(signal.candidate);
      this.#batchTimer ??= new Alarm(() => this.#flush(), BATCH_MS);
    } else {
      this.#post({ kind: signal.type, sdp: signal.sdp });
    }
  }

  #flush(): void {
    this.#batchTimer = undefined;
    while (this.#batch.length > 0) {
      this.#post({ kind: 'ice', candidates: this.#batch.splice(0, CANDIDATES_MAX) });
    }
  }

  #post(body: SignalBody): void {
    const { id, route, self, other, post } = this.#options;
    post(route, { attempt: id, from: self, to: other, seq: this.#sent, ...body });
    this.#sent += 1;
  }
}

type SignalBody =
  | { readonly kind: 'offer' | 'answer'; readonly sdp: string }
  | { readonly kind: 'ice'; readonly candidates: readonly Candidate[] };

/** Most candidates come at once; one message for all of them keeps a full room under its rate. */
const BATCH_MS = 50;

/** A machine with many interfaces and several servers has some dozens. */
const CANDIDATES_HEARD_MAX = 100;
