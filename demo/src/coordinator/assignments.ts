interface Assignment {
  readonly tile: number;
  readonly member: string;
  readonly since: number;
}

/** One in work and one waiting, so that a member need not wait for the leader between two. */
const TILES_A_MEMBER = 2;
/**
 * A tile takes a fraction of a second on a laptop. A member that needs longer than this, though it
 * answers, has most likely lost its worker.
 */
const TIMEOUT_MS = 20_000;

/** Who computes what at the moment. */
export class Assignments {
  #byTile = new Map<number, Assignment>();

  get tiles(): ReadonlyMap<number, { readonly member: string }> {
    return this.#byTile;
  }

  clear(): void {
    this.#byTile.clear();
  }

  has(tile: number): boolean {
    return this.#byTile.has(tile);
  }

  hasRoom(member: string): boolean {
    return this.#count(member) < TILES_A_MEMBER;
  }

  add(tile: number, member: string, now: number): void {
    this.#byTile.set(tile, { tile, member, since: now });
  }

  finish(tile: number): void {
    this.#byTile.delete(tile);
  }

  /** The member is gone or silent: its tiles are free again. */
  release(member: string): void {
    for (const { tile } of this.#of(member)) this.#byTile.delete(tile);
  }

  expire(now: number): void {
    for (const { tile, since } of [...this.#byTile.values()]) {
      if (now - since >= TIMEOUT_MS) this.#byTile.delete(tile);
    }
  }

  #count(member: string): number {
    return this.#of(member).length;
  }

  #of(member: string): Assignment[] {
    return [...this.#byTile.values()].filter((assignment) => assignment.member === member);
  }
}
