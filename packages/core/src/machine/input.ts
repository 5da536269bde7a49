/** Why a link went down. `closed`: the other end closed it cleanly. */
export type LinkDownReason = 'closed' | 'failed' | 'replaced';

/**
 * What a transport knows about the node behind a link, beside the link itself. `gone`: proof of
 * death (its liveness lock was released). `closed-cleanly`: its end was closed by its own act.
 * `unreachable`: the network says so; a suspicion at most. `away` and `present`: what a witness
 * (the signaling server) sees of it; never proof.
 */
export type Hint = 'gone' | 'closed-cleanly' | 'unreachable' | 'away' | 'present';

/**
 * What came of a request for the lock of an election under one. `counted`: the epoch that follows all
 * before. `lost`: it was taken away. `failed`: it cannot be had, or its holders not be counted.
 */
export type LockAnswer =
  | { readonly type: 'granted'; readonly ticket: number }
  | { readonly type: 'lost'; readonly ticket: number }
  | { readonly type: 'counted'; readonly ticket: number; readonly epoch: number }
  | { readonly type: 'failed'; readonly ticket: number; readonly message: string };

/** Page lifecycle. */
export type Lifecycle =
  | 'freeze'
  | 'resume'
  | 'hidden'
  | 'visible'
  | 'pagehide'
  | 'pageshow'
  | 'online';
