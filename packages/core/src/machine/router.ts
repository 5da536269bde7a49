import { encode } from './codec.ts';
import type { Kernel } from './kernel.ts';
import { isUsable, type Link } from './links.ts';
import type { Message, RelayMessage } from './message.ts';

/**
 * Brings messages to members: over a direct link, else over a common neighbour. A route is learnt
 * from the last relayed message of a member; without one a few neighbours are tried at once, and
 * the copies are told apart by (origin, sequence).
 */
export class Router {
  readonly #kernel: Kernel;
  #sequence = 0;
  readonly #seen = new Set<string>();

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
  }

  /** To one instance. False when there is no way to try. */
  post(instance: string, message: Message): boolean {
    const direct = this.#kernel.links.best(instance);
    if (!direct) return this.relay(instance, message);
    this.#kernel.outbox.send(direct.peer, message);
    // A link that is relied on shall not be left to the slow pace of those that others watch.
    if (message.type === 'channel') this.#kernel.detector.rely(direct);
    return true;
  }

  /** To one instance over other members only. */
  relay(instance: string, message: Message): boolean {
    const relay: RelayMessage = {
      type: 'relay',
      origin: this.#kernel.options.instance,
      target: instance,
      sequence: ++this.#sequence,
      hops: HOPS_MAX,
      payload: encode(message),
    };
    return this.#pass(relay, null, message.type === 'channel' ? 'data' : 'control');
  }

  /** Over every link that may still work, and relayed besides: what must not be missed. */
  postEverywhere(instance: string, message: Message): void {
    for (const link of this.#kernel.links.of(instance)) {
      if (!link.refused) this.#kernel.outbox.send(link.peer, message);
    }
    if (!this.#kernel.links.best(instance)) this.relay(instance, message);
  }

  /** To everybody: every greeted link, and the members without one. */
  broadcast(message: Message): void {
    const bytes = encode(message);
    const reached = new Set<string>();
    for (const link of this.#kernel.links.all()) {
      if (link.instance === null || link.refused) continue;
      this.#kernel.outbox.sendBytes(link.peer, bytes, 'control');
      if (isUsable(link)) reached.add(link.instance);
    }
    for (const { record } of this.#kernel.roster.others()) {
      if (!reached.has(record.instance)) this.relay(record.instance, message);
    }
  }

  /** Takes a relayed message from a link; gives it back when it is meant for this node. */
  receive(message: RelayMessage, link: Link): RelayMessage | null {
    const key = `${message.origin}:${message.sequence}`;
    if (message.origin === this.#kernel.options.instance || this.#seen.has(key)) return null;
    this.#remember(key);
    const origin = this.#kernel.roster.get(message.origin);
    if (origin) origin.via = link.peer;
    if (message.target === this.#kernel.options.instance) return message;
    this.#forward(message, link);
    return null;
  }

  #forward(message: RelayMessage, from: Link): void {
    const { links, roster, detector, outbox } = this.#kernel;
    const target = roster.get(message.target);
    const isData = message.payload.length > CONTROL_BYTES_MAX;
    const lane = isData ? 'data' : 'control';
    const direct = links.best(message.target);
    if (direct) return outbox.sendBytes(direct.peer, encode(message), lane);
    if (!target) return;
    const { instance } = target.record;
    const isStranger = links.of(instance).length === 0 && target.closedAt === null;
    // With a dead link and no other way known, trying everybody would only multiply the message.
    if (message.hops > 0 && (isStranger || this.#learnt(instance, from))) {
      this.#pass({ ...message, hops: message.hops - 1 }, from, lane);
      return;
    }
    if (!detector.isQuiet(target)) return;
    // No is an answer, and another than silence: it confirms the asker's suspicion.
    this.post(message.origin, { type: 'quiet', instance, closed: target.closedAt !== null });
  }

  #pass(message: RelayMessage, from: Link | null, lane: 'control' | 'data'): boolean {
    const hops = this.#nextHops(message.target, from);
    const bytes = encode(message);
    for (const link of hops) this.#kernel.outbox.sendBytes(link.peer, bytes, lane);
    return hops.length > 0;
  }

  #nextHops(target: string, from: Link | null): Link[] {
    const learnt = this.#learnt(target, from);
    if (learnt) return [learnt];
    const { links } = this.#kernel;
    const others = [...links.all()].filter(
      (link) => link !== from && link.instance !== target && isUsable(link),
    );
    return others.length <= HELPERS_ALL ? others : others.slice(0, HELPERS_MAX);
  }

  /** The neighbour over which a member was last heard, if that still works. */
  #learnt(target: string, from: Link | null): Link | null {
    const { links, roster } = this.#kernel;
    const via = roster.get(target)?.via;
    const link = via ? links.get(via) : undefined;
    if (!link || link === from || link.instance === target || !isUsable(link)) return null;
    return link;
  }

  #remember(key: string): void {
    this.#seen.add(key);
    if (this.#seen.size <= SEEN_MAX) return;
    for (const oldest of this.#seen) {
      this.#seen.delete(oldest);
      break;
    }
  }
}

/** Longest detour; partial meshes of browsers have smaller diameters. */
const HOPS_MAX = 8;
/** Up to here every neighbour is asked, beyond it a few (SWIM's indirect probe uses 3). */
const HELPERS_ALL = 8;
const HELPERS_MAX = 3;
/** Copies of one relayed message arrive within a second; this is some thousand messages. */
const SEEN_MAX = 2048;
/** Larger payloads travel in the data lane wherever they are passed on. */
const CONTROL_BYTES_MAX = 16 * 1024;
