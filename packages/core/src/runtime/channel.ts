import type { MachineEvent } from '../machine/effect.ts';
import type { SendResult } from '../transport/transport.ts';
import type { Driver } from './driver.ts';
import {
  ChannelMessageEvent,
  type DroppedEvent,
  type GapEvent,
  StaleEvent,
  TypedEventTarget,
} from './event.ts';
import { isText, shown } from './options.ts';

/** Events of a {@link Channel}. */
export interface ChannelEventMap {
  /** A message of another member. */
  message: ChannelMessageEvent;
  /** Messages of a member were lost, as their route changed. */
  gap: GapEvent;
  /** A message of an older term came, and was dropped. */
  stale: StaleEvent;
  /** A message came before anybody listened to `message`, and the buffer was full. */
  dropped: DroppedEvent;
}

/** Application messages of one name, as `node.channel()` gives it. */
export interface ChannelSender {
  readonly name: string;

  /**
   * Sends to one member; over a common neighbour where no direct link exists. At most once, and in
   * order for each sender, receiver and channel.
   *
   * `sent`: handed to the network. `queued`: accepted, but the link is over its buffer: slow down.
   * `dropped`: no such member, no route, or a full buffer; the message is lost.
   *
   * @throws TypeError when `data` is no `Uint8Array`; RangeError when it is above 16 MiB.
   */
  send(memberId: string, data: Uint8Array): SendResult;

  /** Sends to every other member; gives the worst result among them. Throws as `send` does. */
  broadcast(data: Uint8Array): SendResult;
}

/**
 * Application messages over the links of the cluster. `node.channel(name)` gives the same object
 * for the same name. Messages that came before the first `message` listener are kept, 256 KiB for
 * all channels together, and given to it in order.
 */
export class Channel extends TypedEventTarget<ChannelEventMap> implements ChannelSender {
  readonly name: string;
  readonly #sender: ChannelSender;
  readonly #open: () => void;

  /** @internal */
  constructor(sender: ChannelSender, open: () => void) {
    super();
    this.name = sender.name;
    this.#sender = sender;
    this.#open = open;
  }

  send(memberId: string, data: Uint8Array): SendResult {
    return this.#sender.send(memberId, data);
  }

  broadcast(data: Uint8Array): SendResult {
    return this.#sender.broadcast(data);
  }

  override addEventListener: TypedEventTarget<ChannelEventMap>['addEventListener'] = (
    type,
    listener,
    options,
  ) => {
    super.addEventListener(type, listener, options);
    if (type === 'message') this.#open();
  };
}

type Message = MachineEvent & { readonly type: 'message' };

/** The channels of one node, and the messages that wait for a listener. */
export class Channels {
  readonly #driver: Driver;
  readonly #channels = new Map<string, Channel>();
  readonly #open = new Set<string>();
  #waiting: Message[] = [];
  #waitingBytes = 0;

  constructor(driver: Driver) {
    this.#driver = driver;
  }

  channel(name: string): Channel {
    const known = this.#channels.get(name);
    if (known) return known;
    checkName(name);
    if (this.#channels.size >= CHANNEL_COUNT_MAX) {
      throw new RangeError(
        `a node has at most ${CHANNEL_COUNT_MAX} channels; "${name}" is one more`,
      );
    }
    const channel = new Channel(this.sender(name, 0), () => this.#opened(name));
    this.#channels.set(name, channel);
    return channel;
  }

  /** Sends stamped with `epoch`; 0 = not stamped. */
  sender(name: string, epoch: number): ChannelSender {
    checkName(name);
    return {
      name,
      send: (memberId, data) => this.#send(name, memberId, data, epoch),
      broadcast: (data) => this.#send(name, null, data, epoch),
    };
  }

  /** The channel of that name, unless nobody asked for it yet. */
  known(name: string): Channel | undefined {
    return this.#channels.get(name);
  }

  /** Gives a message to its channel or keeps it; false when it is lost. */
  deliver(message: Message): boolean {
    const channel = this.#channels.get(message.channel);
    if (channel && this.#open.has(message.channel)) {
      channel.dispatchEvent(new ChannelMessageEvent(message));
      return true;
    }
    const size = message.data.length + WAITING_OVERHEAD_BYTES;
    if (this.#waitingBytes + size > WAITING_BYTES_MAX) return false;
    this.#waiting.push(message);
    this.#waitingBytes += size;
    return true;
  }

  #send(name: string, to: string | null, data: Uint8Array, epoch: number): SendResult {
    if (!(data instanceof Uint8Array)) {
      throw new TypeError(`data must be a Uint8Array, got ${shown(data)}`);
    }
    if (data.length > MESSAGE_BYTES_MAX) {
      throw new RangeError(`data must be at most ${MESSAGE_BYTES_MAX} bytes, got ${data.length}`);
    }
    let isRouted = false;
    const result = this.#driver.input((machine, now) => {
      const isAlone = to === null && machine.members.length === 1;
      isRouted = isAlone || machine.channelSend(name, to, data, epoch, now);
    });
    return isRouted ? result : 'dropped';
  }

  #opened(name: string): void {
    if (this.#open.has(name) || !this.#channels.has(name)) return;
    // A microtask later, so that the caller's other listeners are in place.
    queueMicrotask(() => this.#deliverWaiting(name));
  }

  #deliverWaiting(name: string): void {
    if (this.#open.has(name)) return;
    this.#open.add(name);
    const due = this.#waiting.filter((message) => message.channel === name);
    this.#waiting = this.#waiting.filter((message) => message.channel !== name);
    for (const message of due) {
      this.#waitingBytes -= message.data.length + WAITING_OVERHEAD_BYTES;
      // Another may lead since it came.
      if (message.epoch === 0 || message.epoch >= this.#driver.machine.epoch) this.deliver(message);
      else this.#channels.get(name)?.dispatchEvent(new StaleEvent({ ...message, type: 'stale' }));
    }
  }
}

function checkName(name: string): void {
  if (typeof name !== 'string') {
    throw new TypeError(`a channel's name must be a string, got ${shown(name)}`);
  }
  if (!isText(name)) {
    throw new RangeError(
      `a channel's name must be 1 to 128 bytes of UTF-8 without control characters, got ${shown(name)}`,
    );
  }
}

/** What one message may carry; the same in the machine, which refuses more from others. */
const MESSAGE_BYTES_MAX = 16 * 1024 * 1024;
const CHANNEL_COUNT_MAX = 256;
const WAITING_BYTES_MAX = 256 * 1024;
// Counted for each message, so that empty ones cannot grow without end.
const WAITING_OVERHEAD_BYTES = 64;
