import * as decoding from 'lib0/decoding';
import * as encoding from 'lib0/encoding';
import { type Awareness, encodeAwarenessUpdate } from 'y-protocols/awareness';
import { messageYjsSyncStep1, messageYjsSyncStep2 } from 'y-protocols/sync';
import { messageAwareness, messageSync, WebsocketProvider } from 'y-websocket';
import type * as Y from 'yjs';
import { Custody } from './custody.ts';
import { CLOSE } from './gate-protocol.ts';
import type { ServerState } from './message.ts';

/** A `WebSocket` class. */
export type WebSocketConstructor = new (url: string, protocols?: string[]) => object;

/** Where an uplink leads to. */
export interface UplinkOptions {
  readonly url: string;
  readonly room: string;
  readonly doc: Y.Doc;
  readonly awareness: Awareness;
  readonly WebSocket: WebSocketConstructor;
  /** Query parameters of the address. */
  readonly params: Readonly<Record<string, string>>;
}

/** Who is told what happens on an uplink. */
export interface UplinkListener<Marks> {
  /** `server` may be another. */
  changed(): void;
  /** The server takes the connection. */
  connected(): void;
  /** The server closed the connection for good. */
  closed(closing: { readonly code: number; readonly reason: string }): void;
  /** What is confirmed once the document as it is now is. */
  marks(): Marks;
  confirmed(marks: Marks): void;
  /** What the server sent is malformed, and was ignored. */
  malformed(cause: unknown): void;
}

/**
 * The connection of a leader to a y-websocket server. It is y-websocket's own provider, set right
 * where that thinks of one user only: see docs/adr/0006.
 */
export class Uplink<Marks> {
  readonly #provider: WebsocketProvider;
  readonly #awareness: Awareness;
  readonly #doc: Y.Doc;
  readonly #listener: UplinkListener<Marks>;
  #custody: Custody<Marks> | null = null;
  /** Only its first word shows that the server takes the connection: a gate opens before it closes. */
  #isHeard = false;
  #isClosed = false;

