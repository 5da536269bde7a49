import type { WorkerAnswer, WorkerRequest } from './coordinator/mandelbrot-worker.ts';
import type { Picture } from './coordinator/picture.ts';

/** Computes tiles beside the page's main thread, one at a time. */
export class WorkerRenderer {
  readonly #worker = new Worker(new URL('./coordinator/mandelbrot-worker.ts', import.meta.url), {
    type: 'module',
  });
  #waiting: { resolve: (pixels: Uint8Array) => void; reject: (why: Error) => void } | null = null;

  constructor() {
    this.#worker.addEventListener('message', ({ data }: MessageEvent<WorkerAnswer>) => {
      this.#waiting?.resolve(data.pixels);
      this.#waiting = null;
    });
    this.#worker.addEventListener('error', (event) => this.#fail(event.message));
  }

  /** Rejects when the worker fails or is closed, or is still busy with another tile. */
  render(picture: Picture, tile: number): Promise<Uint8Array> {
    if (this.#waiting) return Promise.reject(new Error('The worker computes another tile.'));
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#ask({ type: 'render', picture, tile });
    });
  }

  pause(): void {
    this.#ask({ type: 'pause' });
  }

  resume(): void {
    this.#ask({ type: 'resume' });
  }

  close(): void {
    this.#worker.terminate();
    this.#fail('the worker was closed');
  }

  #ask(request: WorkerRequest): void {
    this.#worker.postMessage(request);
  }

  #fail(why: string): void {
    this.#waiting?.reject(new Error(`The tile was not computed: ${why}.`));
    this.#waiting = null;
  }
}
