/** On the channel of the whole cluster: who is there, to everybody or in answer to one. */
export interface HereMessage {
  readonly type: 'here';
  readonly seat: string;
  /** Holds the lock of its seat. */
  readonly isHeld: boolean;
  /** Set in an answer, which asks for none. */
  readonly to: string | undefined;
}

/** On the channel of one link, beside the payloads, which travel as they are. */
export type LinkMessage =
  | OpenMessage
  /** How much has arrived in all. */
  | { readonly type: 'ack'; readonly bytes: number }
  /** The sender closes; the last message. */
  | { readonly type: 'close' }
  /** From this end to itself: all that the other had sent has been heard. */
  | { readonly type: 'drained'; readonly attempt: string };

export interface OpenMessage {
  readonly type: 'open';
  /** Names one try of the sender to have this link. */
  readonly attempt: string;
  readonly id: string;
  readonly isHeld: boolean;
  /** The sender has heard the receiver: no answer is needed. */
  readonly isUp: boolean;
}

/** What other code of the origin may have put on the channel is no message. */
export function parseHere(data: unknown): HereMessage | null {
  const { type, seat, isHeld, to } = fieldsOf(data);
  if (type !== 'here' || !isName(seat) || typeof isHeld !== 'boolean') return null;
  return to === undefined || isName(to) ? { type, seat, isHeld, to } : null;
}

export function parseLinkMessage(data: unknown): LinkMessage | null {
  const { type, attempt, id, isHeld, isUp, bytes } = fieldsOf(data);
  if (type === 'close') return { type };
  if (type === 'ack') return Number.isSafeInteger(bytes) ? { type, bytes: Number(bytes) } : null;
  if (!isName(attempt)) return null;
  if (type === 'drained') return { type, attempt };
  if (type !== 'open' || !isName(id)) return null;
  return { type, attempt, id, isHeld: isHeld === true, isUp: isUp === true };
}

function fieldsOf(data: unknown): Readonly<Record<string, unknown>> {
  return typeof data === 'object' && data !== null ? (data as Record<string, unknown>) : {};
}

/** Ids and instances have 128 bytes at most; a seat is an instance and a number. */
function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= NAME_LENGTH_MAX;
}

const NAME_LENGTH_MAX = 160;
