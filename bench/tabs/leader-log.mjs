/** Who said when that it leads, and that it no longer does. */
export class LeaderLog {
  #entries = [];

  leads(tab, at) {
    this.#entries.push({ tab, at, delta: 1 });
  }

  /** Loses nothing, if it does not lead. */
  loses(tab, at) {
    this.#entries.push({ tab, at, delta: -1 });
  }

  /** Who says now that it leads. */
  get leaders() {
    return this.#replay().leaders;
  }

  /** The time since which exactly one leads, and no other; null when nobody or several do. */
  get soleSince() {
    const { leaders, since } = this.#replay();
    return leaders.size === 1 ? since : null;
  }

  /** When somebody else than `former` first led after `at`; null when nobody has. */
  successionAfter(at, former) {
    const times = this.#entries.flatMap((entry) =>
      entry.delta > 0 && entry.tab !== former && entry.at >= at ? [entry.at] : [],
    );
    return times.length > 0 ? Math.min(...times) : null;
  }

  /** The most that led at one instant. */
  get most() {
    return this.#replay().most;
  }

  /** Tells come from several processes, so not in the order of their times. */
  #replay() {
    const leaders = new Set();
    let most = 0;
    let since = null;
    for (const { tab, at, delta } of this.#entries.toSorted((one, other) => one.at - other.at)) {
      if (leaders.has(tab) === delta > 0) continue;
      if (delta > 0) leaders.add(tab);
      else leaders.delete(tab);
      most = Math.max(most, leaders.size);
      since = at;
    }
    return { leaders, most, since };
  }
}
