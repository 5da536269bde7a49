/** What a report is in plain words; undefined for what is of no interest. */
export function lineOf(report) {
  return TEXTS[report.type]?.(report);
}

const TEXTS = {
  // Servers.
  listening: () => 'listens',
  denied: ({ status, high }) => `answers ${status} Precondition Failed, Doyen-Fence-High: ${high}`,
  // Workers.
  joined: () => 'has joined',
  leader: ({ by, leader, epoch }) => {
    if (leader === by) return undefined;
    return leader ? `follows ${leader}, epoch ${epoch}` : 'knows no leader';
  },
  manages: ({ epoch, step }) => `is the job manager, epoch ${epoch}: goes on after step ${step}`,
  step: ({ epoch, step }) => `step ${step}, epoch ${epoch}`,
  refused: ({ epoch, step, verdict, high }) =>
    `is refused step ${step}, epoch ${epoch}: ${verdict}, the fence is at epoch ${high}`,
  lost: ({ epoch, reason }) => `is no job manager any more, epoch ${epoch}: ${reason}`,
  finished: ({ epoch }) => `has finished the job, epoch ${epoch}`,
  // The network, and what is done to it.
  held: ({ from }) => `delays a write of ${from} to the store`,
  cut: ({ one, others }) => `is cut between ${one} and ${others.join(', ')}`,
  freed: ({ from }) => `delivers the late write of ${from}`,
  healed: ({ one, others }) => `is whole again between ${one} and ${others.join(', ')}`,
};
