import type { SocketEvent, WebSocketLike } from '../src/index.ts';

type Listener = (event: SocketEvent) => void;

/** A WebSocket whose other end is the test. */
export class FakeSocket implements WebSocketLike {
  /** Every socket made, oldest first. */
  static made: FakeSocket[] = [];
  readonly url: string;
  readonly protocol: string | undefined;
  readyState = 0;
  bufferedAmount = 0;
  readonly sent: string[] = [];
  /** Code of the close that the client asked for. */
  closedWith: number | undefined;
  readonly #listeners = new Map<string, Listener[]>();

  constructor(url: string, protocol?: string) {
    this.url = url;
    this.protocol = protocol;
    FakeSocket.made.push(this);
  }

  static get last(): FakeSocket {
    const socket = FakeSocket.made.at(-1);
    if (socket === undefined) throw new Error('no socket was made');
    return socket;
  }

  send(data: string): void {
    this.sent.push(data);
  }

  close(code = 1005): void {
    this.closedWith = code;
    this.readyState = 2;
  }

  addEventListener(type: string, listener: Listener): void {
    this.#listeners.set(type, [...(this.#listeners.get(type) ?? []), listener]);
  }

  /** The server sends, which it can only once the socket is open. */
  tell(message: unknown): void {
    if (this.readyState === 0) this.readyState = 1;
    const data = typeof message === 'string' ? message : JSON.stringify(message);
    this.#fire({ type: 'message', data });
  }

  /** The server greets and lets in. */
  admit(fields: object = {}): void {
    this.tell(WELCOME);
    this.tell({ type: 'ready', peer: 'me', resume: 'token-1', peers: [], seq: 0, ...fields });
  }

  /** The socket is gone. */
  end(code: number): void {
    this.readyState = 3;
    this.#fire({ type: 'close', code });
  }

  #fire(event: SocketEvent): void {
    for (const listener of this.#listeners.get(event.type) ?? []) listener(event);
  }
}

export const WELCOME = {
  type: 'welcome',
  features: [],
  heartbeatMs: 25_000,
  limits: { messageBytesMax: 16_384 },
};
