import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { startRedis } from '../../../scripts/redis.mjs';
import { redisJournal } from '../checkpoints.mjs';
import { STEPS } from '../job.mjs';
import { Cast } from './cast.mjs';
import { Road } from './road.mjs';

const NAMES = ['ada', 'bob', 'eve', 'kim', 'lea', 'max', 'zoe'];

/**
 * Everything that the story needs, as processes: a signaling server, a store of checkpoints and the
 * workers, with a road from each of them to the store.
 */
export class Stage {
  /** @type {Cast} */
  cast;
  /** @type {string[]} */
  workers;
  /** @type {Map<string, Road>} by worker */
  roads = new Map();
  #store;
  #folder = mkdtempSync(path.join(tmpdir(), 'doyen-job-manager-'));
  #remove = () => rmSync(this.#folder, { recursive: true, force: true, maxRetries: 3 });

  /** @param {{ workerCount: number, listener: (report: import('./cast.mjs').Report) => void }} options */
  constructor({ workerCount, listener }) {
    this.workers = NAMES.slice(0, workerCount);
    this.cast = new Cast(listener);
    process.once('exit', this.#remove);
  }

  /** @param {{ isRedis: boolean, isFenced: boolean }} options what keeps the checkpoints, and whether it checks */
  async set(options) {
    this.#store = await (options.isRedis ? this.#startRedis() : this.#startStore(options));
    this.cast.start('signaling', script('../signaling.mjs'));
    const { url: signaling } = await this.#untilListening('signaling');
    for (const id of this.workers) await this.#startWorker(id, signaling);
  }

  /** Every checkpoint that the store has let in, oldest first. */
  journal() {
    return this.#store.journal();
  }

  async clear() {
    await this.cast.close(this.workers);
    for (const road of this.roads.values()) road.close();
    await this.#store?.close();
    this.#remove();
    process.off('exit', this.#remove);
  }

  async #startWorker(id, signaling) {
    const road = await Road.to(this.#store.target);
    this.roads.set(id, road);
    const voteFile = path.join(this.#folder, `${id}.vote`);
    const store = this.#store.url(road.port);
    const options = { id, voters: this.workers, voteFile, signaling, store };
    this.cast.start(id, script('worker-process.mjs'), [JSON.stringify(options)]);
  }

  async #startStore({ isFenced }) {
    const args = isFenced ? [this.#folder] : [this.#folder, '--unfenced'];
    this.cast.start('store', script('../store.mjs'), args);
    const { port } = await this.#untilListening('store');
    return {
      target: { host: '127.0.0.1', port },
      url: (roadPort) => `http://127.0.0.1:${roadPort}/`,
      journal: () => this.#storeJournal(),
      close: async () => undefined,
    };
  }

  async #startRedis() {
    const redis = await startRedis({ folder: this.#folder, isDurable: true });
    const target = { path: redis.socket };
    this.cast.note({ by: 'redis', type: 'listening' });
    return {
      target,
      url: (roadPort) => `redis://127.0.0.1:${roadPort}`,
      journal: () => redisJournal(target),
      close: () => redis.kill(),
    };
  }

  async #storeJournal() {
    const isLast = ({ type, step }) => type === 'stored' && step === STEPS;
    // Whoever has written it may have said so before the store did.
    await this.cast.until('the last checkpoint', isLast);
    return this.cast.reports.filter(({ type }) => type === 'stored');
  }

  #untilListening(name) {
    const what = `the ${name}'s start`;
    return this.cast.until(what, ({ by, type }) => by === name && type === 'listening');
  }
}

function script(file) {
  return fileURLToPath(new URL(file, import.meta.url));
}
