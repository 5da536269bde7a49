/**
 * News that is sent along with other messages, each piece a limited number of times, the least sent
 * first. Newer news about a member replaces older.
 */
export class Rumours {
  #byMember = new Map();

  get isEmpty() {
    return this.#byMember.size === 0;
  }

  add(rumour) {
    this.#byMember.set(rumour.id, { rumour, sent: 0 });
  }

  /** At most `count` pieces, of which those sent `limit` times are forgotten. */
  take(count, limit) {
    if (this.isEmpty) return [];
    const chosen = [...this.#byMember.values()].sort((a, b) => a.sent - b.sent).slice(0, count);
    for (const entry of chosen) {
      entry.sent += 1;
      if (entry.sent >= limit) this.#byMember.delete(entry.rumour.id);
    }
    return chosen.map(({ rumour }) => rumour);
  }
}