  constructor(options: UplinkOptions, listener: UplinkListener<Marks>) {
    const { url, room, doc, awareness, params } = options;
    this.#awareness = awareness;
    this.#doc = doc;
    this.#listener = listener;
    this.#provider = new WebsocketProvider(url, room.replace(/[?#]/g, encodeURIComponent), doc, {
      connect: false,
      awareness,
      params: { ...params },
      // Tabs that heard each other behind the leader's back would send it what it never passes on.
      disableBc: true,
      WebSocketPolyfill: options.WebSocket as typeof WebSocket,
    });
    this.#amend();
    this.#provider.on('status', ({ status }) => this.#statusChanged(status));
    this.#provider.on('sync', () => this.#changed());
    this.#provider.on('closed', (closing) => {
      if (!this.#isClosed) listener.closed(closing);
    });
  }

  /** @throws what the constructor of `WebSocket` throws. */
  open(): void {
    this.#provider.connect();
  }

  /** Origin of the transactions that apply what the server sends. */
  get origin(): object {
    return this.#provider;
  }

  get server(): ServerState {
    const { wsconnected, shouldConnect, synced } = this.#provider;
    if (wsconnected && this.#isHeard) return { status: 'connected', isSynced: synced };
    return { status: shouldConnect ? 'connecting' : 'disconnected', isSynced: false };
  }

  /** There may be something that the server has not confirmed. */
  unconfirmed({ isInDocument }: { readonly isInDocument: boolean }): void {
    if (isInDocument) this.#custody?.changed();
    else this.#custody?.recount();
  }

  /** Tells the server that these clients are gone. */
  forget(clients: readonly number[]): void {
    if (clients.length === 0) return;
    const update = encodeAwarenessUpdate(this.#awareness, [...clients], new Map());
    this.#send((encoder) => {
      encoding.writeVarUint(encoder, messageAwareness);
      encoding.writeVarUint8Array(encoder, update);
    });
  }

  /**
   * At once, and for good. `isLeaving`: so does the user of this node. `isLast`: nobody of the
   * cluster is left.
   */
  close({ isLeaving, isLast }: { readonly isLeaving: boolean; readonly isLast: boolean }): void {
    // The server forgets with a connection only whom it first heard of on that one.
    if (isLeaving) this.forget([this.#awareness.clientID]);
    this.#isClosed = true;
    this.#custody?.close();
    const { ws } = this.#provider;
    // Not by `disconnect()`, which sets a timer to come back by, and takes states away.
    this.#provider.ws = null;
    if (ws !== null) {
      ws.onopen = ws.onmessage = ws.onclose = null;
      ws.onerror = () => undefined;
      if (isLast && ws.readyState === OPEN) ws.close(CLOSE.last, 'last');
      else ws.close();
    }
    this.#provider.awareness = this.#awareness;
    this.#provider.destroy();
  }

  /** Sets right what y-websocket does for one user alone. */
  #amend(): void {
    const provider = this.#provider;
    // When a connection ends it takes away all states but its own user's, also those of living tabs.
    provider.on('connection-close', () => {
      provider.awareness = NOBODY;
    });
    // Would tell the server that the own user is gone, and throws after a change of its client id.
    provider.disconnectBc = () => undefined;
    const [sync] = provider.messageHandlers;
    if (!sync) throw new Error('y-websocket has another shape than the one that was tested');
    provider.messageHandlers[messageSync] = (encoder, decoder, ...more) => {
      this.#hear(decoding.clone(decoder));
      sync(encoder, decoder, ...more);
    };
  }

  #statusChanged(status: ServerState['status']): void {
    const provider = this.#provider;
    provider.awareness = this.#awareness;
    this.#custody?.close();
    this.#custody = null;
    this.#isHeard = false;
    if (this.#isClosed) return;
    if (status === 'connecting') this.#guard();
    if (status === 'connected') {
      const { marks, confirmed } = this.#listener;
      const ask = (stateVector: Uint8Array): void => this.#ask(stateVector);
      this.#custody = new Custody({ doc: this.#doc, ask, marks, confirmed });
    }
    this.#changed();
  }

  /** What a server sends must not throw into the platform: Node would end the process. */
  #guard(): void {
    const { ws } = this.#provider;
    if (ws === null) return;
    const { onopen, onmessage } = ws;
    ws.onopen = (event) => this.#try(() => onopen?.call(ws, event));
    ws.onmessage = (event) => {
      this.#try(() => onmessage?.call(ws, event));
      if (this.#isHeard || this.#isClosed || ws !== this.#provider.ws) return;
      this.#isHeard = true;
      this.#listener.connected();
      this.#changed();
    };
  }

  #try(handle: () => void): void {
    try {
      handle();
    } catch (cause) {
      this.#listener.malformed(cause);
    }
  }

  #hear(decoder: decoding.Decoder): void {
    const type = decoding.readVarUint(decoder);
    const payload = decoding.readVarUint8Array(decoder);
    if (type === messageYjsSyncStep1) this.#custody?.heardStateVector(payload);
    if (type === messageYjsSyncStep2) this.#custody?.heardState(payload);
  }

  #ask(stateVector: Uint8Array): void {
    this.#send((encoder) => {
      encoding.writeVarUint(encoder, messageSync);
      encoding.writeVarUint(encoder, messageYjsSyncStep1);
      encoding.writeVarUint8Array(encoder, stateVector);
    });
  }

  #send(write: (encoder: encoding.Encoder) => void): void {
    const { ws } = this.#provider;
    if (ws?.readyState === OPEN) ws.send(encoding.encode(write) as Uint8Array<ArrayBuffer>);
  }

  #changed(): void {
    if (!this.#isClosed) this.#listener.changed();
  }
}

/** Has no states that could be taken away. */
const NOBODY = { getStates: () => new Map() } as unknown as Awareness;
/** `WebSocket.OPEN`; the class may be missing. */
const OPEN = 1;
