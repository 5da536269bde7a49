/// <reference lib="esnext.disposable" preserve="true" />
import type { MachineEvent, NodeState, StoreEffect } from '../machine/effect.ts';
import type { Lock } from '../machine/lock/lock.ts';
import { Machine } from '../machine/machine.ts';
import type { Member } from '../machine/member.ts';
import { checkOptions, SIGNAL } from '../option-check.ts';
import type { TransportHandler } from '../transport/transport.ts';
import { type Channel, Channels } from './channel.ts';
import { Driver, type DriverSink } from './driver.ts';
import { DoyenError } from './error.ts';
import {
  DroppedEvent,
  FaultEvent,
  GapEvent,
  MemberEvent,
  MemberLeaveEvent,
  StaleEvent,
  StateChangeEvent,
  TypedEventTarget,
  ViolationEvent,
} from './event.ts';
import { learnFloor } from './floor.ts';
import type { Host } from './host.ts';
import { Keeper, problemOf } from './keeper.ts';
import { Leadership } from './leadership.ts';
import { type JoinOptions, plainMeta, type ResolvedOptions, resolveOptions } from './options.ts';
import { abortable, withResolvers } from './promise.ts';
import { uid } from './uid.ts';
import { Voters } from './voters.ts';

/** Events of a {@link DoyenNode}. Nothing is replayed for late listeners: read the state. */
export interface NodeEventMap {
  /** A member is in the roster from here on; also a member that comes back. */
  memberjoin: MemberEvent;
  /** A member is quiet, and not evicted yet. */
  membersuspect: MemberEvent;
  /** A suspect was heard again. */
  memberalive: MemberEvent;
  /** A member's record changed: `meta`, `visibility`, `startedAt`. */
  memberupdate: MemberEvent;
  /** A member is out of the roster. Precedes the `change` of leadership that it causes. */
  memberleave: MemberLeaveEvent;
  /** A member is reached another way: `link` is `direct` or `relayed`. */
  linkchange: MemberEvent;
  statechange: StateChangeEvent;
  /** Input broke a rule and was ignored. */
  violation: ViolationEvent;
  /** Something around the node does not work; the node goes on. */
  fault: FaultEvent;
  /** A channel's message was lost, as nobody listened and the buffer was full. */
  dropped: DroppedEvent;
}

/** `Symbol.asyncDispose`, or what stands for it where the platform does not know it yet. */
const ASYNC_DISPOSE: typeof Symbol.asyncDispose =
  Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose');

/** `join()` with surroundings of the caller's choice, as the simulator has them. */
export function createNode(options: JoinOptions, host: Host): DoyenNode {
  const resolved = resolveOptions(options);
  resolved.signal?.throwIfAborted();
  const node = new DoyenNode(resolved, host);
  node.start();
  return node;
}

/** One participant of a cluster, as `join()` gives it. */
export class DoyenNode extends TypedEventTarget<NodeEventMap> {
  /** Id of this node. */
  readonly id: string;
  /** Random uid of this start of the node. */
  readonly instance: string;
  /** Name of the cluster. */
  readonly cluster: string;
  /** Who leads, and what this node does while it leads. */
  readonly leadership: Leadership;
  /** Who votes; of use with `quorum()`. */
  readonly voters: Voters;
  readonly #options: ResolvedOptions;
  readonly #host: Host;
  readonly #driver: Driver;
  readonly #channels: Channels;
  readonly #keeper: Keeper | null;
  #lock: Lock | null = null;
  readonly #lifetime = new AbortController();
  readonly #ready = withResolvers<void>();
  #leaving: Promise<void> | null = null;
  #isOver = false;
  readonly #finished = withResolvers<void>();
  readonly #leaveDone = withResolvers<void>();
  #epochKept = 0;
  #keeping: Promise<void> = Promise.resolve();

