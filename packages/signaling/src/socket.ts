/** What is read from an event of a socket: `data` of a message, `code` and `reason` of a close. */
export interface SocketEvent {
  readonly type: string;
  readonly data?: unknown;
  readonly code?: number;
  readonly reason?: string;
}

/** The part of a WebSocket that is used; browsers, Node, `ws`, Deno, Bun and workers have it. */
export interface WebSocketLike {
  readonly readyState: number;
  readonly bufferedAmount: number;
  send(data: string): void;
  close(code?: number, reason?: string): void;
  addEventListener(
    type: 'open' | 'message' | 'close' | 'error',
    listener: (event: SocketEvent) => void,
  ): void;
}

/** A WebSocket class. */
export type WebSocketConstructor = new (url: string, protocols?: string) => WebSocketLike;
