import os from 'node:os';
import { Worker } from 'node:worker_threads';

/** More would only take turns on small machines, and each holds a large cluster in memory. */
const WORKERS_MAX = 4;

/** Runs jobs in threads, in the given order as far as threads are free. */
export class Pool {
  #workers;
  #idle;
  #queue = [];

  constructor(count = Math.min(WORKERS_MAX, os.availableParallelism())) {
    const script = new URL('worker.mjs', import.meta.url);
    this.#workers = Array.from({ length: count }, () => new Worker(script));
    this.#idle = [...this.#workers];
  }

  /** Results in the order of the jobs. Rejects with the job that failed. */
  all(jobs) {
    return Promise.all(jobs.map((job) => this.#run(job)));
  }

  async close() {
    await Promise.all(this.#workers.map((worker) => worker.terminate()));
  }

  #run(job) {
    return new Promise((resolve, reject) => {
      this.#queue.push({ job, resolve, reject });
      this.#next();
    });
  }

  #next() {
    if (this.#queue.length === 0 || this.#idle.length === 0) return;
    const worker = this.#idle.pop();
    const { job, resolve, reject } = this.#queue.shift();
    worker.once('message', ({ result, problem }) => {
      this.#idle.push(worker);
      if (problem === undefined) resolve(result);
      else reject(new Error(`${JSON.stringify(job)}: ${problem}`));
      this.#next();
    });
    worker.postMessage(job);
  }
}
