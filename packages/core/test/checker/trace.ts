import type { Voter, VoterConfig } from '../../src/machine/quorum/config.ts';
import type { Packet } from './packet.ts';
import type { Finding, Step } from './search.ts';
import type { Input, VoterState } from './voter-state.ts';
import { ACTS, LOSES, type World } from './world.ts';

/** A counterexample to read: what has happened, and what the voter is in afterwards. */
export function traceOf(world: World, { breach, steps }: Finding): string {
  const lines = steps.map((step, index) => {
    const number = String(index + 1).padStart(3);
    return `${number}. ${causeOf(world, step).padEnd(58)} ${after(world, step)}`;
  });
  return [...lines, `     ${breach} (${steps.length} steps)`].join('\n');
}

function causeOf(world: World, { actor, input, state }: Step): string {
  const { id } = world.voter(state, actor).ballot.self;
  if (input === ACTS) return `${id} acts at the fence`;
  if (input === LOSES) return `${id} loses its storage, and starts with a new one`;
  return `${id} ${cause(world.catalogue.inputs.value(input))}`;
}

function cause(input: Input): string {
  switch (input.type) {
    case 'hear':
      return `hears ${packetText(input.packet)}${input.isRecent ? '' : ', with older evidence'}`;
    case 'stand':
      return 'stands';
    case 'stand-down':
      return 'stands down';
    case 'reconfigure':
      return `changes the voters to ${namesOf(input.voters)}`;
    case 'stored':
      return 'has written its record';
    case 'crash':
      return input.isWritten ? 'restarts' : 'restarts, the write being lost';
  }
}

function packetText(packet: Packet): string {
  switch (packet.type) {
    case 'ask':
      return `${nameOf(packet.candidate)} ask in epoch ${packet.epoch} with ${configText(packet.config)}`;
    case 'beat': {
      const { leader, epoch, config } = packet;
      return `the beat of ${nameOf(leader)} in epoch ${epoch}${config ? ` with ${configText(config)}` : ''}`;
    }
    case 'reply': {
      const { message } = packet;
      if (message.type === 'vote')
        return `the vote of ${nameOf(message.voter)} in epoch ${message.epoch}`;
      const config = `${message.configEpoch}.${message.configVersion}`;
      return `that ${nameOf(message.voter)} has ${config} in epoch ${message.epoch}`;
    }
    case 'introduce':
      return `that ${nameOf(packet.voter)} has no config`;
    case 'config':
      return `of ${configText(packet.config)}`;
    case 'epoch':
      return `of epoch ${packet.epoch}`;
  }
}

function after(world: World, { actor, state }: Step): string {
  const { ballot, disk }: VoterState = world.voter(state, actor);
  const { record, role, isStoring, grants, holders } = ballot;
  const parts = [`epoch ${record.epoch}`, record.config ? configText(record.config) : 'no config'];
  if (record.votedFor) parts.push(`voted for ${nameOf(record.votedFor)}`);
  if (role !== 'follower') parts.push(role);
  if (grants.length > 0) parts.push(`granted by ${namesOf(grants)}`);
  if (role === 'leader') parts.push(`held by ${namesOf(holders)}`);
  if (isStoring) parts.push(`writing, over epoch ${disk?.epoch}`);
  return `${nameOf(ballot.self)}: ${parts.join(', ')}`;
}

function configText({ epoch, version, voters }: VoterConfig): string {
  return `${epoch}.${version}${namesOf(voters)}`;
}

function namesOf(voters: readonly Voter[]): string {
  return `{${voters.map(nameOf).join(' ')}}`;
}

/** The first storage goes without saying. */
function nameOf({ id, storageId }: Voter): string {
  return storageId === `${id}1` ? id : storageId;
}
