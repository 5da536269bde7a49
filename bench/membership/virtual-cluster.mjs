import { Scheduler } from '../../packages/core/dist/testing/scheduler.js';
import { SimClock } from '../../packages/core/dist/testing/sim-clock.js';
import { SimHost } from '../../packages/core/dist/testing/sim-host.js';
import { SimNet } from '../../packages/core/dist/testing/sim-net.js';
import { SimNetwork } from '../../packages/core/dist/testing/sim-network.js';
import { seededRandom } from '../../packages/core/dist/testing/sim-random.js';

/** All links are up by then; the protocols begin. */
const LINKED_MS = 1000;
const WATCHER = { delivered: () => undefined, closed: () => undefined };

/**
 * Nodes that run a baseline on the hosts, the clocks and the network of Doyen's simulator, so that
 * every protocol meets the same faults. All know all from the beginning.
 */
export class VirtualCluster {
  net;
  #scheduler = new Scheduler();
  #network;
  #nodes = new Map();

  constructor({ seed, nodes, latencyMs, create }) {
    this.#network = new SimNetwork({
      scheduler: this.#scheduler,
      random: seededRandom(seed, 1),
      latencyMs,
      watcher: WATCHER,
    });
    const ids = Array.from({ length: nodes }, (_, at) => `n${at + 1}`);
    this.net = new SimNet(
      this.#network,
      () => ids,
      () => undefined,
    );
    for (const [at, id] of ids.entries())
      this.#nodes.set(id, this.#start(id, ids, seed, at, create));
  }

  get now() {
    return this.#scheduler.now;
  }

  get ids() {
    return [...this.#nodes.keys()];
  }

  get running() {
    return this.ids.filter((id) => this.#node(id).host.condition !== 'stopped');
  }

  async run(ms) {
    const until = this.now + ms;
    for (let task = this.#scheduler.take(until); task; task = this.#scheduler.take(until))
      task.run();
    this.#scheduler.advanceTo(until);
  }

  crash(id) {
    const { host, transport } = this.#node(id);
    host.stop();
    transport.crash();
  }

  pause(id) {
    this.#node(id).host.pause();
  }

  resume(id) {
    const { host, transport } = this.#node(id);
    host.resume(() => transport.resumed());
  }

  throttle(id, intervalMs) {
    this.#node(id).host.throttle(intervalMs);
  }

  stats(id) {
    return this.#network.stats(id);
  }

  roster(id) {
    return this.#node(id).protocol.roster;
  }

  leader(id) {
    return this.#node(id).protocol.leader;
  }

  protocol(id) {
    return this.#node(id).protocol;
  }

  /** What a node has seen: changes of its leader, evictions, and a protocol's own notes. */
  events(id) {
    return this.#node(id).events;
  }

  #node(id) {
    return this.#nodes.get(id);
  }

  #start(id, ids, seed, at, create) {
    const random = seededRandom(seed, 2 + at);
    const clock = new SimClock(this.#scheduler, 0, Math.floor(random() * 1e6));
    const host = new SimHost({
      scheduler: this.#scheduler,
      clock,
      random,
      startAt: 0,
      ran: () => undefined,
    });
    const transport = this.#network.transport(id, host);
    const node = { host, transport, protocol: null, events: [], leader: undefined };
    const links = new Links(transport, (from, bytes) => node.protocol.receive(from, bytes));
    const context = {
      id,
      peers: ids.filter((other) => other !== id),
      random,
      now: () => host.now(),
      timer: (callback, delayMs) => host.timer(callback, delayMs),
      send: (to, bytes) => links.send(to, bytes),
      sample: (values, count) => sample(values, count, random),
      first: (among) => first(among),
      changed: () => this.#changed(node),
      evicted: (member) => node.events.push({ at: this.now, type: 'evicted', member }),
      note: (type, value) => node.events.push({ at: this.now, type, value }),
    };
    node.protocol = create(context);
    transport.start(links, { instance: id, signal: new AbortController().signal });
    host.timer(() => {
      node.protocol.start();
      this.#changed(node);
    }, LINKED_MS);
    return node;
  }

  #changed(node) {
    const { leader } = node.protocol;
    if (leader === node.leader) return;
    node.leader = leader;
    node.events.push({ at: this.now, type: 'leader', leader });
  }
}

/** The links of one node, by the ids of the others. */
class Links {
  #transport;
  #receive;
  #keys = new Map();
  #ids = new Map();

  constructor(transport, receive) {
    this.#transport = transport;
    this.#receive = receive;
  }

  send(to, bytes) {
    const key = this.#keys.get(to);
    if (key) this.#transport.send(key, bytes, 'control');
  }

  linkUp(key, { id }) {
    this.#keys.set(id, key);
    this.#ids.set(key, id);
  }

  linkDown(key) {
    const id = this.#ids.get(key);
    this.#ids.delete(key);
    if (this.#keys.get(id) === key) this.#keys.delete(id);
  }

  message(key, bytes) {
    const id = this.#ids.get(key);
    if (id) this.#receive(id, bytes);
  }

  /** Baselines know all members from the beginning, and trust nothing but messages. */
  discovery() {
    return undefined;
  }

  hint() {
    return undefined;
  }
}

/** The member that has been there longest, as ids count up. */
function first(ids) {
  const numbers = ids.map((id) => Number(id.slice(1)));
  return `n${Math.min(...numbers)}`;
}

function sample(values, count, random) {
  const rest = [...values];
  const chosen = [];
  while (chosen.length < count && rest.length > 0) {
    const at = Math.floor(random() * rest.length);
    chosen.push(rest[at]);
    rest[at] = rest[rest.length - 1];
    rest.pop();
  }
  return chosen;
}
