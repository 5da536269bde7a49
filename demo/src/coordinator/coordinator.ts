import { Assignments } from './assignments.ts';
import type { Checkpoint } from './checkpoint.ts';
import type { LeaderMessage, MemberMessage, TileMessage } from './message.ts';
import { isTile, type Picture, pictureKey } from './picture.ts';

export interface CoordinatorOptions {
  /** Id of this node. */
  readonly self: string;
  /** Of the term that this coordinator serves; it ends with it. */
  readonly epoch: number;
  readonly checkpoint: Checkpoint;
  /** Begun when nobody knows of a picture. */
  readonly firstPicture: Picture;
  /** Sends a stamped message to a member, itself included, or to all others. False: no room. */
  readonly send: (to: string | null, message: LeaderMessage) => boolean;
  readonly now: number;
}

/** How long the answers to the first survey may take. A member that is slower loses nothing but work. */
const COLLECT_MS = 1_000;
/** Repairs what got lost on the way. */
const SURVEY_INTERVAL_MS = 1_000;
/** A late joiner gets the picture in pieces, so that its link keeps room for everything else. */
const TILES_A_TICK = 24;

/**
 * The leader's part, for one term: collects what the members hold, hands out what is missing, takes
 * results of its own epoch only, and passes each accepted tile on to everybody.
 */
export class Coordinator {
  readonly #options: CoordinatorOptions;
  readonly #checkpoint: Checkpoint;
  readonly #assignments = new Assignments();
  /** Members that may be given work: alive, this node included. */
  #crew = new Set<string>();
  /** Members whose inventory, or whose wanted tiles, are still awaited. */
  #awaited = new Map<string, Set<number> | null>();
  /** Tiles that a member lacks and is still to be sent. */
  #backlog = new Map<string, number[]>();
  #collecting = true;
  #collectUntil: number;
  #nextSurvey: number;

  constructor(options: CoordinatorOptions) {
    this.#options = options;
    this.#checkpoint = options.checkpoint;
    this.#collectUntil = options.now + COLLECT_MS;
    this.#nextSurvey = options.now + SURVEY_INTERVAL_MS;
  }

  /** Which tile is being computed by whom. */
  get inFlight(): ReadonlyMap<number, { readonly member: string }> {
    return this.#assignments.tiles;
  }

  /** Asks everybody what they hold. */
  start(others: readonly string[], now: number): void {
    this.#crew = new Set([this.#options.self, ...others]);
    for (const member of others) this.#awaited.set(member, null);
    this.#survey(null, true);
    this.#advance(now);
  }

