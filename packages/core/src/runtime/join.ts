import { createNode, type DoyenNode } from './node.ts';
import type { JoinOptions } from './options.ts';
import { systemHost } from './system-host.ts';

/**
 * Joins a cluster. Resolves as soon as the node exists here, also while nobody can be reached: it
 * keeps trying, and `node.ready()`, `node.state` and its events tell how far it is.
 *
 * @throws TypeError or RangeError that names a wrong option; the reason of `signal` when that has
 * aborted before (aborted later, the node leaves); DoyenError `unsupported` when the platform lacks
 * what the transport needs.
 */
export async function join(options: JoinOptions): Promise<DoyenNode> {
  return createNode(options, systemHost());
}
