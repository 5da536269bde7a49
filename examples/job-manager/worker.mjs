// A worker: a node of the cluster, and its job manager for as long as it is elected.
import { join, quorum } from '@doyen/core';
import { FencedError } from '@doyen/core/fence';
import { fileStore } from '@doyen/core/store';
import { BEGINNING, CLUSTER, nextStep, STEPS } from './job.mjs';

/**
 * Joins the cluster, and does the job whenever this node is elected.
 *
 * @param {object} options
 * @param {string} options.id
 * @param {string[]} options.voters ids of all that vote, the same for each of them
 * @param {string} options.voteFile where this voter keeps its word across restarts
 * @param {import('@doyen/core').Transport} options.transport
 * @param {import('./checkpoints.mjs').Checkpoints} options.checkpoints
 * @param {(report: object) => void} options.tell hears of all that happens
 */
export async function startWorker({ id, voters, voteFile, transport, checkpoints, tell }) {
  const node = await join({
    cluster: CLUSTER,
    id,
    transport,
    election: quorum({ voters }),
    store: fileStore(voteFile),
  });
  node.leadership.addEventListener('change', ({ leader, epoch }) => {
    tell({ type: 'leader', leader: leader?.id ?? null, epoch });
  });
  // Each term begins with the fence: once it is open, nothing of an older term gets through.
  const finished = node.leadership.lead((term) => manage(term, { id, checkpoints, tell }), {
    fences: [checkpoints.fence],
  });
  return { node, finished };
}

/** The work of one term. */
async function manage(term, { id, checkpoints, tell }) {
  const { epoch, signal, token } = term;
  const lost = () => tell({ type: 'lost', epoch, reason: signal.reason.code });
  signal.addEventListener('abort', lost, { once: true });
  // Read behind the open fence: whatever an older term still has on its way, it changes nothing.
  let checkpoint = (await checkpoints.read()) ?? BEGINNING;
  tell({ type: 'manages', epoch, step: checkpoint.step });
  while (checkpoint.step < STEPS) {
    const done = await nextStep(checkpoint, signal);
    checkpoint = { ...done, by: id, epoch };
    // Not given the signal: what is on its way cannot be taken back, and only the answer tells
    // whether it has happened.
    await checkpoints.write(token, checkpoint).catch((error) => {
      if (error instanceof FencedError) tell({ type: 'refused', epoch, ...refusalOf(error, done) });
      throw error;
    });
    tell({ type: 'step', epoch, step: checkpoint.step });
  }
  tell({ type: 'finished', epoch });
}

function refusalOf({ verdict, high }, { step }) {
  return { step, verdict, high };
}
