import type * as decoding from 'lib0/decoding';
import * as encoding from 'lib0/encoding';
import type { Claim, Probe } from './claim.ts';
import { BACKOFF_MAX_MS } from './fencing.ts';
import type { HelloMessage, Message, PingMessage, RefuseMessage, Summary } from './message.ts';
import {
  bits,
  byte,
  CodecError,
  data,
  flag,
  flags,
  float,
  has,
  json,
  member,
  NAME_BYTES_MAX,
  name,
  readOptional,
  readWhole,
  text,
  uint,
  uint32,
  writeOptional,
} from './reading.ts';
import { type MemberRecord, RECORD_STATUSES } from './record.ts';
import type { Candidate } from './strategy.ts';

export { CodecError };

/** One message as bytes: version, type, fields in the order of docs/PROTOCOL.md. */
export function encode(message: Message): Uint8Array {
  const out = encoding.createEncoder();
  encoding.writeUint8(out, VERSION);
  encoding.writeUint8(out, TYPES.indexOf(message.type));
  write(out, message);
  return encoding.toUint8Array(out);
}

/** Throws `CodecError` for anything but exactly one message; reads nothing outside of `bytes`. */
export function decode(bytes: Uint8Array): Message {
  return readWhole(bytes, (input) => {
    if (byte(input) !== VERSION) throw new CodecError('unknown version');
    const type = TYPES[byte(input)];
    if (!type) throw new CodecError('unknown type');
    return read(input, type);
  });
}

/** Grows with every change that an older node cannot read. */
const VERSION = 1;

/** A type's number is its place here: only ever append. */
const TYPES = [
  'hello',
  'ping',
  'pong',
  'records',
  'claim',
  'suspect',
  'quiet',
  'leave',
  'leave-ack',
  'transfer',
  'refuse',
  'relay',
  'channel',
  'fenced',
  'ballot',
] as const satisfies readonly Message['type'][];

const REFUSALS: readonly RefuseMessage['code'][] = ['duplicate-id', 'election-mismatch'];

/** Most records in one message; a larger roster goes in several. */
export const RECORDS_MAX = 256;
export const META_BYTES_MAX = 1024;
/** The largest application message, and therefore the largest relayed one, less its own header. */
export const DATA_BYTES_MAX = 16 * 1024 * 1024;
/** A request for a vote with the largest configuration and evidence takes about half of it. */
export const BALLOT_BYTES_MAX = 8 * 1024;
const PAYLOAD_BYTES_MAX = DATA_BYTES_MAX + 1024;
/** An incarnation grows by one per stall or change: more than this is no honest count. */
export const INCARNATION_MAX = 2 ** 32;
/** A birth grows by one per member that ever met the cluster. */
export const BIRTH_MAX = 2 ** 32;
/** The last millisecond of ECMAScript time. */
export const STARTED_AT_MAX = 8.64e15;

function write(out: encoding.Encoder, message: Message): void {
  switch (message.type) {
    case 'hello':
      return writeHello(out, message);
    case 'ping':
    case 'pong':
      encoding.writeVarUint(out, message.sequence);
      return writeSummary(out, message.summary);
    case 'records':
      return writeRecords(out, message.records);
    case 'claim':
      writeClaim(out, message.claim);
      writeOptional(out, message.leader, writeRecord);
      return writeOptional(out, message.probe, writeProbe);
    case 'suspect':
      encoding.writeVarString(out, message.instance);
      return encoding.writeVarUint(out, message.incarnation);
    case 'quiet':
      encoding.writeVarString(out, message.instance);
      return encoding.writeUint8(out, Number(message.closed));
    case 'leave':
      return writeRecord(out, message.record);
    case 'leave-ack':
      return;
    case 'transfer':
      encoding.writeVarUint(out, message.epoch);
      return writeCandidate(out, message.defends);
    case 'fenced':
      encoding.writeVarUint(out, message.epoch);
      return encoding.writeVarUint(out, message.backoffMs);
    case 'ballot':
      return encoding.writeVarUint8Array(out, message.payload);
    case 'refuse':
      return encoding.writeUint8(out, REFUSALS.indexOf(message.code));
    case 'relay':
      encoding.writeVarString(out, message.origin);
      encoding.writeVarString(out, message.target);
      encoding.writeVarUint(out, message.sequence);
      encoding.writeUint8(out, message.hops);
      return encoding.writeVarUint8Array(out, message.payload);
    case 'channel':
      encoding.writeVarString(out, message.channel);
      encoding.writeVarUint(out, message.sequence);
      encoding.writeVarUint(out, message.epoch);
      return encoding.writeVarUint8Array(out, message.data);
  }
}

