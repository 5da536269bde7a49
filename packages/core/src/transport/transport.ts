import type { Hint, Lifecycle, LinkDownReason } from '../machine/input.ts';

export type { Hint, Lifecycle, LinkDownReason };

/**
 * What one end of a cluster's links offers to the runtime. The core knows no other network.
 *
 * A **link** is one connection to another node. Its key, `peer`, is an opaque string that the
 * transport mints for each link and never uses again: a new connection to the same node gets a new
 * key, so that the late close of an old link cannot down a newer one.
 */
export interface Transport {
  /**
   * `browser`: it reaches nothing outside of this browser, or this process, so that Web Locks reach
   * whomever it does. Anything else may be anywhere.
   */
  readonly scope?: 'browser';

  /**
   * Begins to find peers and to make links, until `options.signal` aborts or `close()` is called.
   * Never throws for what the network does: failures show as links that do not come up, and in
   * `discovery`. Throws `DoyenError` when the platform lacks what the transport needs.
   */
  start(handler: TransportHandler, options: TransportStartOptions): void;

  /**
   * Hands one message to a link; whole messages arrive, in order within a lane, or not at all.
   * Never throws. `bytes` must not be changed afterwards.
   */
  send(peer: string, bytes: Uint8Array, lane: Lane): SendResult;

  /** Closes every link cleanly and stops. Idempotent; nothing is reported afterwards. */
  close(): Promise<void>;

  /**
   * Calls back once after at least `delayMs`, in hidden pages too; returns how to cancel. A node
   * beats with these timers where a transport has them.
   */
  timer?(callback: () => void, delayMs: number): () => void;
}

/** `control`: heartbeats and elections, which never wait behind application `data`. */
export type Lane = 'control' | 'data';

/**
 * `sent`: handed to the network. `queued`: accepted, but the link is over its buffer: slow down.
 * `dropped`: no such link, or its buffer is full; the message is lost.
 */
export type SendResult = 'sent' | 'queued' | 'dropped';

/** Who starts the transport. */
export interface TransportStartOptions {
  /** Name of the cluster: transports with the same name meet. */
  readonly cluster: string;
  /** Id of this node. */
  readonly id: string;
  /** Random uid of this start of the node. */
  readonly instance: string;
  /** Abort means `close()`. */
  readonly signal: AbortSignal;
}

/** What a transport knows of a link. */
export interface LinkInfo {
  /** Names the node behind it, when known; unchecked. */
  readonly id?: string;
  /**
   * What messages over it cost beside other links of the same node. Of those that answer the
   * cheapest carries, of equal ones the fastest. @defaultValue 1
   */
  readonly cost?: number;
}

/** What a transport reports. The runtime implements it; no method throws. */
export interface TransportHandler {
  /** A link is open for both lanes. */
  linkUp(peer: string, info?: LinkInfo): void;
  linkDown(peer: string, why: LinkDownReason): void;
  message(peer: string, bytes: Uint8Array): void;
  hint(peer: string, kind: Hint): void;
  /**
   * Discovery has answered, and `pending` of the peers that it named are still being linked. Called
   * again when the number changes. A node that is told `0` and has no link knows that it is alone.
   */
  discovery(pending: number): void;
  /** A host that the transport knows to be stopped or started again (fault injection, tabs). */
  lifecycle(kind: Lifecycle): void;
  /** Something worth telling the application that breaks nothing: a coded message. */
  fault(code: string, message: string): void;
}
