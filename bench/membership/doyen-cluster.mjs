import { oldestNode } from '../../packages/core/dist/index.js';
import { SimulationError, simulate } from '../../packages/core/dist/testing/index.js';

/** Doyen's simulator under the names that the experiments use for every protocol. */
export class DoyenCluster {
  #sim;

  constructor({ seed, nodes, latencyMs }) {
    this.#sim = simulate({ seed, nodes, latencyMs, election: () => oldestNode() });
  }

  static isViolation(error) {
    return error instanceof SimulationError;
  }

  get net() {
    return this.#sim.net;
  }

  get now() {
    return this.#sim.now;
  }

  get ids() {
    return this.#sim.ids;
  }

  get running() {
    return this.#sim.running;
  }

  run(ms) {
    return this.#sim.run(ms);
  }

  crash(id) {
    this.#sim.crash(id);
  }

  pause(id) {
    this.#sim.pause(id);
  }

  resume(id) {
    this.#sim.resume(id);
  }

  throttle(id, intervalMs) {
    this.#sim.throttle(id, intervalMs);
  }

  stats(id) {
    return this.#sim.stats(id);
  }

  roster(id) {
    return this.#sim.node(id).members.map((member) => member.id);
  }

  leader(id) {
    return this.#sim.node(id).leadership.current?.id ?? null;
  }

  events(id) {
    return this.#sim.node(id).events.flatMap(({ at, type, leader, member, reason }) => {
      if (type === 'change') return [{ at, type: 'leader', leader }];
      if (type === 'memberleave' && reason === 'evicted') return [{ at, type: 'evicted', member }];
      return [];
    });
  }
}
