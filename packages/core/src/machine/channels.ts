import type { Kernel } from './kernel.ts';
import type { Link } from './links.ts';
import type { ChannelMessage } from './message.ts';
import type { Entry } from './roster.ts';

/**
 * Application messages: FIFO and at most once per (sender, receiver, channel). A loss shows as a
 * gap in the numbers; a stamp older than the epoch known here is refused.
 */
export class Channels {
  readonly #kernel: Kernel;
  /** By instance, then by channel: the last number sent and received. */
  readonly #sent = new Map<string, Map<string, number>>();
  readonly #received = new Map<string, Map<string, number>>();

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
  }

  /** `to` is an id, or `null` for everybody else. False when nobody can be tried. */
  send(channel: string, to: string | null, data: Uint8Array, epoch: number): boolean {
    const { roster } = this.#kernel;
    if (to === null) {
      let isSent = false;
      for (const entry of roster.others())
        isSent = this.#post(channel, entry, data, epoch) || isSent;
      return isSent;
    }
    const entry = roster.byId(to);
    if (!entry || entry === roster.self) return false;
    return this.#post(channel, entry, data, epoch);
  }

  receive(message: ChannelMessage, from: string, link: Link): void {
    const { roster, outbox, election } = this.#kernel;
    const member = roster.get(from)?.member;
    if (!member) return;
    const { channel, epoch, data } = message;
    const last = numbers(this.#received, from).get(channel) ?? 0;
    if (message.sequence <= last) return;
    if (!this.#count(this.#received, from, channel, message.sequence)) {
      return outbox.violation(link.peer, 'M11', `more than ${CHANNELS_MAX} channels`);
    }
    const missed = message.sequence - last - 1;
    if (missed > 0) outbox.emit({ type: 'gap', channel, from: member, missed });
    if (epoch > 0 && epoch < election.epoch) {
      outbox.emit({ type: 'stale', channel, from: member, epoch });
      const claim = election.message();
      if (claim) this.#kernel.router.post(from, claim);
      return;
    }
    outbox.emit({ type: 'message', channel, from: member, data, epoch });
  }

  /** An instance is gone for good: its numbers never come back. */
  forget(instance: string): void {
    this.#sent.delete(instance);
    this.#received.delete(instance);
  }

  #post(channel: string, { record }: Entry, data: Uint8Array, epoch: number): boolean {
    const sequence = (numbers(this.#sent, record.instance).get(channel) ?? 0) + 1;
    const message: ChannelMessage = { type: 'channel', channel, sequence, epoch, data };
    if (!this.#kernel.router.post(record.instance, message)) return false;
    return this.#count(this.#sent, record.instance, channel, sequence);
  }

  #count(
    side: Map<string, Map<string, number>>,
    instance: string,
    channel: string,
    sequence: number,
  ): boolean {
    const counts = numbers(side, instance);
    if (!counts.has(channel) && counts.size >= CHANNELS_MAX) return false;
    counts.set(channel, sequence);
    side.set(instance, counts);
    return true;
  }
}

function numbers(side: Map<string, Map<string, number>>, instance: string): Map<string, number> {
  return side.get(instance) ?? new Map<string, number>();
}

/** Of one member; an application that mints names without end is told (M11). */
export const CHANNELS_MAX = 256;
