import type * as decoding from 'lib0/decoding';
import * as encoding from 'lib0/encoding';
import { EPOCH_MAX } from '../claim.ts';
import { CodecError, NAME_BYTES_MAX, name, text, uint } from '../reading.ts';
import { compareText } from '../record.ts';
import { VOTERS_MAX, type Voter, type VoterConfig } from './config.ts';
import type { Stander } from './voter-record.ts';

// What messages of voters and their stored records have in common.

/** A version grows by one with every change of the voters. */
export const CONFIG_VERSION_MAX = 2 ** 32;

export function writeConfig(out: encoding.Encoder, config: VoterConfig): void {
  encoding.writeVarUint(out, config.epoch);
  encoding.writeVarUint(out, config.version);
  encoding.writeVarUint(out, config.voters.length);
  for (const voter of config.voters) writeVoter(out, voter);
}

export function readConfig(input: decoding.Decoder): VoterConfig {
  const epoch = readEpoch(input);
  const version = uint(input, CONFIG_VERSION_MAX);
  const count = uint(input, VOTERS_MAX);
  if (count === 0) throw new CodecError('no voters');
  const voters = Array.from({ length: count }, () => readVoter(input));
  return { epoch, version, voters: sorted(voters, ({ id }) => id) };
}

export function writeStander(out: encoding.Encoder, stander: Stander): void {
  writeVoter(out, stander);
  encoding.writeVarString(out, stander.instance);
}

export function readStander(input: decoding.Decoder): Stander {
  return { ...readVoter(input), instance: name(input) };
}

export function writeVoter(out: encoding.Encoder, voter: Voter): void {
  encoding.writeVarString(out, voter.id);
  encoding.writeVarString(out, voter.storageId);
}

export function readVoter(input: decoding.Decoder): Voter {
  return { id: name(input), storageId: name(input) };
}

/** Uid of a founding; '' before it. */
export function readGroup(input: decoding.Decoder): string {
  return text(input, NAME_BYTES_MAX);
}

export function readEpoch(input: decoding.Decoder): number {
  return uint(input, EPOCH_MAX);
}

/** Refuses what is not in strict order: a double would count twice (Q8). */
export function sorted<T>(values: readonly T[], idOf: (value: T) => string): readonly T[] {
  const isSorted = values.every((value, index) => {
    const before = values[index - 1];
    return before === undefined || compareText(idOf(before), idOf(value)) < 0;
  });
  if (!isSorted) throw new CodecError('ids out of order');
  return values;
}
