import type * as decoding from 'lib0/decoding';
import * as encoding from 'lib0/encoding';
import { byte, CodecError, name, readOptional, readWhole, writeOptional } from '../reading.ts';
import {
  readConfig,
  readEpoch,
  readGroup,
  readStander,
  writeConfig,
  writeStander,
} from './voter-codec.ts';
import type { VoterRecord } from './voter-record.ts';

/** Whose record it is: the node `id` of a cluster. */
export interface RecordOwner {
  readonly cluster: string;
  readonly id: string;
}

/**
 * Thrown for stored bytes that are no record of this voter. Nothing has changed. `corrupt`: not as
 * they were written; `version`: of another version of Doyen; `foreign`: of another cluster or id.
 */
export class RecordError extends Error {
  readonly code: 'corrupt' | 'foreign' | 'version';

  constructor(code: RecordError['code'], expected: string, got: string) {
    super(`Expected ${expected}, got ${got}.`);
    this.name = 'RecordError';
    this.code = code;
  }
}

/** A record as it is stored: version, owner, fields in the order of docs/PROTOCOL.md, checksum. */
export function encodeRecord(record: VoterRecord, owner: RecordOwner): Uint8Array {
  const out = encoding.createEncoder();
  encoding.writeUint8(out, VERSION);
  encoding.writeVarString(out, owner.cluster);
  encoding.writeVarString(out, owner.id);
  encoding.writeVarString(out, record.group);
  encoding.writeVarString(out, record.storageId);
  encoding.writeVarUint(out, record.epoch);
  writeOptional(out, record.votedFor, writeStander);
  writeOptional(out, record.config, writeConfig);
  encoding.writeUint32(out, checksumOf(encoding.toUint8Array(out)));
  return encoding.toUint8Array(out);
}

/** Throws `RecordError` for anything but exactly what `encodeRecord` has made for this owner. */
export function decodeRecord(bytes: Uint8Array, owner: RecordOwner): VoterRecord {
  const body = readChecked(bytes);
  if (body[0] !== VERSION) throw new RecordError('version', `version ${VERSION}`, `${body[0]}`);
  const { cluster, id, record } = readFields(body);
  if (cluster === owner.cluster && id === owner.id) return record;
  throw new RecordError('foreign', told(owner), told({ cluster, id }));
}

/** Of the layout between version and checksum; these two stay where they are in every version. */
const VERSION = 1;

const CHECKSUM_BYTES = 4;

/** What the checksum is of. It comes first: damage is told from another version or owner. */
function readChecked(bytes: Uint8Array): Uint8Array {
  const length = bytes.length - CHECKSUM_BYTES;
  if (length < 1) throw new RecordError('corrupt', 'a record', `${bytes.length} bytes`);
  const body = bytes.subarray(0, length);
  const expected = checksumOf(body);
  const stored = new DataView(bytes.buffer, bytes.byteOffset + length).getUint32(0, true);
  if (stored === expected) return body;
  throw new RecordError('corrupt', `checksum ${hex(expected)}`, hex(stored));
}

function readFields(body: Uint8Array): RecordOwner & { record: VoterRecord } {
  try {
    return readWhole(body, (input) => {
      byte(input);
      return { cluster: name(input), id: name(input), record: readRecord(input) };
    });
  } catch (error) {
    if (!(error instanceof CodecError)) throw error;
    throw new RecordError(
      'corrupt',
      'the fields of a record',
      `bytes that hold none: ${error.message}`,
    );
  }
}

function readRecord(input: decoding.Decoder): VoterRecord {
  return {
    group: readGroup(input),
    storageId: name(input),
    epoch: readEpoch(input),
    votedFor: readOptional(input, readStander),
    config: readOptional(input, readConfig),
  };
}

/**
 * CRC-32 (IEEE 802.3), bit by bit: a table would not pay for so few bytes. It is against torn
 * writes and rotten sectors, of which it finds every change of up to three bits and every run of up
 * to 32, and misses one of 2^32 others. Whoever could forge a record has the storage, and could as
 * well put back an older one: no checksum and no signature helps against that.
 */
function checksumOf(bytes: Uint8Array): number {
  let crc = ~0;
  for (const value of bytes) {
    crc ^= value;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (0xedb88320 & -(crc & 1));
  }
  return ~crc >>> 0;
}

function hex(checksum: number): string {
  return checksum.toString(16).padStart(8, '0');
}

function told({ cluster, id }: RecordOwner): string {
  return `the record of ${JSON.stringify(id)} in cluster ${JSON.stringify(cluster)}`;
}
