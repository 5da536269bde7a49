import { LeftEvent, PeerEvent } from './events.ts';
import { type PeerInfo, type ReadServerMessage, VIEW_PEERS_MAX } from './protocol.ts';

type PresenceMessage = Extract<ReadServerMessage, { type: 'joined' | 'away' | 'back' | 'left' }>;

/** The peers of a room as this client was told. */
export class View {
  readonly #peers = new Map<string, PeerInfo>();

  get peers(): ReadonlyMap<string, PeerInfo> {
    return this.#peers;
  }

  /** Applies one change; gives the event to fire, or nothing when it changes nothing. */
  apply(message: PresenceMessage): Event | undefined {
    const known = this.#peers.get(message.peer);
    if (message.type === 'joined') return known ? undefined : this.#join(message);
    if (known === undefined) return undefined;
    if (message.type === 'left') {
      this.#peers.delete(message.peer);
      return new LeftEvent(message.peer, message.reason);
    }
    const isAway = message.type === 'away';
    if (isAway === (known.away === true)) return undefined;
    this.#peers.set(known.peer, peerInfo(known, isAway));
    return new PeerEvent(message.type, known.peer, known.meta);
  }

  /** Replaces the view; gives the events for what differs from the old one. */
  replace(peers: readonly PeerInfo[]): Event[] {
    const present = new Set(peers.map(({ peer }) => peer));
    const gone = [...this.#peers.keys()].filter((peer) => !present.has(peer));
    const left = gone.map((peer) => ({ type: 'left', peer, reason: 'timeout' }) as const);
    const joined = peers.map((info) => ({ ...info, type: 'joined' }) as const);
    const moved = peers.map(({ peer, away }) => ({ type: away ? 'away' : 'back', peer }) as const);
    return [...left, ...joined, ...moved].flatMap((change) => this.apply(change) ?? []);
  }

  #join({ peer, meta }: PeerInfo): Event | undefined {
    if (this.#peers.size >= VIEW_PEERS_MAX) return undefined;
    this.#peers.set(peer, peerInfo({ peer, ...(meta === undefined ? {} : { meta }) }, false));
    return new PeerEvent('joined', peer, meta);
  }
}

function peerInfo({ peer, meta }: PeerInfo, isAway: boolean): PeerInfo {
  return Object.freeze({
    peer,
    ...(meta === undefined ? {} : { meta }),
    ...(isAway ? { away: true as const } : {}),
  });
}
