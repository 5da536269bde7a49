import type { FailureCode, TermEndReason } from '../machine/effect.ts';

/**
 * What went wrong, for code to switch on.
 *
 * - `left`: the node has left, so what was asked of it can no longer happen.
 * - `leadership-lost`: the term is over, or could not be confirmed.
 * - `not-leading`: only the leader can do this; nothing changed.
 * - `transfer-failed`: the target did not take over; this node still leads.
 * - `reentrant`: a tiebreaker or a strategy called back into the node; nothing changed.
 * - `unsupported`: the platform lacks what a transport needs; the node was not made.
 * - `storage-corrupt`: what a store holds is no record of this node; nothing was overwritten.
 * - `storage-conflict`: another node has written the same record; nothing was overwritten.
 * - `bad-token`: what a fence was shown names no term, or none that it believes; nothing changed.
 * - `busy`: too many wait for the same resource; nothing changed.
 * - `fence-failed`: what should be a fence did not answer as one.
 * - `voters-refused`: a rule forbids the change of the voters; see `VotersRefusedError`.
 * - `duplicate-id`, `election-mismatch`: why a node's `state` became `failed`.
 * - the reasons of {@link TermEndReason}: `code` of `term.signal.reason`.
 */
export type DoyenErrorCode =
  | 'leadership-lost'
  | 'not-leading'
  | 'transfer-failed'
  | 'reentrant'
  | 'unsupported'
  | 'storage-corrupt'
  | 'voters-refused'
  | 'storage-conflict'
  | 'bad-token'
  | 'busy'
  | 'fence-failed'
  | FailureCode
  | TermEndReason;

/**
 * The one error class of Doyen. Switch on `code`; `message` says what was expected and what came,
 * and `cause` what led to it. Wrong arguments throw `TypeError` or `RangeError` instead, and an
 * aborted `signal` rethrows its own reason.
 */
export class DoyenError extends Error {
  static {
    DoyenError.prototype.name = 'DoyenError';
  }

  readonly code: DoyenErrorCode;

  constructor(code: DoyenErrorCode, message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}
