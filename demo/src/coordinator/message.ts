import { isTile, type Picture, parsePicture } from './picture.ts';

/** From the leader, over `term.channel`: stamped with its epoch. */
export type LeaderMessage =
  /** Where the picture stands. Members that differ answer with their inventory; all, if asked. */
  | {
      readonly type: 'survey';
      readonly picture: Picture | null;
      readonly done: number;
      readonly refusedStale: number;
      readonly everybody: boolean;
    }
  /** Please send these tiles: the leader lacks them. */
  | { readonly type: 'want'; readonly key: string; readonly tiles: readonly number[] }
  | { readonly type: 'assign'; readonly key: string; readonly tile: number }
  | TileMessage;

/** From a member to the leader. */
export type MemberMessage =
  /** Per tile the epoch of its accepted result, 0 = none. */
  | {
      readonly type: 'inventory';
      readonly picture: Picture | null;
      readonly epochs: readonly number[];
    }
  /** `epoch` of the assignment, not of the moment it is sent. */
  | {
      readonly type: 'result';
      readonly key: string;
      readonly tile: number;
      readonly epoch: number;
      readonly pixels: Uint8Array;
    }
  | { readonly type: 'restart' }
  | TileMessage;

/** An accepted result, with what is known of it. */
export interface TileMessage {
  readonly type: 'tile';
  readonly key: string;
  readonly id: number;
  readonly epoch: number;
  readonly by: string;
  readonly computed: number;
  readonly refusedStale: number;
  readonly pixels: Uint8Array;
}

export type Message = LeaderMessage | MemberMessage;

const LENGTH_BYTES = 4;
const NO_PIXELS = new Uint8Array();

/** A length, that many bytes of JSON, and the pixels as they are. */
export function encodeMessage(message: Message): Uint8Array {
  const { pixels, ...header } = { pixels: NO_PIXELS, ...message };
  const json = new TextEncoder().encode(JSON.stringify(header));
  const bytes = new Uint8Array(LENGTH_BYTES + json.length + pixels.length);
  new DataView(bytes.buffer).setUint32(0, json.length);
  bytes.set(json, LENGTH_BYTES);
  bytes.set(pixels, LENGTH_BYTES + json.length);
  return bytes;
}

/** Null for everything that is not a message: what others send is never trusted, never thrown. */
export function decodeMessage(bytes: Uint8Array): Message | null {
  if (bytes.length < LENGTH_BYTES) return null;
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0);
  const end = LENGTH_BYTES + length;
  if (end > bytes.length) return null;
  const header = parseJson(bytes.subarray(LENGTH_BYTES, end));
  return header && parseMessage(header, bytes.slice(end));
}

type Header = Readonly<Record<string, unknown>>;

function parseJson(bytes: Uint8Array): Header | null {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return typeof value === 'object' && value !== null ? (value as Header) : null;
  } catch {
    return null;
  }
}

function parseMessage(header: Header, pixels: Uint8Array): Message | null {
  switch (header['type']) {
    case 'survey':
      return parseSurvey(header);
    case 'want':
      return parseWant(header);
    case 'assign':
      return parseAssign(header);
    case 'inventory':
      return parseInventory(header);
    case 'result':
      return parseResult(header, pixels);
    case 'tile':
      return parseTile(header, pixels);
    case 'restart':
      return { type: 'restart' };
    default:
      return null;
  }
}

function parseSurvey({ picture, done, refusedStale, everybody }: Header): Message | null {
  if (!isCount(done) || !isCount(refusedStale) || typeof everybody !== 'boolean') return null;
  const parsed = parsePicture(picture);
  if (!parsed && picture !== null) return null;
  return { type: 'survey', picture: parsed, done, refusedStale, everybody };
}

function parseWant({ key, tiles }: Header): Message | null {
  if (typeof key !== 'string' || !isCounts(tiles)) return null;
  return { type: 'want', key, tiles };
}

function parseAssign({ key, tile }: Header): Message | null {
  return typeof key === 'string' && isCount(tile) ? { type: 'assign', key, tile } : null;
}

function parseInventory({ picture, epochs }: Header): Message | null {
  if (!isCounts(epochs)) return null;
  const parsed = parsePicture(picture);
  if (!parsed) return picture === null ? { type: 'inventory', picture: null, epochs: [] } : null;
  const fits = epochs.length > 0 && isTile(parsed, epochs.length - 1);
  return fits ? { type: 'inventory', picture: parsed, epochs } : null;
}

function parseResult({ key, tile, epoch }: Header, pixels: Uint8Array): Message | null {
  if (typeof key !== 'string' || !isCount(tile) || !isCount(epoch)) return null;
  return { type: 'result', key, tile, epoch, pixels };
}

function parseTile(header: Header, pixels: Uint8Array): Message | null {
  const { key, id, epoch, by, computed, refusedStale } = header;
  if (typeof key !== 'string' || typeof by !== 'string') return null;
  if (!isCount(id) || !isCount(epoch) || !isCount(computed) || !isCount(refusedStale)) return null;
  return { type: 'tile', key, id, epoch, by, computed, refusedStale, pixels };
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

function isCounts(value: unknown): value is number[] {
  return Array.isArray(value) && value.every(isCount);
}