  /** @internal Use `join()`. */
  constructor(options: ResolvedOptions, host: Host) {
    super();
    this.#options = options;
    this.#host = host;
    this.cluster = options.cluster;
    this.id = options.id ?? uid(host, ID_LENGTH);
    this.instance = uid(host, INSTANCE_LENGTH);
    // Whoever awaits `ready()` hears of its rejection; when nobody does, it is no error.
    this.#ready.promise.catch(() => undefined);
    this.#driver = new Driver({
      host,
      machine: this.#machine(),
      transport: options.transport,
      sink: this.#sink(),
    });
    this.#channels = new Channels(this.#driver);
    this.voters = new Voters(this.#driver);
    const { store } = options;
    const key = `${this.cluster}\n${this.id}`;
    this.#keeper = store ? new Keeper({ store, key, host }) : null;
    this.leadership = new Leadership({
      driver: this.#driver,
      channels: this.#channels,
      cluster: this.cluster,
      instance: this.instance,
    });
  }

  /**
   * `joining`: has met nobody yet. `joined`. `isolated`: most links are quiet at once, so the fault
   * is probably this node's own. `left` and `failed` are final.
   */
  get state(): NodeState {
    const { state } = this.#driver.machine;
    // A page that goes away does not wait until the machine has seen its leave through.
    return this.#isOver && state !== 'failed' ? 'left' : state;
  }

  /** The roster: this node and every member it knows, sorted by id. Frozen; the same object until
   * something changes. */
  get members(): readonly Member[] {
    return this.#driver.machine.members;
  }

  /**
   * Resolves when the node has met somebody, or knows that it is alone.
   * @throws the reason of `signal` when that aborts; DoyenError when the node has left or failed.
   */
  async ready(options: { readonly signal?: AbortSignal } = {}): Promise<void> {
    checkOptions({ signal: SIGNAL }, options);
    await abortable(this.#ready.promise, options.signal);
  }

  /** Round trip to a member in milliseconds; `undefined` until measured, and over a relay. */
  rtt(memberId: string): number | undefined {
    return this.#driver.machine.rtt(memberId);
  }

  /**
   * Tells the others what this node says of itself: JSON, copied here; `undefined` takes it back.
   * @throws TypeError when it is no JSON; RangeError above 1 KiB. Nothing changed then.
   */
  setMeta(meta: unknown): void {
    const plain = plainMeta(meta);
    this.#driver.input((machine, now) => machine.setMeta(plain, now));
  }

  /**
   * Application messages of one name; the same object for the same name.
   * @throws RangeError when the name is not 1 to 128 bytes of UTF-8 without control characters, and
   * above 256 channels.
   */
  channel(name: string): Channel {
    return this.#channels.channel(name);
  }

  /**
   * Says goodbye, waits at most 1 s until all have heard it, and closes the links. Idempotent: every
   * call resolves when that is done. Terms end at once, with the reason `left`.
   */
  leave(): Promise<void> {
    this.#leaving ??= this.#leave();
    return this.#leaving;
  }

  /** The same as `leave()`, for `await using`. */
  [ASYNC_DISPOSE](): Promise<void> {
    return this.leave();
  }

  /** @internal */
  start(): void {
    const { transport, signal } = this.#options;
    this.#openLock();
    this.#host.watchLifecycle((kind) => this.#handler.lifecycle(kind), this.#lifetime.signal);
    try {
      transport.start(this.#handler, {
        cluster: this.cluster,
        id: this.id,
        instance: this.instance,
        signal: this.#lifetime.signal,
      });
    } catch (error) {
      this.#driver.stop();
      this.#lifetime.abort();
      throw error;
    }
    if (this.#isVoting) void this.#restore();
    else void this.#learnFloor();
    this.#driver.input(() => undefined);
    signal?.addEventListener('abort', () => void this.leave(), { signal: this.#lifetime.signal });
  }

  #machine(): Machine {
    const { startedAt, seniority, election, meta, detection, joinGraceMs } = this.#options;
    const { floor, store, preferVisible } = this.#options;
    const isMade = 'elect' in election;
    return new Machine({
      cluster: this.cluster,
      id: this.id,
      instance: this.instance,
      startedAt: startedAt ?? Math.max(1, Math.floor(this.#host.wallNow())),
      restampable: startedAt === undefined && seniority === 'cluster',
      ...(meta !== undefined && { meta }),
      strategy: isMade ? election.rankBy : election,
      ...(isMade && { elect: election.elect, hasStore: store !== undefined }),
      fingerprint: isMade ? election.name : `bully/${election.name}/${seniority}`,
      detection,
      joinGraceMs,
      ...(preferVisible && { handOverHiddenAfterMs: preferVisible.afterMs }),
      floorPending: floor !== undefined || (store !== undefined && !this.#isVoting),
      random: () => this.#host.random(),
      now: this.#host.now(),
    });
  }

  #sink(): DriverSink {
    return {
      termStarted: (epoch) => this.leadership.termStarted(epoch),
      termEnded: (epoch, reason) => this.leadership.termEnded(epoch, reason),
      event: (event) => this.#handle(event),
      store: (effect) => void this.#store(effect),
      lock: (effect) => this.#lock?.carryOut(effect),
      fault: (code, message) => this.#fault(code, message),
    };
  }

  readonly #handler: TransportHandler = {
    linkUp: (peer, info) =>
      this.#driver.arrive((machine, now) => machine.linkUp(peer, now, info?.cost)),
    linkDown: (peer, why) =>
      this.#driver.arrive((machine, now) => machine.linkDown(peer, why, now)),
    message: (peer, bytes) =>
      this.#driver.arrive((machine, now) => machine.receive(peer, bytes, now), bytes.length),
    hint: (peer, kind) => this.#driver.arrive((machine, now) => machine.hint(peer, kind, now)),
    discovery: (pending) => this.#driver.arrive((machine, now) => machine.discovery(pending, now)),
    lifecycle: (kind) => {
      if (kind !== 'pagehide') return this.#driver.lifecycle(kind);
      // The page goes away for good: goodbyes go out, and links close, within this very task.
      void this.leave();
      void this.#finish(null);
    },
    fault: (code, message) => this.#fault(code, message),
  };

  #handle(event: MachineEvent): void {
    switch (event.type) {
      case 'memberjoin':
      case 'membersuspect':
      case 'memberalive':
      case 'memberupdate':
      case 'linkchange':
        this.dispatchEvent(new MemberEvent(event));
        break;
      case 'memberleave':
        this.dispatchEvent(new MemberLeaveEvent(event));
        break;
      case 'statechange':
        this.#changeState(event);
        break;
      case 'ready':
        this.#ready.resolve();
        break;
      case 'leavedone':
        this.#leaveDone.resolve();
        break;
      case 'message':
        if (!this.#channels.deliver(event)) this.#dropped(event);
        break;
      case 'gap':
        this.#channels.known(event.channel)?.dispatchEvent(new GapEvent(event));
        break;
      case 'stale':
        this.#channels.known(event.channel)?.dispatchEvent(new StaleEvent(event));
        break;
      case 'violation':
        this.dispatchEvent(new ViolationEvent(event));
        break;
      case 'fault':
        this.#fault(event.code, event.message);
        break;
      case 'voterschange':
      case 'voterschanged':
        this.voters.handle(event);
        break;
      case 'yield':
        // Should it fail, the leader leads on, and the machine proposes again.
        this.leadership.transfer(event.to).catch(() => undefined);
        break;
      case 'change':
        this.leadership.handle(event);
        if (!this.#isVoting) void this.#keepEpoch(event.epoch);
        break;
      default:
        this.leadership.handle(event);
    }
  }

  #changeState(event: MachineEvent & { readonly type: 'statechange' }): void {
    const { state, previous, failure } = event;
    const error = failure && new DoyenError(failure.code, failure.message);
    this.#tellState(state, previous, error);
    if (state === 'failed') void this.#finish(error ?? null);
  }

  #tellState(state: NodeState, previous: NodeState, error?: DoyenError): void {
    this.dispatchEvent(new StateChangeEvent({ type: 'statechange', state, previous, error }));
  }

  #dropped(message: MachineEvent & { readonly type: 'message' }): void {
    const { channel, from, data } = message;
    const lost = { type: 'dropped', channel, from, sizeBytes: data.length };
    this.#channels.known(channel)?.dispatchEvent(new DroppedEvent(lost));
    this.dispatchEvent(new DroppedEvent(lost));
  }

  #fault(code: string, message: string): void {
    this.dispatchEvent(new FaultEvent({ type: 'fault', code, message }));
  }

  async #leave(): Promise<void> {
    if (!this.#isOver) {
      this.#driver.thaw();
      this.#driver.input((machine, now) => machine.leave(now));
      await this.#leaveDone.promise;
    }
    await this.#finish(null);
  }

  #finish(error: DoyenError | null): Promise<void> {
    if (this.#isOver) return this.#finished.promise;
    const previous = this.state;
    this.#isOver = true;
    this.#driver.stop();
    this.#lock?.close();
    this.#leaveDone.resolve();
    this.#ready.reject(error ?? new DoyenError('left', 'the node left before it was ready'));
    this.#finished.resolve(this.#closeTransport());
    if (previous !== this.state) this.#tellState(this.state, previous);
    this.leadership.close(error);
    this.voters.close(error ?? new DoyenError('left', 'the node has left its cluster'));
    return this.#finished.promise;
  }

  async #closeTransport(): Promise<void> {
    const { promise: late, resolve } = withResolvers<string>();
    const cancel = this.#host.timer(() => resolve(`not closed within ${CLOSE_MS} ms`), CLOSE_MS);
    const closed = (async () => this.#options.transport.close())().catch(String);
    const problem = await Promise.race([closed, late]);
    cancel();
    this.#lifetime.abort();
    if (problem !== undefined) this.#fault('close-failed', `the transport: ${problem}`);
  }

  get #isVoting(): boolean {
    const { election } = this.#options;
    return 'elect' in election && election.mode === 'quorum';
  }

  /** Where the holder of a lock leads. */
  #openLock(): void {
    const { election, transport } = this.#options;
    if (!('open' in election)) return;
    this.#lock = election.open({
      cluster: this.cluster,
      scope: transport.scope,
      answer: (answer) => this.#driver.arrive((machine, now) => machine.locked(answer, now)),
    });
  }

  /** What a voter has stored, before it votes; then the floor, as everybody does. */
  async #restore(): Promise<void> {
    if (this.#keeper) {
      // Drawn with the instance, so that a simulation without jitter tells storages apart too.
      const fresh = uid(this.#host, INSTANCE_LENGTH);
      try {
        const bytes = await this.#keeper.read();
        this.#driver.arrive((machine, now) => machine.restore(bytes, fresh, now));
      } catch (error) {
        this.#storageFailed(error);
      }
    }
    await this.#learnFloor();
  }

  async #store({ ticket, bytes }: StoreEffect): Promise<void> {
    try {
      await this.#keeper?.write(bytes);
      this.#driver.arrive((machine, now) => machine.stored(ticket, now));
    } catch (error) {
      this.#storageFailed(error);
    }
  }

  #storageFailed(error: unknown): void {
    const problem = problemOf(error);
    const message = error instanceof Error ? error.message : String(error);
    this.#driver.arrive((machine, now) => machine.storageFailed(problem, message, now));
  }

  async #learnFloor(): Promise<void> {
    const { floor } = this.#options;
    const isKept = this.#keeper !== null && !this.#isVoting;
    if (!floor && !isKept) return;
    let epoch: number | null = null;
    try {
      const kept = isKept ? await this.#keptEpoch() : 0;
      const asked = floor
        ? await learnFloor(floor, { host: this.#host, signal: this.#lifetime.signal })
        : 0;
      epoch = Math.max(kept, asked);
    } catch (error) {
      if (this.#isOver) return;
      this.#fault('floor-failed', `this node cannot lead: ${String(error)}`);
    }
    this.#driver.input((machine, now) => machine.setFloor(epoch, now));
  }

  /** Where nobody votes, the store keeps the epoch (E4). */
  async #keptEpoch(): Promise<number> {
    const bytes = await this.#keeper?.read();
    if (!bytes) return 0;
    const epoch = Number(new TextDecoder().decode(bytes));
    if (Number.isSafeInteger(epoch) && epoch >= 0) return epoch;
    throw new DoyenError('storage-corrupt', `expected an epoch, got ${bytes.length} other bytes`);
  }

  async #keepEpoch(epoch: number): Promise<void> {
    if (!this.#keeper || epoch <= this.#epochKept) return;
    this.#epochKept = epoch;
    try {
      // One after the other: each replaces the one before it.
      const bytes = new TextEncoder().encode(String(epoch));
      const written = this.#keeping.then(() => this.#keeper?.write(bytes));
      this.#keeping = written.catch(() => undefined);
      await written;
    } catch (error) {
      this.#fault(problemOf(error), `epoch ${epoch} was not stored: ${String(error)}`);
    }
  }
}

// Room for handshakes of links to end; what closes later closes by itself.
const CLOSE_MS = 2000;
// 62 bits, to name a node among the members of one cluster.
const ID_LENGTH = 12;
// 82 bits, to tell apart every start of every node.
const INSTANCE_LENGTH = 16;
