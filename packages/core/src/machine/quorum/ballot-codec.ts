import type * as decoding from 'lib0/decoding';
import * as encoding from 'lib0/encoding';
import { BALLOT_BYTES_MAX } from '../codec.ts';
import {
  bits,
  byte,
  CodecError,
  flag,
  flags,
  has,
  json,
  member,
  name,
  readOptional,
  readWhole,
  uint,
  writeOptional,
} from '../reading.ts';
import type { BallotMessage, Denial, Permit } from './ballot-message.ts';
import { VOTERS_MAX } from './config.ts';
import {
  CONFIG_VERSION_MAX,
  readConfig,
  readEpoch,
  readGroup,
  readStander,
  readVoter,
  sorted,
  writeConfig,
  writeStander,
  writeVoter,
} from './voter-codec.ts';

/** One message of voters as bytes: version, type, fields in the order of docs/PROTOCOL.md. */
export function encodeBallot(message: BallotMessage): Uint8Array {
  const out = encoding.createEncoder();
  encoding.writeUint8(out, VERSION);
  encoding.writeUint8(out, TYPES.indexOf(message.type));
  write(out, message);
  return encoding.toUint8Array(out);
}

/** Throws `CodecError` for anything but exactly one message; reads nothing outside of `bytes`. */
export function decodeBallot(bytes: Uint8Array): BallotMessage {
  return readWhole(bytes, (input) => {
    if (bytes.length > BALLOT_BYTES_MAX) throw new CodecError(`above ${BALLOT_BYTES_MAX} bytes`);
    if (byte(input) !== VERSION) throw new CodecError('unknown version of ballots');
    return read(input, member(TYPES, byte(input)));
  });
}

/** Its own, not that of all messages: who cannot vote with a newer voter can still follow it. */
const VERSION = 1;

/** A type's number is its place here: only ever append. */
const TYPES = [
  'ask',
  'vote',
  'beat',
  'ack',
  'permit',
  'introduce',
  'config',
] as const satisfies readonly BallotMessage['type'][];

/** Numbered like the types. */
const DENIALS = [
  'epoch',
  'voted',
  'sticky',
  'silent',
  'evidence',
  'config',
  'not-a-voter',
] as const satisfies readonly Denial[];

/** Room for a position or a count of each kind of data; the state itself stays with the application. */
export const EVIDENCE_BYTES_MAX = 512;

function write(out: encoding.Encoder, message: BallotMessage): void {
  switch (message.type) {
    case 'ask':
      encoding.writeVarString(out, message.group);
      encoding.writeUint8(out, Number(message.isTrial));
      encoding.writeVarUint(out, message.epoch);
      writeStander(out, message.candidate);
      writeConfig(out, message.config);
      encoding.writeVarString(out, message.evidence);
      return writeOptional(out, message.permit, writePermit);
    case 'vote':
      encoding.writeVarString(out, message.group);
      encoding.writeUint8(out, Number(message.isTrial));
      encoding.writeVarUint(out, message.epoch);
      encoding.writeVarString(out, message.candidate);
      writeVoter(out, message.voter);
      writeOptional(out, message.denial, writeDenial);
      encoding.writeVarUint(out, message.reached);
      encoding.writeVarString(out, message.evidence);
      return writeOptional(out, message.config, writeConfig);
    case 'beat':
      encoding.writeVarString(out, message.group);
      encoding.writeVarUint(out, message.epoch);
      writeStander(out, message.leader);
      encoding.writeVarUint(out, message.round);
      encoding.writeVarUint(out, message.configEpoch);
      encoding.writeVarUint(out, message.configVersion);
      return writeOptional(out, message.config, writeConfig);
    case 'ack':
      encoding.writeVarString(out, message.group);
      encoding.writeVarUint(out, message.epoch);
      encoding.writeVarUint(out, message.round);
      writeVoter(out, message.voter);
      encoding.writeVarUint(out, message.configEpoch);
      encoding.writeVarUint(out, message.configVersion);
      return encoding.writeVarString(out, message.evidence);
    case 'permit':
      encoding.writeVarString(out, message.group);
      return encoding.writeVarUint(out, message.epoch);
    case 'introduce':
      writeVoter(out, message.voter);
      encoding.writeVarUint(out, message.founders.length);
      for (const founder of message.founders) encoding.writeVarString(out, founder);
      return encoding.writeUint8(out, Number(message.wantsAnswer));
    case 'config':
      encoding.writeVarString(out, message.group);
      writeVoter(out, message.voter);
      writeConfig(out, message.config);
      return encoding.writeUint8(out, bits(message.isComplete, message.wantsAnswer));
  }
}

function read(input: decoding.Decoder, type: BallotMessage['type']): BallotMessage {
  switch (type) {
    case 'ask':
      return {
        type,
        group: readGroup(input),
        isTrial: flag(input),
        epoch: readEpoch(input),
        candidate: readStander(input),
        config: readConfig(input),
        evidence: json(input, EVIDENCE_BYTES_MAX),
        permit: readOptional(input, readPermit),
      };
    case 'vote':
      return {
        type,
        group: readGroup(input),
        isTrial: flag(input),
        epoch: readEpoch(input),
        candidate: name(input),
        voter: readVoter(input),
        denial: readOptional(input, (from) => member(DENIALS, byte(from))),
        reached: readEpoch(input),
        evidence: json(input, EVIDENCE_BYTES_MAX),
        config: readOptional(input, readConfig),
      };
    case 'beat':
      return {
        type,
        group: readGroup(input),
        epoch: readEpoch(input),
        leader: readStander(input),
        round: uint(input),
        configEpoch: readEpoch(input),
        configVersion: uint(input, CONFIG_VERSION_MAX),
        config: readOptional(input, readConfig),
      };
    case 'ack':
      return {
        type,
        group: readGroup(input),
        epoch: readEpoch(input),
        round: uint(input),
        voter: readVoter(input),
        configEpoch: readEpoch(input),
        configVersion: uint(input, CONFIG_VERSION_MAX),
        evidence: json(input, EVIDENCE_BYTES_MAX),
      };
    case 'permit':
      return { type, group: readGroup(input), epoch: readEpoch(input) };
    case 'introduce':
      return {
        type,
        voter: readVoter(input),
        founders: readFounders(input),
        wantsAnswer: flag(input),
      };
    case 'config':
      return readConfigMessage(input);
  }
}

function readConfigMessage(input: decoding.Decoder): BallotMessage {
  const group = readGroup(input);
  const voter = readVoter(input);
  const config = readConfig(input);
  const set = flags(input, 2);
  return {
    type: 'config',
    group,
    voter,
    config,
    isComplete: has(set, 0),
    wantsAnswer: has(set, 1),
  };
}

function writePermit(out: encoding.Encoder, permit: Permit): void {
  encoding.writeVarUint(out, permit.epoch);
  encoding.writeVarString(out, permit.instance);
}

function readPermit(input: decoding.Decoder): Permit {
  return { epoch: readEpoch(input), instance: name(input) };
}

function writeDenial(out: encoding.Encoder, denial: Denial): void {
  encoding.writeUint8(out, DENIALS.indexOf(denial));
}

function readFounders(input: decoding.Decoder): readonly string[] {
  const count = uint(input, VOTERS_MAX);
  return sorted(
    Array.from({ length: count }, () => name(input)),
    (id) => id,
  );
}
