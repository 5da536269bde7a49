import { type Picture, pictureKey, scatteredTiles, tileArea, tileCount } from './picture.ts';

/** One accepted result. */
export interface TileRecord {
  readonly id: number;
  /** Epoch under which the accepted result was computed. */
  readonly epoch: number;
  /** Id of the member that computed it. */
  readonly by: string;
  /** How many times the tile was computed, as far as known here. */
  readonly computed: number;
}

export interface Progress {
  readonly total: number;
  readonly done: number;
  readonly tiles: readonly TileRecord[];
  readonly refusedStale: number;
}

/** What a `Checkpoint` tells the page. */
export interface CheckpointListener {
  pictureChanged(picture: Picture): void;
  tileAccepted(record: TileRecord, pixels: Uint8Array): void;
}

interface AcceptedTile {
  record: TileRecord;
  readonly pixels: Uint8Array;
}

/**
 * A member's copy of the picture as far as it is done. Every member keeps one, so that any of them
 * can take over. The leader's copy is the truth: what it sends replaces what a member holds.
 */
export class Checkpoint {
  #picture: Picture | null = null;
  #key = '';
  #order: readonly number[] = [];
  #tiles = new Map<number, AcceptedTile>();
  /** How often tiles were computed that have no accepted result yet. */
  #attempts = new Map<number, number>();
  #refusedStale = 0;
  readonly #listener: CheckpointListener;

  constructor(listener: CheckpointListener) {
    this.#listener = listener;
  }

  get picture(): Picture | null {
    return this.#picture;
  }

  /** Empty as long as there is no picture. */
  get key(): string {
    return this.#key;
  }

  get done(): number {
    return this.#tiles.size;
  }

  get total(): number {
    return this.#picture ? tileCount(this.#picture) : 0;
  }

  get isComplete(): boolean {
    return this.#picture !== null && this.done === this.total;
  }

  /** Results that were refused because a newer leader had taken over, in the whole cluster. */
  get refusedStale(): number {
    return this.#refusedStale;
  }

  /** Begins another picture with no tile done. The same picture again changes nothing. */
  show(picture: Picture): void {
    const key = pictureKey(picture);
    if (key === this.#key) return;
    this.#picture = picture;
    this.#key = key;
    this.#order = scatteredTiles(picture);
    this.#tiles.clear();
    this.#attempts.clear();
    this.#listener.pictureChanged(picture);
  }

  has(tile: number): boolean {
    return this.#tiles.has(tile);
  }

  get(tile: number): { readonly record: TileRecord; readonly pixels: Uint8Array } | undefined {
    return this.#tiles.get(tile);
  }

  /** Stores a result, in place of an older one. False when its size does not fit the picture. */
  accept(record: TileRecord, pixels: Uint8Array): boolean {
    if (!this.#picture) return false;
    const area = tileArea(this.#picture, record.id);
    if (pixels.length !== area.width * area.height) return false;
    const computed = Math.max(record.computed, this.computed(record.id));
    const merged = { ...record, computed };
    this.#attempts.delete(record.id);
    this.#tiles.set(record.id, { record: merged, pixels });
    this.#listener.tileAccepted(merged, pixels);
    return true;
  }

  computed(tile: number): number {
    return this.#tiles.get(tile)?.record.computed ?? this.#attempts.get(tile) ?? 0;
  }

  /** Counts a computation whose result was not accepted. */
  countAttempt(tile: number): void {
    const accepted = this.#tiles.get(tile);
    const computed = this.computed(tile) + 1;
    if (accepted) accepted.record = { ...accepted.record, computed };
    else this.#attempts.set(tile, computed);
  }

  countRefused(): void {
    this.#refusedStale += 1;
  }

  /** Takes over the leader's count; a member never knows of more. */
  learnRefused(count: number): void {
    this.#refusedStale = Math.max(this.#refusedStale, count);
  }

  /** Tiles without an accepted result, in the order in which they are to be computed. */
  missing(): number[] {
    return this.#order.filter((tile) => !this.has(tile));
  }

  /** For every tile the epoch of its accepted result, 0 = none. */
  inventory(): number[] {
    return Array.from({ length: this.total }, (_, tile) => this.get(tile)?.record.epoch ?? 0);
  }

  progress(): Progress {
    const tiles = [...this.#tiles.values()].map(({ record }) => record);
    tiles.sort((a, b) => a.id - b.id);
    return { total: this.total, done: this.done, tiles, refusedStale: this.#refusedStale };
  }
}
