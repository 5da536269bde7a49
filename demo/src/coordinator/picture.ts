/**
 * What is rendered. The same numbers give the same bytes, whoever computes them, so two nodes that
 * hold the same picture may join their tiles.
 */
export interface Picture {
  /** Counts the pictures of a cluster: a restart is the next one. */
  readonly revision: number;
  readonly width: number;
  readonly height: number;
  /** Edge of a square tile in pixels; tiles at the right and lower edge may be smaller. */
  readonly tileSize: number;
  /** A point that has not escaped after so many steps belongs to the set. */
  readonly iterations: number;
}

export interface TileArea {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Large enough that three tabs are busy for many seconds, and a failover can be watched. */
export const LARGE_PICTURE: Picture = {
  revision: 1,
  width: 1024,
  height: 768,
  tileSize: 64,
  iterations: 5000,
};

const SIDE = { min: 16, max: 4096 };
const TILE_SIZE = { min: 8, max: 256 };
const ITERATIONS = { min: 1, max: 1_000_000 };
/** Bounds the messages that list tiles, and what a member must remember. */
const TILES_MAX = 4096;

export function tileCount(picture: Picture): number {
  return columns(picture) * Math.ceil(picture.height / picture.tileSize);
}

export function tileArea(picture: Picture, tile: number): TileArea {
  const x = (tile % columns(picture)) * picture.tileSize;
  const y = Math.floor(tile / columns(picture)) * picture.tileSize;
  return {
    x,
    y,
    width: Math.min(picture.tileSize, picture.width - x),
    height: Math.min(picture.tileSize, picture.height - y),
  };
}

/**
 * All tiles in an order that scatters over the picture: heavy regions are spread over the whole
 * computation, and one sees early what it will be.
 */
export function scatteredTiles(picture: Picture): number[] {
  const tiles = Array.from({ length: tileCount(picture) }, (_, tile) => tile);
  const rank = (tile: number) => Math.imul(tile + 1, GOLDEN_RATIO_32) >>> 0;
  return tiles.sort((a, b) => rank(a) - rank(b));
}

/** 2^32 / φ: its multiples are spread as evenly as can be. */
const GOLDEN_RATIO_32 = 0x9e3779b9;

/** Equal for the same picture only. */
export function pictureKey(picture: Picture): string {
  const { revision, width, height, tileSize, iterations } = picture;
  return `${revision}:${width}x${height}/${tileSize}@${iterations}`;
}

/** The picture that a remote message or a URL names, or null when it is none or too large. */
export function parsePicture(value: unknown): Picture | null {
  if (typeof value !== 'object' || value === null) return null;
  const { revision, width, height, tileSize, iterations } = value as Record<keyof Picture, unknown>;
  if (!isWithin(revision, { min: 1, max: Number.MAX_SAFE_INTEGER })) return null;
  if (!isWithin(width, SIDE) || !isWithin(height, SIDE)) return null;
  if (!isWithin(tileSize, TILE_SIZE) || !isWithin(iterations, ITERATIONS)) return null;
  const picture = { revision, width, height, tileSize, iterations };
  return tileCount(picture) <= TILES_MAX ? picture : null;
}

export function isTile(picture: Picture, tile: unknown): tile is number {
  return isWithin(tile, { min: 0, max: tileCount(picture) - 1 });
}

function isWithin(value: unknown, range: { min: number; max: number }): value is number {
  return Number.isSafeInteger(value) && Number(value) >= range.min && Number(value) <= range.max;
}

function columns(picture: Picture): number {
  return Math.ceil(picture.width / picture.tileSize);
}
