import { CodecError, decode } from './codec.ts';
import type { Kernel } from './kernel.ts';
import type { Link } from './links.ts';
import type { LeaveMessage, Message, PingMessage, RelayMessage } from './message.ts';

/** What comes over links, sorted: who says it, over which way, and whom it concerns. Total. */
export class Inbox {
  readonly #kernel: Kernel;

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
  }

  receive(bytes: Uint8Array, link: Link): void {
    const message = this.#decode(bytes, link);
    if (!message) return;
    if (message.type === 'hello') return this.#kernel.greeting.receive(message, link);
    if (message.type === 'refuse') return this.#kernel.greeting.refused(message, link);
    // Anything else before the hello came out of order; the hello is on its way again.
    if (link.instance === null) return;
    link.known = true;
    if (message.type === 'relay') return this.#relayed(message, link);
    this.#take(message, link.instance, link, false);
  }

  #decode(bytes: Uint8Array, link: Link): Message | null {
    try {
      return decode(bytes);
    } catch (error) {
      if (!(error instanceof CodecError)) throw error;
      this.#kernel.outbox.violation(link.peer, 'M11', `malformed message: ${error.message}`);
      return null;
    }
  }

  #relayed(relay: RelayMessage, link: Link): void {
    if (link.instance) this.#kernel.detector.heard(link.instance);
    const own = this.#kernel.router.receive(relay, link);
    const message = own && this.#decode(own.payload, link);
    if (message) this.#take(message, own.origin, link, true);
  }

  /** One message of the instance `from`, over `link` directly or relayed. */
  #take(message: Message, from: string, link: Link, isRelayed: boolean): void {
    const { roster, detector, election, channels } = this.#kernel;
    if (this.#isBuried(from, link)) return;
    detector.heard(from);
    switch (message.type) {
      case 'ping':
      case 'pong':
        return this.#takePing(message, from, link, isRelayed);
      case 'records':
        for (const record of message.records) roster.merge(record, link);
        return;
      case 'claim':
        return election.receive(message, from, link);
      case 'suspect':
        return this.#takeSuspicion(message.instance, message.incarnation, from);
      case 'quiet':
        return detector.accuse(message.instance, from, message.closed);
      case 'leave':
        return this.#takeLeave(message, from, link);
      case 'leave-ack':
        return this.#kernel.departure?.acknowledged(from);
      case 'transfer':
        return election.receiveTransfer(message, from);
      case 'fenced':
        return election.receiveFenced(message, from, link);
      case 'ballot':
        return election.receiveBallot(message.payload, from, link);
      case 'channel':
        return channels.receive(message, from, link);
      default:
        this.#kernel.outbox.violation(link.peer, 'M11', `"${message.type}" inside a relay`);
    }
  }

  /** The dead are told that they are, so that they can come back; the left stay silent (M7, M8). */
  #isBuried(from: string, link: Link): boolean {
    const record = this.#kernel.roster.tombstone(from);
    if (!record) return false;
    if (record.status === 'left') return true;
    const { now, options, outbox } = this.#kernel;
    if (now >= link.recordsSentAt + options.detection.heartbeatIntervalMs) {
      link.recordsSentAt = now;
      outbox.send(link.peer, { type: 'records', records: [record] });
    }
    return record.status !== 'dead';
  }

  #takePing(message: PingMessage, from: string, link: Link, isRelayed: boolean): void {
    const { detector, election, greeting, outbox, router } = this.#kernel;
    if (message.type === 'pong') detector.answered(message.sequence, from, isRelayed ? null : link);
    else if (isRelayed) router.relay(from, detector.pong(message.sequence));
    else outbox.send(link.peer, detector.pong(message.sequence));
    election.hear(message.summary, from, link);
    if (!isRelayed) greeting.reconcile(message.summary.digest, link);
  }

  /** An accusation of this node is refuted; of another, remembered as a confirmation (M6). */
  #takeSuspicion(instance: string, incarnation: number, from: string): void {
    const { roster, detector, router, options } = this.#kernel;
    if (instance !== options.instance) return detector.accuse(instance, from, false);
    if (incarnation >= roster.self.record.incarnation) {
      this.#kernel.health.fault(1, this.#kernel.now);
      return roster.changeSelf({});
    }
    router.post(from, { type: 'records', records: [roster.self.record] });
  }

  #takeLeave({ record }: LeaveMessage, from: string, link: Link): void {
    const { roster, router, outbox } = this.#kernel;
    if (record.instance !== from || record.status !== 'left') {
      return outbox.violation(link.peer, 'M7', `leave of ${record.instance} told by ${from}`);
    }
    router.post(from, { type: 'leave-ack' });
    roster.merge(record, link, true);
  }
}
