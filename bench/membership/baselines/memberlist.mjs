import { memberlistWindow, retransmitLimit } from './suspicion-window.mjs';
import { SWIM } from './swim.mjs';

/** SWIM with Lifeguard, and the LAN profile of HashiCorp's memberlist. */
export const MEMBERLIST = {
  ...SWIM,
  timeoutMs: 500,
  usesFallback: true,
  rumoursMax: 32,
  retransmits: (size) => retransmitLimit(size),
  window: (size, intervalMs) => memberlistWindow(size, { intervalMs }),
  tellsTheDead: false,
  /** Scores from 0, so that a node is at most eight times as patient. */
  awarenessMax: 7,
  gossip: { intervalMs: 200, fanOut: 3, toTheDeadMs: 30_000 },
  syncMs: 30_000,
};
