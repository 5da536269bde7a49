import { until } from './browser.mjs';
import { LeaderLog } from './leader-log.mjs';
import { wallClock } from './wall-clock.mjs';

/**
 * A leader for so long is one that stays: elders preempt, if at all, as soon as they are met. And
 * whoever has come so long ago has found its place in the queue.
 */
const SETTLED_MS = 1000;

/** Tabs of one contender in one browser. */
export class Cluster {
  static #count = 0;

  log = new LeaderLog();
  clock = wallClock();
  #browser;
  #url;
  #tabs = [];
  #entered = new Set();
  #enteredAt = 0;
  #restored = new Set();

  /** A cluster of its own each time, so that nothing is left from the last one. */
  constructor({ browser, site, contender }) {
    this.#browser = browser;
    Cluster.#count += 1;
    this.#url = site.url('election', { contender, cluster: `bench-${Cluster.#count}` });
  }

  /** One after the other, so that the first one leads whose place it is. */
  async open(count) {
    for (let opened = 0; opened < count; opened += 1) {
      this.#tabs.push(await this.#browser.open(this.#url, this.#told));
      await until(() => this.#entered.size > opened, { what: 'the page has entered' });
    }
  }

  async openAtOnce(count) {
    const options = { count, told: this.#told };
    this.#tabs.push(...(await this.#browser.openAll(this.#url, options)));
  }

  /** Waits until all have entered and only one has led for a while; gives it. */
  async settled() {
    const isSettled = () => {
      const { soleSince } = this.log;
      const isAll = this.#entered.size === this.#tabs.length;
      if (!isAll || soleSince === null) return false;
      return this.clock() - Math.max(soleSince, this.#enteredAt) >= SETTLED_MS;
    };
    await until(isSettled, { what: 'one leader' });
    const [leader] = this.log.leaders;
    return leader;
  }

  others(tab) {
    return this.#tabs.filter((other) => other !== tab);
  }

  /** Hears again what its page has said, of which some may not have arrived; twice is as once. */
  async catchUp(tab) {
    const said = await tab.evaluate(() => globalThis.said);
    for (const [what, at] of said) this.#told(tab, what, at);
  }

  /** Whether it has come back out of the back/forward cache. */
  isRestored(tab) {
    return this.#restored.has(tab);
  }

  #enter(tab, at) {
    this.#entered.add(tab);
    this.#enteredAt = Math.max(this.#enteredAt, at);
  }

  #told = (tab, what, at) => {
    if (what === 'leads') this.log.leads(tab, at);
    else if (what === 'loses') this.log.loses(tab, at);
    else if (what === 'entered') this.#enter(tab, at);
    else if (what === 'restored') this.#restored.add(tab);
  };
}
