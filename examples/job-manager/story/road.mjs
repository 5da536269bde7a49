import { once } from 'node:events';
import { connect, createServer } from 'node:net';

/**
 * The way from one worker to the store, as a network is: what is sent may be held up on it, and
 * arrives later all the same.
 */
export class Road {
  #server;
  #target;
  /** Passes on what is held up, in order; null while the road is free. */
  #held = null;
  #onHeld = () => undefined;

  /** @param {import('node:net').NetConnectOpts} target where it leads */
  static async to(target) {
    const road = new Road(target);
    road.#server.listen(0, '127.0.0.1');
    await once(road.#server, 'listening');
    return road;
  }

  constructor(target) {
    this.#target = target;
    this.#server = createServer((socket) => this.#lead(socket));
  }

  get port() {
    return this.#server.address().port;
  }

  /** From now on nothing gets to the store; `onHeld` is called when something is held up. */
  holdUp(onHeld) {
    this.#held = [];
    this.#onHeld = onHeld;
  }

  /** Lets arrive what was held up, and all that follows. */
  free() {
    const held = this.#held ?? [];
    this.#held = null;
    for (const pass of held) pass();
  }

  /** Takes nobody any more. */
  close() {
    this.#server.close();
  }

  #lead(worker) {
    const store = connect(this.#target);
    worker.on('data', (bytes) => this.#pass(() => store.write(bytes)));
    worker.on('end', () => this.#pass(() => store.end()));
    store.on('data', (bytes) => worker.write(bytes));
    store.on('end', () => worker.end());
    for (const socket of [worker, store]) {
      // A connection that breaks at one end breaks at the other.
      socket.on('error', () => [worker.destroy(), store.destroy()]);
    }
  }

  #pass(pass) {
    if (!this.#held) return pass();
    if (this.#held.length === 0) this.#onHeld();
    this.#held.push(pass);
  }
}
