import type { Lane, SendResult, TransportHandler } from '@doyen/core';
import { connectSignaling, roomIdOf, type SignalingClient } from '@doyen/signaling';
import { Contact, type ContactHost } from './contact.ts';
import { type Introduction, parseIntroduction } from './introduction.ts';
import { Link, type LinkEvents } from './link.ts';
import { type CheckedOptions, isIceServers } from './options.ts';
import { encodeSignal, parseSignal, type Signal } from './signal.ts';

/** Links to everybody in the room of a cluster, from one entry into it to the end. */
export class Mesh implements ContactHost {
  readonly self: string;
  readonly handler: TransportHandler;
  readonly #options: CheckedOptions;
  readonly #signaling: SignalingClient;
  /** By instance. */
  readonly #contacts = new Map<string, Contact>();
  /** By signaling id. */
  readonly #routes = new Map<string, Contact>();
  readonly #mintKey: () => string;
  #pending = -1;
  #isClosed = false;
  /** Said once, until it is over. */
  readonly #complaints = new Set<string>();

  /** `mintKey` gives a key for a link that was never given before. */
  constructor(
    options: CheckedOptions,
    node: Introduction & { readonly cluster: string },
    handler: TransportHandler,
    mintKey: () => string,
  ) {
    this.#options = options;
    this.self = node.instance;
    this.handler = handler;
    this.#mintKey = mintKey;
    const { signaling: url, token, WebSocket } = options;
    this.#signaling = connectSignaling({
      url,
      room: roomIdOf(node.cluster),
      meta: JSON.stringify({ id: node.id, instance: node.instance }),
      ...(token && { token }),
      ...(WebSocket && { WebSocket }),
    });
    this.#listen(this.#signaling);
  }

  /** All contacts; a copy, since what is done to one may change the map. */
  get #all(): readonly Contact[] {
    return [...this.#contacts.values()];
  }

  /** Keys of the open links. */
  get keys(): readonly string[] {
    return this.#all.flatMap((contact) => contact.key ?? []);
  }

  send(key: string, bytes: Uint8Array, lane: Lane): SendResult {
    return this.#all.find((contact) => contact.key === key)?.send(bytes, lane) ?? 'dropped';
  }

  /** The network is back. */
  nudge(): void {
    this.#signaling.reconnectNow();
    for (const contact of this.#all) contact.nudge();
  }

  /** Closes every link and leaves the room; nothing is reported any more. */
  async close(lingerMs: number): Promise<void> {
    this.#isClosed = true;
    this.#signaling.close();
    await Promise.all(this.#all.map((contact) => contact.close(lingerMs)));
  }

  hasRoom(): boolean {
    const count = this.#all.reduce((sum, c) => sum + c.connectionCount, 0);
    const { linksMax } = this.#options;
    const isFull = count >= linksMax;
    if (isFull) this.#complain('links-exhausted', `No more than ${linksMax} links; see linksMax.`);
    else this.#complaints.delete('links-exhausted');
    return !isFull;
  }

  mintKey(): string {
    return this.#mintKey();
  }

  connect(isOffer: boolean, events: LinkEvents): Link {
    const { rtc } = this.#options;
    return new Link({ initiator: isOffer, rtc, iceServers: () => this.#iceServers() }, events);
  }

  post(route: string, signal: Signal): void {
    this.#signaling.send(route, encodeSignal(signal), route);
  }

  changed(contact: Contact): void {
    if (this.#isClosed) return;
    if (contact.isIdle) this.#contacts.delete(contact.instance);
    this.#judge(contact);
    if (this.#pending >= 0) this.#reportDiscovery();
  }

  #listen(signaling: SignalingClient): void {
    signaling.addEventListener('ready', () => this.#ready());
    signaling.addEventListener('statechange', () => this.#stateChanged());
    for (const type of ['joined', 'away', 'back'] as const) {
      signaling.addEventListener(type, ({ peer, meta }) => this.#add(peer, meta, type === 'away'));
    }
    signaling.addEventListener('left', ({ peer }) => this.#remove(peer));
    signaling.addEventListener('error', ({ code, ref, cause }) => {
      if (ref === undefined) this.#refused(cause === undefined ? code : `${code} (${cause})`);
      else if (UNREACHABLE.has(code)) this.#routes.get(ref)?.routeFailed(ref);
    });
    signaling.addEventListener('signal', ({ from, data }) => {
      const contact = this.#isClosed ? undefined : this.#routes.get(from);
      const signal = contact && parseSignal(data);
      if (signal) contact.receive(from, signal);
    });
  }

  #ready(): void {
    const { peers } = this.#signaling;
    for (const peer of [...this.#routes.keys()]) if (!peers.has(peer)) this.#remove(peer);
    for (const { peer, meta, away } of peers.values()) this.#add(peer, meta, away === true);
    this.#reportDiscovery();
  }

  #stateChanged(): void {
    const { state, code, reason } = this.#signaling;
    const { signaling: url } = this.#options;
    if (state === 'ready') {
      this.#complaints.delete('signaling-unreachable');
      this.#complaints.delete('signaling-refused');
    } else if (state === 'waiting') {
      // A browser does not tell a wrong path from a server that is down.
      const hint = /\/v1\/*$/.test(new URL(url).pathname) ? '' : ' Does its path lack /v1?';
      this.#complain('signaling-unreachable', `No way to ${url}; trying on.${hint}`);
    } else if (state === 'failed') {
      this.#refused(`code ${code}${reason && ` (${reason})`}; not trying again`);
    }
  }

  #refused(why: string): void {
    this.#complain('signaling-refused', `${this.#options.signaling}: ${why}.`);
  }

  #add(route: string, meta: string | undefined, isAway: boolean): void {
    const introduction = parseIntroduction(meta);
    // An earlier place of this very node, which the server has not cleared yet, is no peer.
    if (this.#isClosed || !introduction || introduction.instance === this.self) return;
    const { instance, id } = introduction;
    const contact = this.#contacts.get(instance) ?? new Contact(this, instance, id);
    this.#contacts.set(instance, contact);
    this.#routes.set(route, contact);
    contact.addRoute(route, isAway);
  }

  #remove(route: string): void {
    const contact = this.#routes.get(route);
    this.#routes.delete(route);
    contact?.removeRoute(route);
  }

  /** A network that allows no link must not look like one without peers. */
  #judge(contact: Contact): void {
    if (contact.isUnreachable) {
      const message = `${contact.id} is in the room, but no link to it comes up; trying on. Some networks need a TURN server: see iceServers.`;
      this.#complain('peer-unreachable', message);
    } else if (!this.#all.some((other) => other.isUnreachable)) {
      this.#complaints.delete('peer-unreachable');
    }
  }

  #reportDiscovery(): void {
    const pending = this.#all.filter((contact) => contact.isPending).length;
    if (pending === this.#pending) return;
    this.#pending = pending;
    this.handler.discovery(pending);
  }

  async #iceServers(): Promise<readonly object[]> {
    const { iceServers } = this.#options;
    if (typeof iceServers !== 'function') return iceServers ?? this.#signaling.iceServers ?? [];
    try {
      const servers: unknown = await iceServers();
      if (isIceServers(servers)) return servers;
      this.#complain('ice-servers-failed', 'iceServers() gave no array of { urls }.');
    } catch (error) {
      this.#complain('ice-servers-failed', `iceServers() failed: ${String(error)}`);
    }
    return [];
  }

  #complain(code: string, message: string): void {
    if (this.#isClosed || this.#complaints.has(code)) return;
    this.#complaints.add(code);
    this.handler.fault(code, message);
  }
}

/** Answers to a signal that did not reach its peer. */
const UNREACHABLE: ReadonlySet<string> = new Set(['no_such_peer', 'rate_limited']);
