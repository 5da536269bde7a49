// The part of simple-peer that link.ts uses, for its prebuilt browser file, which is published
// without types.
declare module 'simple-peer/simplepeer.min.js' {
  interface Options {
    readonly initiator: boolean;
    readonly config: { readonly iceServers: readonly object[] };
    readonly wrtc?: object;
  }

  /** What it wants the other end to get: the fields that some of its signals have. */
  export interface PeerSignal {
    readonly type?: 'offer' | 'answer';
    readonly sdp?: string;
    readonly candidate?: unknown;
  }

  interface Events {
    signal: [data: PeerSignal];
    connect: [];
    data: [chunk: Uint8Array];
    error: [error: Error & { readonly code?: string }];
    close: [];
    iceStateChange: [connection: string, gathering: string];
  }

  export default class SimplePeer {
    constructor(options: Options);
    /** Bytes that wait in the data channel; 0 when there is none. */
    readonly bufferSize: number;
    signal(data: object): void;
    send(chunk: Uint8Array): void;
    write(chunk: Uint8Array, drained: () => void): boolean;
    destroy(): void;
    on<E extends keyof Events>(event: E, listener: (...values: Events[E]) => void): this;
  }
}
