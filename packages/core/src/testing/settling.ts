/**
 * Lets promises settle between two events of a simulation. A turn of the platform's task queue is
 * the only point at which no microtask is left, however long the chains of promises are.
 */
export class Settling {
  readonly #channel = new MessageChannel();
  #resolve: () => void = () => undefined;

  constructor() {
    this.#channel.port1.onmessage = () => this.#resolve();
  }

  settle(): Promise<void> {
    return new Promise((resolve) => {
      this.#resolve = resolve;
      this.#channel.port2.postMessage(null);
    });
  }

  /** Must be called: an open channel keeps a process alive. */
  close(): void {
    this.#channel.port1.close();
  }
}
