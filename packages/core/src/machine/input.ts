/** Why a link went down. `closed`: the other end closed it cleanly. */
export type LinkDownReason = 'closed' | 'failed' | 'replaced';

/**
 * What a transport knows about the node behind a link, beside the link itself. `gone`: proof of
 * death (its liveness lock was released). `closed-cleanly`: its end was closed by its own act.
 * `unreachable`: the network says so; a suspicion at most. `away` and `present`: what a witness
 * (the signaling server) sees of it; never proof.
 */
export type Hint = 'gone' | 'closed-cleanly' | 'unreachable' | 'away' | 'present';

/** Page lifecycle. */
export type Lifecycle =
  | 'freeze'
  | 'resume'
  | 'hidden'
  | 'visible'
  | 'pagehide'
  | 'pageshow'
  | 'online';
