import type { BallotRules } from '../../src/machine/quorum/ballot.ts';
import { isSameVoter, type Voter, type VoterConfig } from '../../src/machine/quorum/config.ts';
import type { Packet, Reply } from './packet.ts';
import type { VoterState } from './voter-state.ts';

/**
 * Whether a packet can still change anything at a voter. Epochs and configs on a disk only grow, so
 * what matters to nobody never will again, and need not be remembered as being under way.
 */
export function isRelevant(packet: Packet, state: VoterState, rules: BallotRules): boolean {
  const { ballot, disk } = state;
  const records = disk ? [disk, ballot.record] : [ballot.record];
  const isNews = (config: VoterConfig) =>
    records.some((record) => !record.config || rules.compareConfigs(config, record.config) > 0);
  switch (packet.type) {
    case 'introduce':
      return true;
    case 'epoch':
      return records.some(({ epoch }) => epoch < packet.epoch);
    case 'config':
      return isNews(packet.config);
    case 'beat':
      // All that is no news to a voter does the same beat without a config.
      if (packet.config) return isNews(packet.config);
      return !rules.countsOwnEpoch || records.some(({ epoch }) => epoch <= packet.epoch);
    case 'reply':
      return isAwaited(packet, state, rules);
    case 'ask': {
      const { config, candidate, epoch } = packet;
      const isMember = rules.hasVoter(config, candidate) && rules.hasVoter(config, ballot.self);
      const isOpen = ({ votedFor }: { votedFor: Voter | null }) =>
        votedFor === null || !rules.votesOnce || isSameVoter(votedFor, candidate);
      const isTimely = records.some(
        (record) => record.epoch < epoch || (record.epoch === epoch && isOpen(record)),
      );
      return isMember && isTimely;
    }
  }
}

/** A vote while its candidacy lasts, an acknowledgement while its config is in force; each once. */
function isAwaited({ to, message }: Reply, { ballot }: VoterState, rules: BallotRules): boolean {
  const { self, role, record, grants, holders } = ballot;
  const { config, epoch } = record;
  const isIn = (voters: readonly Voter[]) => voters.some((one) => isSameVoter(one, message.voter));
  if (to !== self.instance || !config) return false;
  if (message.type === 'vote') {
    return role === 'candidate' && message.epoch === epoch && !isIn(grants);
  }
  const isCounted = message.epoch === epoch || !rules.countsOwnEpoch;
  const isCurrent =
    message.configEpoch === config.epoch && message.configVersion === config.version;
  return role === 'leader' && isCounted && isCurrent && !isIn(holders);
}
