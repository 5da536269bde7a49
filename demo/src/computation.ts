import type { Channel, ChannelMessageEvent, DoyenNode, Term } from '@doyen/core';
import { Checkpoint, type CheckpointListener } from './coordinator/checkpoint.ts';
import { Contributor } from './coordinator/contributor.ts';
import { Coordinator } from './coordinator/coordinator.ts';
import {
  decodeMessage,
  encodeMessage,
  type LeaderMessage,
  type MemberMessage,
  type Message,
} from './coordinator/message.ts';
import type { Picture } from './coordinator/picture.ts';

export interface ComputationOptions {
  readonly node: DoyenNode;
  readonly firstPicture: Picture;
  readonly render: (picture: Picture, tile: number) => Promise<Uint8Array>;
  readonly listener: CheckpointListener;
}

const CHANNEL = 'mandelbrot';
const TICK_MS = 100;

/**
 * One node's share in the computation: always as a contributor, and as the coordinator while the
 * node leads. Ties the two, which know no network, to the node's channel and leadership.
 */
export class Computation {
  readonly checkpoint: Checkpoint;
  readonly #options: ComputationOptions;
  readonly #node: DoyenNode;
  readonly #channel: Channel;
  readonly #contributor: Contributor;
  readonly #end = new AbortController();
  #coordinator: Coordinator | null = null;

  constructor(options: ComputationOptions) {
    this.#options = options;
    this.#node = options.node;
    this.#channel = options.node.channel(CHANNEL);
    this.checkpoint = new Checkpoint(options.listener);
    this.#contributor = new Contributor({
      checkpoint: this.checkpoint,
      render: options.render,
      send: (to, message) => this.#toLeader(to, message),
    });
    this.#listen();
  }

  /** Tiles in work, as far as known here: all of them on the leader, else this node's own. */
  get inFlight(): ReadonlyMap<number, string> {
    if (this.#coordinator) {
      const entries = [...this.#coordinator.inFlight];
      return new Map(entries.map(([tile, { member }]) => [tile, member]));
    }
    const { current } = this.#contributor;
    return current === null ? new Map() : new Map([[current, this.#node.id]]);
  }

  /** Begins the picture anew; a member asks the leader for it. False when nobody leads. */
  restart(): boolean {
    return this.#toLeader(null, { type: 'restart' });
  }

  /** Stops all work of this node. */
  end(): void {
    this.#end.abort();
    this.#contributor.end();
    this.#coordinator = null;
  }

  #listen(): void {
    const { signal } = this.#end;
    const node = this.#node;
    this.#channel.addEventListener('message', (event) => this.#receive(event), { signal });
    this.#channel.addEventListener('stale', () => this.#coordinator?.staleDropped(), { signal });
    const welcome = ({ member }: { member: { id: string } }) =>
      this.#coordinator?.welcome(member.id, performance.now());
    const lose = ({ member }: { member: { id: string } }) =>
      this.#coordinator?.lose(member.id, performance.now());
    node.addEventListener('memberjoin', welcome, { signal });
    node.addEventListener('memberalive', welcome, { signal });
    node.addEventListener('membersuspect', lose, { signal });
    node.addEventListener('memberleave', lose, { signal });
    node.leadership.addEventListener('change', () => this.#leaderChanged(), { signal });
    // Ends by the signal, or with the node; both are this class's own doing.
    node.leadership
      .lead((term) => this.#lead(term), { signal })
      .catch((error: unknown) => {
        if (!signal.aborted) throw error;
      });
  }

  async #lead(term: Term): Promise<void> {
    const channel = term.channel(CHANNEL);
    const coordinator = new Coordinator({
      self: this.#node.id,
      epoch: term.epoch,
      checkpoint: this.checkpoint,
      firstPicture: this.#options.firstPicture,
      now: performance.now(),
      send: (to, message) => this.#fromLeader(term, channel, to, message),
    });
    const others = this.#node.members.filter(
      ({ id, status }) => id !== this.#node.id && status === 'alive',
    );
    this.#coordinator = coordinator;
    const ended = this.#untilEnd(term.signal, coordinator);
    coordinator.start(
      others.map(({ id }) => id),
      performance.now(),
    );
    await ended;
  }

  #untilEnd(signal: AbortSignal, coordinator: Coordinator): Promise<void> {
    return new Promise((resolve) => {
      const timer = setInterval(() => coordinator.tick(performance.now()), TICK_MS);
      const end = () => {
        clearInterval(timer);
        if (this.#coordinator === coordinator) this.#coordinator = null;
        resolve();
      };
      if (signal.aborted) end();
      else signal.addEventListener('abort', end, { once: true });
    });
  }

  #leaderChanged(): void {
    const { current, epoch } = this.#node.leadership;
    this.#contributor.leaderChanged(current ? epoch : epoch + 1, current !== null);
  }

  #receive({ from, data, epoch }: ChannelMessageEvent): void {
    const message = decodeMessage(data);
    if (!message) return;
    // Only a leader's messages are stamped.
    if (epoch > 0 && isFromLeader(message)) this.#contributor.receive(from.id, message, epoch);
    if (epoch === 0 && isFromMember(message)) {
      this.#coordinator?.receive(from.id, message, performance.now());
    }
  }

  #fromLeader(
    term: Term,
    channel: Pick<Channel, 'send' | 'broadcast'>,
    to: string | null,
    message: LeaderMessage,
  ): boolean {
    if (term.signal.aborted) return false;
    if (to === this.#node.id) {
      this.#contributor.receive(to, message, term.epoch);
      return true;
    }
    const bytes = encodeMessage(message);
    return (to === null ? channel.broadcast(bytes) : channel.send(to, bytes)) !== 'dropped';
  }

  #toLeader(to: string | null, message: MemberMessage): boolean {
    const leader = to ?? this.#node.leadership.current?.id;
    if (leader === undefined) return false;
    if (leader === this.#node.id) {
      this.#coordinator?.receive(leader, message, performance.now());
      return this.#coordinator !== null;
    }
    return this.#channel.send(leader, encodeMessage(message)) !== 'dropped';
  }
}

function isFromLeader(message: Message): message is LeaderMessage {
  return ['survey', 'want', 'assign', 'tile'].includes(message.type);
}

function isFromMember(message: Message): message is MemberMessage {
  return ['inventory', 'result', 'restart', 'tile'].includes(message.type);
}
