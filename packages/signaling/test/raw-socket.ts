import { connect } from 'node:net';
import { type ClientOptions, WebSocket } from 'ws';
import type { Told } from './hub-driver.ts';

/** A WebSocket that keeps what it was told: a client without any manners of its own. */
export class RawSocket {
  readonly socket: WebSocket;
  readonly told: Told[] = [];
  readonly closed: Promise<number>;
  closeReason = '';
  #wake: () => void = () => undefined;

  constructor(url: string, options: ClientOptions = {}) {
    this.socket = new WebSocket(url, 'doyen.signal.v1', options);
    this.socket.on('message', (data) => {
      this.told.push(JSON.parse(data.toString()) as Told);
      this.#wake();
    });
    // The close that follows tells all that the tests want to know.
    this.socket.on('error', () => this.#wake());
    this.closed = new Promise((resolve) =>
      this.socket.on('close', (code, reason) => {
        this.closeReason = reason.toString();
        resolve(code);
      }),
    );
  }

  say(message: unknown): void {
    this.socket.send(typeof message === 'string' ? message : JSON.stringify(message));
  }

  /** The first message of a type, waiting for it if need be. */
  async heard(type: string, withinMs = 4_000): Promise<Told> {
    const end = performance.now() + withinMs;
    for (;;) {
      const found = this.told.find((message) => message.type === type);
      if (found !== undefined) return found;
      const leftMs = end - performance.now();
      if (leftMs <= 0) throw new Error(`no '${type}' in ${JSON.stringify(this.told)}`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, leftMs);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  /** Waits for the welcome, says hello, and gives the `ready`. */
  async enter(hello: Record<string, string> = {}): Promise<Told> {
    await this.heard('welcome');
    this.say({ type: 'hello', ...hello });
    return this.heard('ready');
  }
}

/** Sends raw bytes to a port and gives everything that came back until the end. */
export function rawExchange(port: number, bytes: string | Uint8Array): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
    let answer = '';
    socket.on('data', (data) => {
      answer += data.toString('latin1');
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(answer));
  });
}