function read(input: decoding.Decoder, type: Message['type']): Message {
  switch (type) {
    case 'hello':
      return readHello(input);
    case 'ping':
    case 'pong':
      return readPing(input, type);
    case 'records':
      return { type, records: readRecords(input) };
    case 'claim':
      return {
        type,
        claim: readClaim(input),
        leader: readOptional(input, readRecord),
        probe: readOptional(input, readProbe),
      };
    case 'suspect':
      return { type, instance: name(input), incarnation: uint(input, INCARNATION_MAX) };
    case 'quiet':
      return { type, instance: name(input), closed: flag(input) };
    case 'leave':
      return { type, record: readRecord(input) };
    case 'leave-ack':
      return { type };
    case 'transfer':
      return { type, epoch: uint(input), defends: readCandidate(input) };
    case 'fenced':
      return { type, epoch: uint(input), backoffMs: uint(input, BACKOFF_MAX_MS) };
    case 'ballot':
      return { type, payload: data(input, BALLOT_BYTES_MAX) };
    case 'refuse':
      return { type, code: member(REFUSALS, byte(input)) };
    case 'relay':
      return {
        type,
        origin: name(input),
        target: name(input),
        sequence: uint(input),
        hops: byte(input),
        payload: data(input, PAYLOAD_BYTES_MAX),
      };
    case 'channel':
      return {
        type,
        channel: name(input),
        sequence: uint(input),
        epoch: uint(input),
        data: data(input, DATA_BYTES_MAX),
      };
  }
}

function writeHello(out: encoding.Encoder, message: HelloMessage): void {
  encoding.writeVarString(out, message.fingerprint);
  encoding.writeUint8(out, Number(message.known));
  writeRecord(out, message.self);
  writeRecords(out, message.records);
  writeOptional(out, message.claim, writeClaim);
}

function readHello(input: decoding.Decoder): HelloMessage {
  return {
    type: 'hello',
    fingerprint: name(input),
    known: flag(input),
    self: readRecord(input),
    records: readRecords(input),
    claim: readOptional(input, readClaim),
  };
}

function readPing(input: decoding.Decoder, type: 'ping' | 'pong'): PingMessage {
  return { type, sequence: uint(input), summary: readSummary(input) };
}

function writeSummary(out: encoding.Encoder, summary: Summary): void {
  encoding.writeVarUint(out, summary.epoch);
  encoding.writeVarString(out, summary.leader);
  encoding.writeUint8(out, bits(summary.vacated, summary.led, summary.lapsed));
  encoding.writeUint32(out, summary.digest);
}

function readSummary(input: decoding.Decoder): Summary {
  const epoch = uint(input);
  const leader = text(input, NAME_BYTES_MAX);
  const set = flags(input, 3);
  const digest = uint32(input);
  return { epoch, leader, vacated: has(set, 0), led: has(set, 1), lapsed: has(set, 2), digest };
}

function writeRecords(out: encoding.Encoder, records: readonly MemberRecord[]): void {
  encoding.writeVarUint(out, records.length);
  for (const record of records) writeRecord(out, record);
}

function readRecords(input: decoding.Decoder): MemberRecord[] {
  const count = uint(input, RECORDS_MAX);
  return Array.from({ length: count }, () => readRecord(input));
}

function writeRecord(out: encoding.Encoder, record: MemberRecord): void {
  encoding.writeVarString(out, record.id);
  encoding.writeVarString(out, record.instance);
  encoding.writeVarUint(out, record.birth);
  encoding.writeVarUint(out, record.incarnation);
  encoding.writeVarUint(out, record.startedAt);
  encoding.writeUint8(out, RECORD_STATUSES.indexOf(record.status));
  encoding.writeUint8(out, bits(record.candidate, record.hidden));
  encoding.writeVarString(out, record.meta);
}

function readRecord(input: decoding.Decoder): MemberRecord {
  const id = name(input);
  const instance = name(input);
  const birth = uint(input, BIRTH_MAX);
  const incarnation = uint(input, INCARNATION_MAX);
  const startedAt = uint(input, STARTED_AT_MAX);
  const status = member(RECORD_STATUSES, byte(input));
  const set = flags(input, 2);
  const [candidate, hidden] = [has(set, 0), has(set, 1)];
  const meta = json(input, META_BYTES_MAX);
  return { id, instance, birth, incarnation, startedAt, status, candidate, hidden, meta };
}

function writeClaim(out: encoding.Encoder, claim: Claim): void {
  encoding.writeVarUint(out, claim.epoch);
  writeCandidate(out, claim.leader);
  encoding.writeVarString(out, claim.instance);
  encoding.writeUint8(out, bits(claim.vacated, claim.led));
  writeOptional(out, claim.defends, writeCandidate);
}

function readClaim(input: decoding.Decoder): Claim {
  const epoch = uint(input);
  const leader = readCandidate(input);
  const instance = name(input);
  const set = flags(input, 2);
  const defends = readOptional(input, readCandidate);
  return { epoch, leader, instance, vacated: has(set, 0), led: has(set, 1), defends };
}

function writeCandidate(out: encoding.Encoder, candidate: Candidate): void {
  encoding.writeVarString(out, candidate.id);
  encoding.writeVarUint(out, candidate.startedAt);
}

function readCandidate(input: decoding.Decoder): Candidate {
  return { id: name(input), startedAt: uint(input, STARTED_AT_MAX) };
}

function writeProbe(out: encoding.Encoder, probe: Probe): void {
  writeOptional(out, probe.tiebreak, (to, { nodeCount, createdAt }) => {
    encoding.writeFloat64(to, nodeCount);
    encoding.writeFloat64(to, createdAt);
  });
}

function readProbe(input: decoding.Decoder): Probe {
  const tiebreak = readOptional(input, (from) => ({
    nodeCount: float(from),
    createdAt: float(from),
  }));
  return { tiebreak };
}
