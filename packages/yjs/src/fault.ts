/** Something that does not work, while the provider goes on. */
export interface ProviderFault {
  /**
   * - `malformed`: bytes of a member, or of the server, broke a rule; they were ignored.
   * - `apply-failed`: the document refused an update, or one of its observers threw.
   * - `too-large`: what the room should be told exceeds 16 MiB; members have not got it.
   * - `leader-absent`: the leader has not opened this room, so nobody connects to the server.
   * - `fenced`: the server's gate knows a newer leader than this one; see `high`.
   * - `refused`: the server closed the connection for good; see `closeCode`. Tried again in 30 s.
   */
  readonly code:
    | 'malformed'
    | 'apply-failed'
    | 'too-large'
    | 'leader-absent'
    | 'fenced'
    | 'refused';
  readonly message: string;
  /** Id of the member that it came from. */
  readonly member?: string;
  /** Of `fenced`: the epoch that the gate has admitted. */
  readonly high?: number;
  /** Of `fenced` and `refused`: how the server closed the connection. */
  readonly closeCode?: number;
  readonly cause?: unknown;
}