  /** A member joined, or was heard again. */
  welcome(member: string, now: number): void {
    this.#crew.add(member);
    if (this.#collecting) this.#awaited.set(member, null);
    this.#survey(member, true);
    this.#advance(now);
  }

  /** A member left, or fell silent: its tiles are handed out again, in the same epoch. */
  lose(member: string, now: number): void {
    this.#crew.delete(member);
    this.#awaited.delete(member);
    this.#backlog.delete(member);
    this.#assignments.release(member);
    this.#advance(now);
  }

  /** A stamped message of a former leader was dropped before it came here. */
  staleDropped(): void {
    this.#checkpoint.countRefused();
  }

  restart(now: number): void {
    const { picture } = this.#checkpoint;
    if (!picture || this.#collecting) return;
    this.#show({ ...picture, revision: picture.revision + 1 });
    this.#survey(null, false);
    this.#advance(now);
  }

  receive(from: string, message: MemberMessage, now: number): void {
    if (message.type === 'result') this.#takeResult(from, message);
    else if (message.type === 'inventory') this.#takeInventory(from, message);
    else if (message.type === 'tile') this.#takeHeldTile(from, message);
    else this.restart(now);
    this.#advance(now);
  }

  /** Call every 100 ms or so; more seldom makes repairs slower, nothing else. */
  tick(now: number): void {
    this.#assignments.expire(now);
    if (now >= this.#nextSurvey) {
      this.#nextSurvey = now + SURVEY_INTERVAL_MS;
      this.#survey(null, false);
    }
    this.#sendBacklogs();
    this.#advance(now);
  }

  #advance(now: number): void {
    if (this.#collecting) this.#endCollecting(now);
    if (!this.#collecting) this.#handOut(now);
  }

  #endCollecting(now: number): void {
    if (this.#awaited.size > 0 && now < this.#collectUntil) return;
    this.#collecting = false;
    this.#awaited.clear();
    if (!this.#checkpoint.picture) this.#show(this.#options.firstPicture);
    this.#survey(null, false);
  }

  #handOut(now: number): void {
    const free = this.#checkpoint.missing().filter((tile) => !this.#assignments.has(tile));
    let handedOut = true;
    while (free.length > 0 && handedOut) {
      handedOut = false;
      for (const member of this.#crew) {
        const [tile] = free;
        if (tile === undefined || !this.#assignments.hasRoom(member)) continue;
        if (!this.#send(member, { type: 'assign', key: this.#checkpoint.key, tile })) continue;
        this.#assignments.add(tile, member, now);
        free.shift();
        handedOut = true;
      }
    }
  }

  #takeResult(from: string, message: MemberMessage & { type: 'result' }): void {
    const { key, tile, epoch, pixels } = message;
    const checkpoint = this.#checkpoint;
    const fits = checkpoint.picture && key === checkpoint.key && isTile(checkpoint.picture, tile);
    if (epoch < this.#options.epoch) {
      checkpoint.countRefused();
      if (fits) checkpoint.countAttempt(tile);
    }
    if (!fits || epoch !== this.#options.epoch) return;
    this.#assignments.finish(tile);
    const record = { id: tile, epoch, by: from, computed: checkpoint.computed(tile) + 1 };
    if (checkpoint.has(tile)) checkpoint.countAttempt(tile);
    else if (checkpoint.accept(record, pixels)) this.#sendTile(null, tile);
  }

  #takeInventory(from: string, message: MemberMessage & { type: 'inventory' }): void {
    const { picture, epochs } = message;
    if (picture && this.#isNewer(picture)) this.#show(picture);
    const same = picture !== null && pictureKey(picture) === this.#checkpoint.key;
    const held = same ? epochs : [];
    if (this.#collecting && this.#awaited.has(from)) this.#want(from, held);
    const { total } = this.#checkpoint;
    const lacking = Array.from({ length: total }, (_, tile) => tile).filter((tile) => {
      const record = this.#checkpoint.get(tile)?.record;
      return record !== undefined && record.epoch !== held[tile];
    });
    if (lacking.length > 0) this.#backlog.set(from, lacking);
  }

  /** Only before work begins: later, what a deposed leader took in comes too late. */
  #want(from: string, held: readonly number[]): void {
    const asked = new Set([...this.#awaited.values()].flatMap((tiles) => [...(tiles ?? [])]));
    const tiles = this.#checkpoint.missing().filter((tile) => held[tile] && !asked.has(tile));
    if (tiles.length === 0) this.#awaited.delete(from);
    else if (this.#send(from, { type: 'want', key: this.#checkpoint.key, tiles })) {
      this.#awaited.set(from, new Set(tiles));
    }
  }

  #takeHeldTile(from: string, message: TileMessage): void {
    const awaited = this.#awaited.get(from);
    if (message.key !== this.#checkpoint.key || !awaited?.delete(message.id)) return;
    const { id, epoch, by, computed, pixels } = message;
    this.#checkpoint.learnRefused(message.refusedStale);
    if (!this.#checkpoint.has(id) && epoch < this.#options.epoch) {
      if (this.#checkpoint.accept({ id, epoch, by, computed }, pixels)) this.#sendTile(null, id);
    }
    if (awaited.size === 0) this.#awaited.delete(from);
  }

  #isNewer(picture: Picture): boolean {
    const own = this.#checkpoint.picture;
    return own === null || picture.revision > own.revision;
  }

  #show(picture: Picture): void {
    this.#checkpoint.show(picture);
    this.#assignments.clear();
    this.#backlog.clear();
  }

  #survey(to: string | null, everybody: boolean): void {
    const { picture, done, refusedStale } = this.#checkpoint;
    this.#send(to, { type: 'survey', picture, done, refusedStale, everybody });
  }

  #sendTile(to: string | null, id: number): boolean {
    const tile = this.#checkpoint.get(id);
    if (!tile) return true;
    const { key, refusedStale } = this.#checkpoint;
    return this.#send(to, { type: 'tile', key, ...tile.record, refusedStale, pixels: tile.pixels });
  }

  #sendBacklogs(): void {
    for (const [member, tiles] of this.#backlog) {
      for (let sent = 0; sent < TILES_A_TICK && tiles[0] !== undefined; sent += 1) {
        if (!this.#sendTile(member, tiles[0])) break;
        tiles.shift();
      }
      if (tiles.length === 0) this.#backlog.delete(member);
    }
  }

  #send(to: string | null, message: LeaderMessage): boolean {
    return this.#options.send(to, message);
  }
}
